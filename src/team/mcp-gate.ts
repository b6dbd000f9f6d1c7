/**
 * Checks each message for the MCP server, in the process that listens, which loads no part of that server: origin, method, size, key, number of
 * running requests, and quota. The front has checked the host. (E-73)
 */
import type { Access } from "../accounts/access.ts";
import { isServedHost } from "../browse/host.ts";
import { admitKey, admitUse } from "../http/admission.ts";
import { problemOf, problems } from "../http/problem.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseJson } from "../text/json-value.ts";
import { pickHeaders } from "./reader-process.ts";

type Forward = (request: { method: string; headers: [string, string][]; body: string; signal: AbortSignal }) => Promise<Response>;

type McpGate = {
  /** Hosts whose pages may call. Only browsers send an origin. */
  hosts: readonly string[];
  access: Access;
  now: () => EpochMs;
  forward: Forward;
  onFailure: (error: unknown) => void;
  limits?: Partial<typeof LIMITS>;
};

const LIMITS = {
  bodyBytes: 1024 * 1024,
  /** How long the body may take, and the response. The listener closes a connection on which nothing is sent for 30 seconds. */
  bodyMs: 10_000,
  responseMs: 25_000,
  /** A batch exists only in revision 2025-03-26. */
  batch: 20,
  running: 16,
};

/** Returns what responds to every request for `/mcp`. */
export function createMcpGate({ hosts, access, now, forward, onFailure, limits }: McpGate): (request: Request) => Promise<Response> {
  const { bodyBytes, bodyMs, responseMs, batch, running: runningMax } = { ...LIMITS, ...limits };
  const tooLong = () => refusal(413, `A message may have ${bodyBytes} bytes.`);
  let running = 0;

  /** The response to a request with a valid key. */
  const respond = async (request: Request, use: () => Promise<void>): Promise<Response> => {
    const body = await readBody(request, bodyBytes, bodyMs);
    if (body === "late") return refusal(408, "The message took too long.", { Connection: "close" });
    if (body === "long") return tooLong();
    const message = parseJson(body.text);
    const count = Array.isArray(message) ? message.length : 1;
    if (count > batch) return refusal(413, `A batch may have ${batch} messages.`);
    for (let n = 0; n < Math.max(1, count); n++) await use();
    const late = AbortSignal.timeout(responseMs);
    const { method, headers, signal } = request;
    const response = await forward({
      method,
      headers: pickHeaders(headers, FORWARDED),
      body: body.text,
      signal: AbortSignal.any([signal, late]),
    });
    if (late.aborted) return refusal(504, "The response took too long.");
    if (response.status === 503)
      return refusal(503, "The server is starting.", { "Retry-After": response.headers.get("Retry-After") ?? "1" });
    return response;
  };

  return async (request) => {
    const { headers, method } = request;
    const origin = headers.get("origin");
    if (origin !== null && !isServedHost(URL.parse(origin)?.hostname, hosts))
      return refusal(403, "Pages of other sites may not call this server.");
    if (method !== "POST") return refusal(405, "Send POST.", { Allow: "POST" });
    if (Number(headers.get("content-length")) > bodyBytes) return tooLong();
    let ended = () => {};
    try {
      const key = await admitKey(access, headers, now());
      if (running === runningMax) return refusal(503, "The server is busy.", { "Retry-After": "1" });
      running++;
      ended = once(() => running--);
      return withEnd(await respond(request, () => admitUse(access, key, now())), ended);
    } catch (error) {
      ended();
      const problem = problemOf(error);
      const { status } = problems[problem.code];
      if (status === 500) onFailure(error);
      return refusal(status, problem.detail, problem.extra.headers);
    }
  };
}

/** The headers of the protocol. The key stays here. */
const FORWARDED = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "last-event-id"];

/** The body as text. Read here, so that its messages are counted, and its size is known whatever its head says. */
async function readBody({ body }: Request, bytesMax: number, ms: number): Promise<{ text: string } | "long" | "late"> {
  if (body === null) return { text: "" };
  const reader = body.getReader();
  const late = AbortSignal.timeout(ms);
  late.addEventListener("abort", () => void reader.cancel().catch(() => undefined)); // Its reads then end.
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (late.aborted) return "late";
    if (done) return { text: Buffer.concat(pieces).toString() };
    bytes += value.length;
    if (bytes > bytesMax) {
      void reader.cancel().catch(() => undefined);
      return "long";
    }
    pieces.push(value);
  }
}

/** A JSON-RPC error without an id: clients show its message. */
function refusal(status: number, message: string, headers: Record<string, string> = {}): Response {
  const error = { jsonrpc: "2.0", id: null, error: { code: -32_000, message } };
  return Response.json(error, { status, headers: { ...headers, "Cache-Control": "no-store" } });
}

/** The response; `onEnd` is called when all of it is sent, or nobody wants it anymore. */
function withEnd(response: Response, onEnd: () => void): Response {
  if (response.body === null) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { value, done } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      onEnd();
    },
    cancel: (reason) => {
      onEnd();
      return reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
