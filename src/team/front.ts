/** One port: which part of the program a request goes to. The API comes first and must not pay for the rest; the reader is another process. (E-67) */

import { plainResponse, SECURITY_HEADERS } from "../browse/headers.ts";
import { hostNameOf, isServedHost } from "../browse/host.ts";
import { newRequestId } from "../http/call.ts";
import { partsOf, pathStart } from "../http/query-text.ts";
import { headOf } from "../http/respond.ts";
import type { Log } from "../monitoring/log.ts";
import type { EpochMs } from "../text/instant.ts";
import { type Arrival, arrivalOf } from "./admission.ts";
import { MCP_PATH } from "./reader-process.ts";

type Respond = (arrival: Arrival) => Promise<Response>;

type Parts = {
  api: (request: Request) => Promise<Response>;
  mcp: Respond;
  status: Respond;
  pages: Respond | undefined;
  /** The host that the operator named, and that of the public address. Loopback names are always allowed. */
  hosts: readonly string[];
  now: () => EpochMs;
  randomBytes: (count: number) => Uint8Array;
  log: Pick<Log, "request" | "failure">;
};

type Connections = { requestIP: (request: Request) => { address: string } | null };

/** The listener refuses heads of more than 16 KiB, and so does the reader, which gets the address with other headers. */
const ADDRESS_MAX = 14_000;

export function createFront({ api, mcp, status, pages, hosts, now, randomBytes, log }: Parts) {
  const respond = async (arrival: Arrival): Promise<Response> => {
    const { request, path } = arrival;
    if (request.url.length > ADDRESS_MAX) return plainResponse(414, `An address may have ${ADDRESS_MAX} characters.`);
    const name = hostNameOf(request.headers.get("host"));
    if (!isServedHost(name, hosts)) return plainResponse(421, "This address is not served here. Name its host with --host or --base-url.");
    if (path === MCP_PATH || pages === undefined) return mcp(arrival);
    if (path === "/status") return status(arrival);
    return pages(arrival);
  };
  return async (request: Request, connections?: Connections): Promise<Response> => {
    if (isOfApi(request.url) || (pages === undefined && partsOf(request.url).path !== MCP_PATH)) return api(request);
    const [id, startedAt, { method }] = [newRequestId({ randomBytes }), now(), request];
    const arrival = arrivalOf(request, connections?.requestIP(request)?.address);
    let response: Response;
    try {
      response = await respond(arrival);
    } catch (error) {
      log.failure(now(), error, id);
      response = plainResponse(500, "The server failed. Its log says why.");
    }
    if (method === "HEAD") response = await headOf(response, startedAt);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!response.headers.has(name)) response.headers.set(name, value);
    response.headers.set("X-Request-Id", id);
    log.request({
      time: startedAt,
      request_id: id,
      method,
      route: arrival.route.name,
      status: response.status,
      duration_ms: now() - startedAt,
      account: arrival.key?.account ?? null,
      key_id: arrival.key?.id ?? null,
    });
    return response;
  };
}

function isOfApi(url: string): boolean {
  const start = pathStart(url);
  return url.startsWith("/v1", start) && (url.length === start + 3 || "/?".includes(url.charAt(start + 3)));
}
