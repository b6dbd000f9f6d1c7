/**
 * Workarounds for Bun 1.4.5 and Elysia 1.4.30. When one of them is upgraded, remove the workarounds one by one: the test named with each
 * fails while it is still needed. Two more are where they act: `app.ts` catches what Elysia cannot (`http/app`: throw null), and
 * `listen.ts` overrides defaults of Bun's server.
 */
import type { Call } from "./call.ts";

declare global {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can be extended.
  interface Request {
    call?: Call;
  }
}

/** Where the path begins in the URL of a request. The URL is absolute, or only a path if the Host line is missing or unusable. */
export function pathStart(url: string): number {
  if (url.charCodeAt(0) === 47) return 0;
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start < 0 ? url.length : start;
}

/** Elysia's router searches for the path from this index on, which is wrong for a short or missing Host (`http/app`: a short Host). */
const ROUTER_PATH_START = 11;
const STANDARD_HOST = "fundfeed.internal";

/** The request to give to Elysia, with its call. Elysia passes hooks only the request, and a Map or WeakMap of calls costs more. */
export function requestForRouter(request: Request, call: Call): Request {
  const start = pathStart(request.url);
  const routed = start >= ROUTER_PATH_START ? request : new Request(`http://${STANDARD_HOST}${request.url.slice(start)}`, request);
  routed.call = call;
  return routed;
}

/** The call that `requestForRouter` added. */
export function callOf({ call }: Request): Call {
  if (call === undefined) throw new Error("The request reached Elysia without its call");
  return call;
}

/**
 * The context for Elysia's validation, which gets the call in place of `params` and `query`. Elysia's own have lost repeated names,
 * text that cannot be decoded, and brackets (`http/odd-queries`).
 */
export function withCallToValidate(call: Call): { call: Call } {
  const context = { call, params: call, query: call };
  return context;
}

/** Bun adds a Date to every response, except to that of a HEAD request (`http/app`: HEAD). */
export function missingDate({ method, startedAt }: Call): { Date?: string } {
  return method === "HEAD" ? { Date: new Date(startedAt).toUTCString() } : {};
}

/** A turn of the event loop. */
export type Turn = { isOver: boolean };

let current: Turn | undefined;

/** The turn of the event loop that is running. */
export function currentTurn(): Turn {
  if (current !== undefined) return current;
  const turn: Turn = { isOver: false };
  current = turn;
  setImmediate(() => {
    turn.isOver = true;
    current = undefined;
  });
  return turn;
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
