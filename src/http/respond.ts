/** Builds every response: the headers that all of them have (D-19, D-20), the envelope around stored documents, and the content coding. */
import { promisify } from "node:util";
import { gzip as gzipCallback } from "node:zlib";
import type { ListPage } from "../opportunities/page.ts";
import type { EpochMs } from "../text/instant.ts";
import type { ApiCall } from "./call.ts";
import { encodeCursor } from "./cursor.ts";
import { type Problem, problems, problemType } from "./problem.ts";
import { queryWithCursor, uriReference } from "./query-text.ts";
import { cheapBody } from "./quirks.ts";

export const API_VERSION = "1";

export const ALLOW = "GET, OPTIONS";

type Bytes = Uint8Array<ArrayBuffer>;

type MaybeLater = Response | Promise<Response>;

/** Responds with these headers and those of every response. `headers` must be a new object: the others are added to it. */
export function respond(call: ApiCall, status: number, headers: Record<string, string>, body: Bytes | string | null): MaybeLater {
  headers["X-Request-Id"] = call.id;
  headers["API-Version"] = API_VERSION;
  headers["X-Content-Type-Options"] = "nosniff";
  headers.Vary = "Accept-Encoding";
  if (call.allowance !== null) {
    headers["RateLimit-Limit"] = String(call.allowance.limit);
    headers["RateLimit-Remaining"] = String(call.allowance.remaining);
    headers["RateLimit-Reset"] = String(call.allowance.reset);
  }
  if (body === null) return new Response(null, { status, headers });
  const mayCompress = body.length > COMPRESS_OVER_BYTES && !("Content-Encoding" in headers);
  const coding = mayCompress ? preferredCoding(call.headers.get("accept-encoding")) : null;
  if (coding === null) return new Response(cheapBody(body, call.turn), { status, headers });
  headers["Content-Encoding"] = coding;
  const compressed = compress(body, coding);
  return compressed instanceof Promise
    ? compressed.then((bytes) => new Response(bytes, { status, headers }))
    : new Response(compressed, { status, headers });
}

export function respondJson(call: ApiCall, body: Bytes | string): MaybeLater {
  const cacheControl = call.key === null ? "no-store" : "private, no-store";
  return respond(call, 200, { "Content-Type": "application/json", "Cache-Control": cacheControl }, body);
}

/** A page of documents, with links and the cursor that continues it (D-16). `scope` is what the cursor is bound to. */
export function respondPage(call: ApiCall, { documents, next }: ListPage, scope: string): MaybeLater {
  const cursor = next === null ? null : encodeCursor(call.service.model.cursorSecret, scope, next);
  const meta = { request_id: call.id, count: documents.length, has_more: cursor !== null, next_cursor: cursor };
  const links = {
    self: uriReference(call.path, call.query),
    next: cursor === null ? null : uriReference(call.path, queryWithCursor(call.query, cursor)),
  };
  return respondJson(call, pageEnvelope(documents, meta, links));
}

/** The response to OPTIONS. It has no `Access-Control-*`, because keys do not belong in browsers (D-4). */
export function respondOptions(call: ApiCall): MaybeLater {
  return respond(call, 204, { Allow: ALLOW, "Cache-Control": "no-store" }, null);
}

export function respondProblem(call: ApiCall, { code, detail, extra }: Problem): MaybeLater {
  const { status, title } = problems[code];
  const body = {
    type: problemType(call.service.baseUrl, code),
    title,
    status,
    code,
    detail,
    instance: uriReference(call.path),
    request_id: call.id,
    errors: extra.errors, // JSON.stringify omits it if there are none.
  };
  const headers = { "Content-Type": "application/problem+json", "Cache-Control": "no-store", ...extra.headers };
  return respond(call, status, headers, JSON.stringify(body));
}

const PAGE_HEAD = Buffer.from('{"data":[');
const DETAIL_HEAD = Buffer.from('{"data":');
const COMMA = Buffer.from(",");

/** One stored document in the detail envelope. Documents are joined as bytes, and never parsed on the way out. */
export function detailEnvelope(document: Uint8Array, requestId: string): Bytes {
  return Buffer.concat([DETAIL_HEAD, document, Buffer.from(`,"meta":{"request_id":"${requestId}"}}`)]);
}

function pageEnvelope(documents: readonly Uint8Array[], meta: object, links: object): Bytes {
  const parts: Uint8Array[] = [PAGE_HEAD];
  for (const [index, document] of documents.entries()) {
    if (index > 0) parts.push(COMMA);
    parts.push(document);
  }
  parts.push(Buffer.from(`],"meta":${JSON.stringify(meta)},"links":${JSON.stringify(links)}}`));
  return Buffer.concat(parts);
}

/** Bodies up to this size are not compressed: there is almost nothing to gain. */
const COMPRESS_OVER_BYTES = 1024;

/** Bodies up to this size are compressed in this thread: 0.1 ms for a page of 25. Another thread would take twice as long in all. */
const IN_THREAD_BYTES_MAX = 65_536;

/** Measured on a page of 25: gzip's default level 6 takes twice as long as 3 and saves 7 %. */
const GZIP = { level: 3 } as const;
const ZSTD = { level: 3 } as const;

const gzip = promisify<Bytes, { level: number }, Buffer>(gzipCallback);

const codings = {
  gzip: { inThread: (body: Bytes) => Bun.gzipSync(body, GZIP), offThread: (body: Bytes) => gzip(body, GZIP) },
  zstd: { inThread: (body: Bytes) => Bun.zstdCompressSync(body, ZSTD), offThread: (body: Bytes) => Bun.zstdCompress(body, ZSTD) },
};

type Coding = keyof typeof codings;

/** The body in a content coding; a promise if it is large. */
export function compress(body: Bytes | string, coding: Coding): Bytes | Buffer | Promise<Buffer> {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const { inThread, offThread } = codings[coding];
  return bytes.length <= IN_THREAD_BYTES_MAX ? inThread(bytes) : offThread(bytes);
}

/** The response in the client's preferred coding, if worth it. Never for a secret beside text of others: its length would reveal it (BREACH). */
export async function inPreferredCoding(response: Response, accepted: string | null): Promise<Response> {
  const { headers, status } = response;
  headers.append("Vary", "Accept-Encoding");
  if (response.body === null || headers.has("Content-Encoding")) return response;
  const body = new Uint8Array(await response.arrayBuffer());
  const coding = body.length > COMPRESS_OVER_BYTES ? preferredCoding(accepted) : null;
  if (coding === null) return new Response(body, { status, headers });
  headers.set("Content-Encoding", coding);
  return new Response(await compress(body, coding), { status, headers });
}

/** The response to HEAD: the head of that to GET (RFC 9110 §9.3.2). Bun adds no `Date` to it, and takes its length from the body. */
export async function headOf(response: Response, now: EpochMs): Promise<Response> {
  const { headers, status } = response;
  if (status !== 304) headers.set("Content-Length", `${(await response.bytes()).length}`);
  headers.set("Date", new Date(now).toUTCString());
  return new Response(null, { status, headers });
}

const LISTED_CODING = /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*[qQ]=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/;

/** The preferred coding (RFC 9110 §12.5.3), or `null`. At equal weight zstd wins, as it is cheaper, but only by name: `*` means gzip. Never a 406. */
export function preferredCoding(accepted: string | null): Coding | null {
  if (accepted === null) return null;
  const weights = new Map<string, number>();
  for (const element of accepted.split(",")) {
    const [, coding, weight = "1"] = LISTED_CODING.exec(element) ?? [];
    if (coding !== undefined) weights.set(coding.toLowerCase().replace(/^x-gzip$/, "gzip"), Number(weight));
  }
  const zstd = weights.get("zstd") ?? 0;
  const gzip = weights.get("gzip") ?? weights.get("*") ?? 0;
  const identity = weights.get("identity") ?? 0; // Acceptable if it is not named, but last.
  if (zstd > 0 && zstd >= Math.max(gzip, identity)) return "zstd";
  return gzip > 0 && gzip >= identity ? "gzip" : null;
}
