/** Every response of the service is built here, with the headers that all of them have (D-19, D-20). */
import { type Call, uriReference } from "./call.ts";
import { type Problem, problems, problemType } from "./problem.ts";

/** The version of the wire contract: `API-Version`, /meta and the last segment of the base address. */
export const API_VERSION = "1";

export const ALLOW = "GET, OPTIONS";

type Body = Uint8Array<ArrayBuffer> | string | null;

/** Takes `headers` over: it must be the caller's own, freshly made. */
export function respond(call: Call, status: number, headers: Record<string, string>, body: Body): Response {
  headers["X-Request-Id"] = call.id;
  headers["API-Version"] = API_VERSION;
  headers["X-Content-Type-Options"] = "nosniff";
  if (call.allowance !== null) {
    headers["RateLimit-Limit"] = String(call.allowance.limit);
    headers["RateLimit-Remaining"] = String(call.allowance.remaining);
    headers["RateLimit-Reset"] = String(call.allowance.reset);
  }
  return new Response(body, { status, headers });
}

/** 200 with a JSON body that nobody may store. */
export function respondJson(call: Call, body: Uint8Array<ArrayBuffer> | string): Response {
  return respond(
    call,
    200,
    { "Content-Type": "application/json", "Cache-Control": call.key === null ? "no-store" : "private, no-store" },
    body,
  );
}

/** The answer to OPTIONS: no `Access-Control-*`, since keys do not belong in browsers (D-4). */
export function respondOptions(call: Call): Response {
  return respond(call, 204, { Allow: ALLOW, "Cache-Control": "no-store" }, null);
}

export function respondProblem(call: Call, { code, detail, extra }: Problem, baseUrl: string): Response {
  const { status, title } = problems[code];
  const body = {
    type: problemType(baseUrl, code),
    title,
    status,
    code,
    detail,
    instance: uriReference(call.path),
    request_id: call.id,
    errors: extra.errors, // Left out where there are none.
  };
  const headers = { "Content-Type": "application/problem+json", "Cache-Control": "no-store", ...extra.headers };
  return respond(call, status, headers, JSON.stringify(body));
}
