/**
 * One port: which part of the program a request goes to, and what is checked before, in this order:
 *
 * 1. `/v1`: the API, which checks for itself. It comes first and must not pay for the rest.
 * 2. The host (421): a page of another site whose name was made to lead here (DNS rebinding) sends that name.
 * 3. `/mcp`: agents, after the checks of mcp-gate.ts.
 * 4. `/status`: the page of the jobs, made in this process, after page-gate.ts, so that it works when the reader does not.
 * 5. All other paths: page-gate.ts, which answers `/sign-in`, `/sign-out`, `/feeds/` and `/subscribe` itself with `--pages key`; the rest
 *    comes from the reader.
 *
 * Only the API is loaded at the start. (E-67)
 */
import { plainResponse, SECURITY_HEADERS } from "../browse/headers.ts";
import { hostNameOf, isServedHost } from "../browse/host.ts";
import { pathOf, pathStart } from "../http/query-text.ts";
import { MCP_PATH } from "./reader-process.ts";

type Respond = (request: Request) => Promise<Response>;

type Parts = {
  api: Respond;
  mcp: Respond;
  status: Respond;
  /** Responds to any path. Without it, there are no pages, and no status. */
  pages: Respond | undefined;
  /** The host that the operator named, and that of the public address. Loopback names are always allowed. */
  hosts: readonly string[];
  onFailure: (error: unknown) => void;
};

/** Responds to every request, and never rejects. */
export function createFront({ api, mcp, status, pages, hosts, onFailure }: Parts): Respond {
  const respond = async (request: Request, path: string): Promise<Response> => {
    const name = hostNameOf(request.headers.get("host"));
    if (!isServedHost(name, hosts)) return plainResponse(421, "This address is not served here. Name its host with --host or --base-url.");
    if (path === MCP_PATH || pages === undefined) return mcp(request);
    if (path === "/status") return status(request);
    return pages(request);
  };
  return (request) => {
    const path = otherPath(request.url);
    if (path === undefined || (pages === undefined && path !== MCP_PATH)) return api(request);
    return respond(request, path)
      .catch((error: unknown) => {
        onFailure(error);
        return plainResponse(500, "The server failed. Its log says why.");
      })
      .then(secured);
  };
}

/** The path of a request; `undefined` if it is one of the API. */
function otherPath(url: string): string | undefined {
  const start = pathStart(url);
  if (url.startsWith("/v1", start) && (url.length === start + 3 || "/?".includes(url.charAt(start + 3)))) return undefined;
  return pathOf(url);
}

function secured(response: Response): Response {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!response.headers.has(name)) response.headers.set(name, value);
  return response;
}
