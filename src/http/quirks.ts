/**
 * What Bun 1.4.5 and Elysia 1.4.30 do that the service works around. When one of them is upgraded, remove the workarounds one by one: the
 * test named with each fails while it is still needed. Two more stand where they act: `app.ts` catches what Elysia cannot (`http/app`:
 * throw null), and `listen.ts` sets what Bun's server would do otherwise.
 */
import { type Call, pathStart } from "./call.ts";

declare global {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can be extended.
  interface Request {
    call?: Call;
  }
}

/** Elysia's router looks for the path from here on, which is wrong for a short or missing Host (`http/app`: a short Host). */
const ROUTER_PATH_START = 11;
const STANDARD_HOST = "fundfeed.internal";

/** The request as Elysia is to route it. Elysia hands hooks nothing else of ours, so the call travels on the request: a Map or WeakMap costs more. */
export function routable(request: Request, call: Call): Request {
  const start = pathStart(request.url);
  const routed = start >= ROUTER_PATH_START ? request : new Request(`http://${STANDARD_HOST}${request.url.slice(start)}`, request);
  routed.call = call;
  return routed;
}

export function callOf({ call }: Request): Call {
  if (call === undefined) throw new Error("The request reached Elysia without its call");
  return call;
}

/**
 * What a hook before validation adds to the context. `params` and `query` are what Elysia validates next: the call in their place, since
 * Elysia's own have lost what was sent twice, what cannot be decoded, and brackets (`http/odd-queries`).
 */
export function validatedFrom(call: Call): { call: Call } {
  const context = { call, params: call, query: call };
  return context;
}

/** Bun sends the Date of every response but that of HEAD (`http/app`: HEAD). */
export function missingDate({ method, startedAt }: Call): { Date?: string } {
  return method === "HEAD" ? { Date: new Date(startedAt).toUTCString() } : {};
}

/** A turn of the event loop. */
export type Turn = { isOver: boolean };

let present: Turn | undefined;

export function presentTurn(): Turn {
  if (present !== undefined) return present;
  const turn: Turn = { isOver: false };
  present = turn;
  setImmediate(() => {
    turn.isOver = true;
    present = undefined;
  });
  return turn;
}

/** Bun sends head and body of this size or less with one system call, whenever the response is ready. */
const LATE_BYTES_MAX = 15_000;

/**
 * The body as Bun sends it cheaply. A large body that is ready in a later turn than its request's is sent with one system call for each
 * header line, at ten times the cost. A direct stream avoids that, but has no Content-Length (`http/late`).
 */
export function sentCheaply(body: Uint8Array<ArrayBuffer> | string, turn: Turn): Uint8Array<ArrayBuffer> | string | ReadableStream {
  if (!turn.isOver || body.length <= LATE_BYTES_MAX) return body;
  return new ReadableStream({
    type: "direct",
    async pull(controller) {
      controller.write(body);
      await controller.flush(true); // Until it is sent: a server that stops would not wait for an ended stream.
      controller.end();
    },
  });
}
