/** Checks each message for the MCP server, in the process that listens, which parses nothing. The front has checked the host. (E-67, E-170) */
import { shapeOfJson } from "../../clients/typescript/src/json-scan.ts";
import type { Access } from "../accounts/access.ts";
import { isServedHost } from "../browse/host.ts";
import { admitKey } from "../http/admission.ts";
import { problemOf } from "../http/problem.ts";
import type { EpochMs } from "../text/instant.ts";
import { ADMISSION, type Admission, type Arrival, Refused, refusedOf } from "./admission.ts";
import { pickHeaders } from "./reader-process.ts";

type Forward = (request: { method: string; headers: [string, string][]; body: string; signal: AbortSignal }) => Promise<Response>;

type McpGate = {
  /** Hosts whose pages may call. Only browsers send an origin. */
  hosts: readonly string[];
  access: Access;
  now: () => EpochMs;
  admit: Admission;
  forward: Forward;
  onFailure: (error: unknown) => void;
};

/** A batch exists only in revision 2025-03-26. */
const BATCH_MAX = 20;

export function createMcpGate({ hosts, access, now, admit, forward, onFailure }: McpGate): (arrival: Arrival) => Promise<Response> {
  const respond = async (arrival: Arrival): Promise<Response> => {
    const { headers, method } = arrival.request;
    const origin = headers.get("origin");
    if (origin !== null && !isServedHost(URL.parse(origin)?.hostname, hosts))
      throw new Refused(403, "Pages of other sites may not call this server.");
    if (method !== "POST") throw new Refused(405, "Send POST.", { Allow: "POST" });
    arrival.key = await admitKey(access, headers, now());
    return admit(arrival, {
      bodyBytes: ADMISSION.bodyBytes,
      uses: messagesIn,
      work: async (body, signal) => {
        const response = await forward({ method, headers: pickHeaders(headers, FORWARDED), body: body.toString(), signal });
        if (response.status !== 503) return response;
        throw new Refused(503, "The server is starting.", { "Retry-After": response.headers.get("Retry-After") ?? "1" });
      },
    });
  };
  return (arrival) =>
    respond(arrival).catch((error: unknown) => {
      const refused = refusedOf(error);
      if (refused === undefined) onFailure(error);
      return refused === undefined ? refusal(500, problemOf(error).detail) : refusal(refused.status, refused.message, refused.headers);
    });
}

/** The messages of a body. Each one counts as a use of the key. */
function messagesIn(body: Buffer): number {
  const { isTooDeep, elements } = shapeOfJson(body.toString("latin1"));
  if (isTooDeep) throw new Refused(413, "A message may not nest so deeply.");
  if (elements > BATCH_MAX) throw new Refused(413, `A batch may have ${BATCH_MAX} messages.`);
  return Math.max(1, elements);
}

const FORWARDED = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "last-event-id"];

function refusal(status: number, message: string, headers: Record<string, string> = {}): Response {
  const error = { jsonrpc: "2.0", id: null, error: { code: -32_000, message } };
  return Response.json(error, { status, headers: { ...headers, "Cache-Control": "no-store" } });
}
