/** Which hosts and which requests from other sites are accepted: against DNS rebinding, and against pages that embed slow searches. (E-54) */
import { isIP } from "node:net";

/** The host name of a Host header, in lower case and without the port. Undefined if there is none or it is malformed. */
export function hostNameOf(header: string | null): string | undefined {
  const [, name] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(header ?? "") ?? [];
  return name?.toLowerCase().replace(/\.$/, "");
}

/** Whether a name is that of one of these hosts. */
export function isServedHost(name: string | undefined, hosts: readonly string[]): boolean {
  return name !== undefined && hosts.some((host) => isAllowedHost(name, host));
}

/** Loopback names, the host of the operator, and any IP address if that means all addresses: DNS rebinding needs a name. */
function isAllowedHost(name: string, given: string): boolean {
  const plain = withoutBrackets(name);
  if (plain === "localhost" || plain === "127.0.0.1" || plain === "::1") return true;
  const isEverywhere = ["0.0.0.0", "::"].includes(withoutBrackets(given));
  return plain === withoutBrackets(given.toLowerCase()) || (isEverywhere && isIP(plain) !== 0);
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

/** Whether another site requests this without the user following a link. Another port or subdomain counts as another site. */
export function isEmbedded(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site") ?? "none";
  if (site === "none" || site === "same-origin") return false;
  const isNavigation = headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
  const isPrefetch = headers.get("sec-purpose")?.startsWith("prefetch") === true;
  return !isNavigation || isPrefetch;
}
