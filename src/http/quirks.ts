/** Workarounds for Bun 1.4.5 and Elysia 1.4.30, to remove when these are upgraded: the test named with each fails while it is still needed. */

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

export function callOf({ call }: Request): ApiCall {
  if (call === undefined) throw new Error("The request reached Elysia without its call");
  return call;
}

/** Whether nobody gets the response: Bun closes a connection on which more arrives meanwhile, such as a pipelined request (`http/pipelining`). */
export function isUnanswerable({ signal }: Request): boolean {
  return signal.aborted;
}

/** Bun adds a Date to every response, except to that of a HEAD request (`http/app`: HEAD). */
export function missingDate({ method, startedAt }: ApiCall): { Date?: string } {
  return method === "HEAD" ? { Date: new Date(startedAt).toUTCString() } : {};
}

/** Bun sends head and body up to this size with one system call, even if the response is late. */
const LATE_BYTES_MAX = 15_000;

/** The body as Bun sends it with few system calls. For a large and late one it makes a call a header line, ten times the cost (`http/late`). */
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
