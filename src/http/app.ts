/** The HTTP service: what happens to a request, from top to bottom (D-2). */
import { Elysia } from "elysia";
import { takeBackUse } from "../accounts/access.ts";
import { completeCall } from "./admission.ts";
import { ApiCall, newRequestId, type Service } from "./call.ts";
import { invalidParameters, noSuchPath, Problem, problemOf, problems } from "./problem.ts";
import { callOf, isUnanswerable, missingDate, requestForRouter } from "./quirks.ts";
import { ALLOW, respondOptions, respondProblem } from "./respond.ts";
import { routes } from "./routes.ts";

/** Every path begins with it (D-1). A public address may have more before it. */
const BASE_PATH = "/v1";

/** `fetch` returns a response to every request, and never throws. */
export type App = { fetch: (request: Request) => Promise<Response> };

export function createApp(service: Service): App {
  return {
    fetch: async (request) => {
      const call = new ApiCall(service, newRequestId(service), request);
      let response: Response;
      try {
        requireReadMethod(call);
        requireOneHost(call);
        response = await route(requestForRouter(request, call));
      } catch (error) {
        response = await respondToError(call, error); // Also what Elysia cannot pass to onError: `throw null`.
      }
      if (call.turn.isOver && isUnanswerable(request)) takeBack(call);
      logRequest(call, response);
      return response;
    },
  };
}

/** First the route (404); then key, limits and parameters, as the route declares them (`routes/`). */
const router = new Elysia({ prefix: BASE_PATH, strictPath: true, normalize: false })
  .onError(({ request, code, error }) => {
    const call = callOf(request);
    return respondToError(call, code === "NOT_FOUND" ? noSuchPath(call.service.baseUrl) : error);
  })
  .use(routes);

/** OPTIONS of every path that has a GET (D-4). */
for (const { path } of router.routes.filter(({ method }) => method === "GET"))
  router.options(path.slice(BASE_PATH.length), ({ request, route, params }) => respondOptions(completeCall(request, route, params)));

const route = router.compile().fetch;

/** The service is read-only: any method but GET and OPTIONS is refused on any path (D-3). */
function requireReadMethod(call: ApiCall): void {
  if (call.method === "GET" || call.method === "OPTIONS") return;
  const headers = { Allow: ALLOW, ...missingDate(call) };
  throw new Problem("method_not_allowed", "The service is read-only: it accepts GET and OPTIONS.", { headers });
}

/** RFC 9112 §3.2: two Host lines are refused. They arrive as one value. */
function requireOneHost({ headers }: ApiCall): void {
  if (headers.get("host")?.includes(",")) throw invalidParameters([{ field: "Host", reason: "must be sent once" }]);
}

function respondToError(call: ApiCall, error: unknown): Response | Promise<Response> {
  const { log, now } = call.service;
  const problem = problemOf(error);
  if (problem.code === "service_unavailable") log.recurring(now(), error, call.id);
  else if (problems[problem.code].status >= 500) log.failure(now(), error, call.id);
  return respondProblem(call, problem);
}

/** A request whose connection closed before its response costs the day nothing; the token of its minute stays taken. */
function takeBack({ service: { access }, key, allowance }: ApiCall): void {
  if (key !== null && allowance !== null) takeBackUse(access, key, allowance);
}

function logRequest({ service: { log, now }, id, method, route, startedAt, key }: ApiCall, { status }: Response): void {
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

/** In the log and the metrics, `/v1/opportunities/:id` is `/opportunities/{id}`, as in the description. */
const documentedPaths = new Map(router.routes.map(({ path }) => [path, path.slice(BASE_PATH.length).replace(/:(\w+)/g, "{$1}")]));
