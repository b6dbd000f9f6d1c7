/** The HTTP service: what happens to a request, in the order in which it happens (D-2). */
import { Elysia } from "elysia";
import { type Access, keepUp, useKey } from "../accounts/access.ts";
import type { Log } from "../log.ts";
import type { ReadModel } from "../opportunities/read-model.ts";
import { authenticate, requireSubscription } from "./authenticate.ts";
import { type Call, pathStart } from "./call.ts";
import type { Route } from "./operation.ts";
import { invalidParameters, Problem, problemOf, problems } from "./problem.ts";
import { requireAllowance } from "./rate-limit.ts";
import { createRequestIds } from "./request-id.ts";
import { ALLOW, type Answer, respondOptions, respondProblem } from "./respond.ts";
import { eventsRoute } from "./routes/events.ts";
import { type Asset, assetRoute, metaRoute } from "./routes/meta.ts";
import { opportunitiesRoute, opportunityRoute } from "./routes/opportunities.ts";
import { sourcesRoute } from "./routes/sources.ts";
import { presentTurn } from "./turn.ts";

/** Every path begins with it (D-1); a public address may have more before it. */
export const BASE_PATH = "/v1";

export type AppDeps = {
  model: ReadModel;
  access: Access;
  /** The public base address, with its version segment. */
  baseUrl: string;
  /** `/openapi.json`, `/docs` and what that page loads. */
  assets: readonly Asset[];
  now: () => number;
  randomBytes: (count: number) => Uint8Array;
  log: Pick<Log, "request" | "failure" | "recurring">;
};

export type App = { fetch: (request: Request) => Promise<Response> };

export function createApp(deps: AppDeps): App {
  const { access, baseUrl, now, log } = deps;
  const nextRequestId = createRequestIds(deps.randomBytes);

  const router = new Elysia({ strictPath: true, aot: true });
  router.onError(({ request, error }) => refuse(callOf(request), error));
  for (const { operation, answer } of routesOf(deps)) {
    const path = BASE_PATH + operation.path.replace(/\{(\w+)\}/g, ":$1");
    const begin = (request: Request, params: Call["params"]) => {
      const call = callOf(request);
      call.route = operation.path;
      call.params = params;
      return call;
    };
    router.options(path, ({ request, params }) => respondOptions(begin(request, params)));
    router.get(path, async ({ request, params }) => {
      const call = begin(request, params);
      if (operation.needsKey) await admit(call);
      return answer(call);
    });
  }
  router.all("/*", () => {
    throw new Problem("not_found", `There is nothing at this path. The API reference is at ${baseUrl}/docs.`);
  });
  const route = router.compile().fetch;

  /** Key, subscription, rate limit. */
  async function admit(call: Call): Promise<void> {
    await keepUp(access);
    call.key = authenticate(access, call.headers, call.startedAt);
    requireSubscription(call.key);
    call.allowance = await useKey(access, call.key, call.startedAt);
    requireAllowance(call.allowance);
  }

  function refuse(call: Call, error: unknown): Answer {
    const problem = problemOf(error);
    if (problem.code === "service_unavailable") log.recurring(now(), error, call.id);
    else if (problems[problem.code].status >= 500) log.failure(now(), error, call.id);
    return respondProblem(call, problem, baseUrl);
  }

  async function answer(request: Request, call: Call, start: number): Promise<Response> {
    try {
      requireReading(call);
      requireOneHost(call.headers);
      // The router finds paths by a fixed place in the URL, which a short or missing Host would move.
      const routed = start >= ROUTER_PATH_START ? request : new Request(`http://${STANDARD_HOST}${request.url.slice(start)}`, request);
      (routed as Routed).call = call;
      return await route(routed);
    } catch (error) {
      return refuse(call, error); // Also what the router itself cannot take, such as `throw null`.
    }
  }

  return {
    fetch: async (request) => {
      const { url, method, headers } = request;
      const start = pathStart(url);
      const mark = url.indexOf("?", start);
      const path = mark < 0 ? url.slice(start) : url.slice(start, mark);
      const query = mark < 0 ? "" : url.slice(mark + 1);
      const id = nextRequestId();
      const startedAt = now();
      const turn = presentTurn();
      const call: Call = { id, method, path, query, headers, startedAt, turn, route: null, params: {}, key: null, allowance: null };

      const response = await answer(request, call, start);

      log.request({
        time: startedAt,
        request_id: id,
        method,
        route: call.route,
        status: response.status,
        duration_ms: now() - startedAt,
        account: call.key?.account ?? null,
        key_id: call.key?.id ?? null,
      });
      return response;
    },
  };
}

/** The router hands on the request alone, so that its call travels on it: a WeakMap costs the garbage collector 4 µs a request. */
type Routed = Request & { call: Call };
const callOf = (request: Request) => (request as Routed).call;

const ROUTER_PATH_START = 11;
const STANDARD_HOST = "fundfeed.internal";

function routesOf(deps: AppDeps): Route[] {
  return [
    metaRoute(deps),
    sourcesRoute(deps),
    opportunitiesRoute(deps),
    opportunityRoute(deps),
    eventsRoute(deps),
    ...deps.assets.map(assetRoute),
  ];
}

/** The service is read-only: any method but GET and OPTIONS is refused on any path, before all else (D-3). */
function requireReading({ method, startedAt }: Call): void {
  if (method === "GET" || method === "OPTIONS") return;
  const headers = { Allow: ALLOW, ...(method === "HEAD" && { Date: new Date(startedAt).toUTCString() }) }; // Bun leaves it out of HEAD's.
  throw new Problem("method_not_allowed", "The service is read-only: it accepts GET and OPTIONS.", { headers });
}

/** RFC 9112 §3.2: two Host lines are refused. They arrive as one value. */
function requireOneHost(headers: Headers): void {
  if (headers.get("host")?.includes(",")) throw invalidParameters([{ field: "Host", reason: "must be sent once" }]);
}
