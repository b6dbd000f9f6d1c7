/** The HTTP service: what happens to a request, in the order in which it happens (D-2). */
import { Elysia } from "elysia";
import { routed } from "./admission.ts";
import { Call, type Service } from "./call.ts";
import { invalidParameters, noSuchPath, Problem, problemOf, problems } from "./problem.ts";
import { callOf, missingDate, routable } from "./quirks.ts";
import { createRequestIds } from "./request-id.ts";
import { ALLOW, respondOptions, respondProblem } from "./respond.ts";
import { routes } from "./routes.ts";

/** Every path begins with it (D-1). A public address may have more before it. */
const BASE_PATH = "/v1";

export type AppDeps = Service & { randomBytes: (count: number) => Uint8Array };

export type App = { fetch: (request: Request) => Promise<Response> };

export function createApp({ randomBytes, ...service }: AppDeps): App {
  const nextRequestId = createRequestIds(randomBytes);
  return {
    fetch: async (request) => {
      const call = new Call(service, nextRequestId(), request);
      let response: Response;
      try {
        response = await handle(routable(request, call));
      } catch (error) {
        response = await refuse(call, error); // Whatever Elysia cannot pass to onError: `throw null`.
      }
      logRequest(call, response);
      return response;
    },
  };
}

/** Method (405), Host (400), route (404); then key and parameters, as the route declares them (`routes/`). */
const router = new Elysia({ prefix: BASE_PATH, strictPath: true, normalize: false })
  .onRequest(({ request }) => {
    const call = callOf(request);
    requireReading(call);
    requireOneHost(call);
  })
  .onError(({ request, code, error }) => {
    const call = callOf(request);
    return refuse(call, code === "NOT_FOUND" ? noSuchPath(call.service.baseUrl) : error);
  })
  .use(routes);

/** D-4: OPTIONS of any path that has a GET. */
for (const { path } of router.routes.filter(({ method }) => method === "GET"))
  router.options(path.slice(BASE_PATH.length), ({ request, route, params }) => respondOptions(routed(request, route, params)));

const handle = router.compile().fetch;

/** The service is read-only: any method but GET and OPTIONS is refused on any path (D-3). */
function requireReading(call: Call): void {
  if (call.method === "GET" || call.method === "OPTIONS") return;
  const headers = { Allow: ALLOW, ...missingDate(call) };
  throw new Problem("method_not_allowed", "The service is read-only: it accepts GET and OPTIONS.", { headers });
}

/** RFC 9112 §3.2: two Host lines are refused. They arrive as one value. */
function requireOneHost({ headers }: Call): void {
  if (headers.get("host")?.includes(",")) throw invalidParameters([{ field: "Host", reason: "must be sent once" }]);
}

/** The response to whatever was thrown. */
function refuse(call: Call, error: unknown): Response | Promise<Response> {
  const { log, now } = call.service;
  const problem = problemOf(error);
  if (problem.code === "service_unavailable") log.recurring(now(), error, call.id);
  else if (problems[problem.code].status >= 500) log.failure(now(), error, call.id);
  return respondProblem(call, problem);
}

function logRequest({ service: { log, now }, id, method, route, startedAt, key }: Call, { status }: Response): void {
  log.request({
    time: startedAt,
    request_id: id,
    method,
    route: route === null ? null : (documentedPaths.get(route) ?? route),
    status,
    duration_ms: now() - startedAt,
    account: key?.account ?? null,
    key_id: key?.id ?? null,
  });
}

/** `/v1/opportunities/:id` is `/opportunities/{id}` in the log and the metrics, as in the document. */
const documentedPaths = new Map(router.routes.map(({ path }) => [path, path.slice(BASE_PATH.length).replace(/:(\w+)/g, "{$1}")]));
