/** Every response of the service is built here, with the headers that all of them have (D-19, D-20). */
import type { Page } from "../opportunities/page.ts";
import { type Call, uriReference } from "./call.ts";
import { COMPRESS_OVER_BYTES, compress, preferredCoding } from "./compress.ts";
import { encodeCursor } from "./cursor.ts";
import { pageEnvelope } from "./envelope.ts";
import { type Problem, problems, problemType } from "./problem.ts";
import { queryWithCursor } from "./query-string.ts";
import { sentCheaply } from "./quirks.ts";

/** The version of the wire contract: `API-Version`, /meta and the last segment of the base address. */
export const API_VERSION = "1";

export const ALLOW = "GET, OPTIONS";

type Body = Uint8Array<ArrayBuffer> | string | null;

/** A promise while the body is compressed. */
type Responding = Response | Promise<Response>;

/** Adds to `headers`: it must be a new object. */
export function respond(call: Call, status: number, headers: Record<string, string>, body: Body): Responding {
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
  if (body === null) return new Response(null, { status, headers });
  if (coding === null) return new Response(sentCheaply(body, call.turn), { status, headers });
  headers["Content-Encoding"] = coding;
  const compressed = compress(body, coding);
  return compressed instanceof Promise
    ? compressed.then((bytes) => new Response(bytes, { status, headers }))
    : new Response(compressed, { status, headers });
}

/** 200 with a JSON body that no cache may store. */
export function respondJson(call: Call, body: Uint8Array<ArrayBuffer> | string): Responding {
  return respond(
    call,
    200,
    { "Content-Type": "application/json", "Cache-Control": call.key === null ? "no-store" : "private, no-store" },
    body,
  );
}

/** A page of documents, with the cursor that continues it and links (D-16). `scope` is what the cursor is bound to. */
export function respondPage(call: Call, { documents, next }: Page, scope: string): Responding {
  const cursor = next === null ? null : encodeCursor(call.service.model.cursorSecret, scope, next);
  const links = {
    self: uriReference(call.path, call.query),
    next: cursor === null ? null : uriReference(call.path, queryWithCursor(call.query, cursor)),
  };
  return respondJson(call, pageEnvelope(documents, call.id, cursor, links));
}

/** The response to OPTIONS. It has no `Access-Control-*`: keys do not belong in browsers (D-4). */
export function respondOptions(call: Call): Responding {
  return respond(call, 204, { Allow: ALLOW, "Cache-Control": "no-store" }, null);
}

export function respondProblem(call: Call, { code, detail, extra }: Problem): Responding {
  const { status, title } = problems[code];
  const body = {
    type: problemType(call.service.baseUrl, code),
    title,
    status,
    code,
    detail,
    instance: uriReference(call.path),
    request_id: call.id,
    errors: extra.errors, // JSON leaves it out if there are none.
  };
  const headers = { "Content-Type": "application/problem+json", "Cache-Control": "no-store", ...extra.headers };
  return respond(call, status, headers, JSON.stringify(body));
}
