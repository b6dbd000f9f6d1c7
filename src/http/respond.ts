/** Every response of the service is built here, with the headers that all of them have (D-19, D-20). */
import { type Call, uriReference } from "./call.ts";
import { COMPRESS_OVER_BYTES, compress, preferredCoding } from "./compress.ts";
import { type Problem, problems, problemType } from "./problem.ts";

/** The version of the wire contract: `API-Version`, /meta and the last segment of the base address. */
export const API_VERSION = "1";

export const ALLOW = "GET, OPTIONS";

type Body = Uint8Array<ArrayBuffer> | string | null;

/** At once, or as soon as the body is compressed. */
export type Answer = Response | Promise<Response>;

/** Takes `headers` over: it must be the caller's own, freshly made. */
export function respond(call: Call, status: number, headers: Record<string, string>, body: Body): Answer {
  headers["X-Request-Id"] = call.id;
  headers["API-Version"] = API_VERSION;
  headers["X-Content-Type-Options"] = "nosniff";
  headers.Vary = "Accept-Encoding";
  if (call.allowance !== null) {
    headers["RateLimit-Limit"] = String(call.allowance.limit);
    headers["RateLimit-Remaining"] = String(call.allowance.remaining);
    headers["RateLimit-Reset"] = String(call.allowance.reset);
  }
  const isPlain = body === null || body.length <= COMPRESS_OVER_BYTES || "Content-Encoding" in headers;
  const coding = isPlain ? null : preferredCoding(call.headers.get("accept-encoding"));
  if (body === null || coding === null) return new Response(call.turn.isOver ? inOnePiece(body) : body, { status, headers });
  headers["Content-Encoding"] = coding;
  const compressed = compress(body, coding);
  return compressed instanceof Promise
    ? compressed.then((bytes) => new Response(bytes, { status, headers }))
    : new Response(compressed, { status, headers });
}

/** Head and body up to this are sent in one piece, whenever they are given. */
const LATE_BYTES_MAX = 15_000;

/**
 * What Bun 1.4.5 sends with one system call: given in a later turn than its request's, a large body goes out by another way, each line of its
 * head by itself, at ten times the cost. A stream is spared that; its length is not announced.
 */
function inOnePiece(body: Body): Body | ReadableStream {
  if (body === null || body.length <= LATE_BYTES_MAX) return body;
  return new ReadableStream({
    type: "direct",
    async pull(controller) {
      controller.write(body);
      await controller.flush(true); // Until it is sent: a server that stops would not wait for an ended stream.
      controller.end();
    },
  });
}

/** 200 with a JSON body that nobody may store. */
export function respondJson(call: Call, body: Uint8Array<ArrayBuffer> | string): Answer {
  return respond(
    call,
    200,
    { "Content-Type": "application/json", "Cache-Control": call.key === null ? "no-store" : "private, no-store" },
    body,
  );
}

/** The answer to OPTIONS: no `Access-Control-*`, since keys do not belong in browsers (D-4). */
export function respondOptions(call: Call): Answer {
  return respond(call, 204, { Allow: ALLOW, "Cache-Control": "no-store" }, null);
}

export function respondProblem(call: Call, { code, detail, extra }: Problem, baseUrl: string): Answer {
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
