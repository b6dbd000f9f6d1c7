/**
 * Workarounds for Bun 1.4.5 and Elysia 1.4.30. When one of them is upgraded, remove the workarounds one by one: the test named with each
 * fails while it is still needed. Two more are where they act: `app.ts` catches what Elysia cannot (`http/app`: throw null), and
 * `listen.ts` overrides defaults of Bun's server. Large bodies that had to wait are streamed: Bun sends them with 40 system calls
 * otherwise.
 */

import type { ApiCall } from "./call.ts";
import { pathStart } from "./query-text.ts";
import type { Turn } from "./turn.ts";

declare global {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can be extended.
  interface Request {
    call?: ApiCall;
  }
}

/** Elysia's router searches for the path from this index on, which is wrong for a short or missing Host (`http/app`: a short Host). */
const ROUTER_PATH_START = 11;
const STANDARD_HOST = "fundfeed.internal";

/** The URL of a request in a form in which Elysia's router finds the path. */
export function urlForRouter(url: string): string {
  const start = pathStart(url);
  return start >= ROUTER_PATH_START ? url : `http://${STANDARD_HOST}${url.slice(start)}`;
}

/** The request to give to Elysia, with its call. Elysia passes hooks only the request, and a Map or WeakMap of calls costs more. */
export function requestForRouter(request: Request, call: ApiCall): Request {
  const url = urlForRouter(request.url);
  const routed = url === request.url ? request : new Request(url, request);
  routed.call = call;
  return routed;
}

/** The call that `requestForRouter` added. */
export function callOf({ call }: Request): ApiCall {
  if (call === undefined) throw new Error("The request reached Elysia without its call");
  return call;
}

/**
 * Whether nobody gets the response any more. If anything arrives on a connection while its response is awaited in a later turn, such as a
 * pipelined request (RFC 9112 §9.3.2) or a stray line end, Bun closes the connection; it offers no way to let the bytes wait
 * (`http/pipelining`). It is also true if the client closed the connection.
 */
export function isUnanswerable({ signal }: Request): boolean {
  return signal.aborted;
}

/** Bun adds a Date to every response, except to that of a HEAD request (`http/app`: HEAD). */
export function missingDate({ method, startedAt }: ApiCall): { Date?: string } {
  return method === "HEAD" ? { Date: new Date(startedAt).toUTCString() } : {};
}

/** Bun sends head and body up to this size with one system call, even if the response is late. */
const LATE_BYTES_MAX = 15_000;

/**
 * The body in a form that Bun sends with few system calls. If a large body is ready in a later turn than its request, Bun makes one system
 * call for each header line, which costs ten times as much. A direct stream avoids that, but has no Content-Length (`http/late`).
 */
export function cheapBody(body: Uint8Array<ArrayBuffer> | string, requestTurn: Turn): Uint8Array<ArrayBuffer> | string | ReadableStream {
  if (!requestTurn.isOver || body.length <= LATE_BYTES_MAX) return body;
  return new ReadableStream({
    type: "direct",
    async pull(controller) {
      controller.write(body);
      await controller.flush(true); // Waits until it is sent: a stopping server would not wait for an ended stream.
      controller.end();
    },
  });
}
