/**
 * Which requests of other sites are accepted: following a link, but no request that a page makes without the reader (Fetch Metadata). Any
 * page could otherwise embed searches that take seconds. Browsers send these headers to TLS and to this machine; without them everything is
 * accepted. (E-54)
 */

/** Whether a page of another site asks for this without leading to it. Another port or subdomain counts as another site. */
export function isEmbedded(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site") ?? "none";
  if (site === "none" || site === "same-origin") return false;
  const isNavigation = headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
  const isPrefetch = headers.get("sec-purpose")?.startsWith("prefetch") === true;
  return !isNavigation || isPrefetch;
}
