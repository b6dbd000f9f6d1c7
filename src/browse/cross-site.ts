/** Which requests from other sites are accepted (Fetch Metadata): any page could otherwise embed searches that take seconds. (E-54) */

/** Whether another site requests this without the user following a link. Another port or subdomain counts as another site. */
export function isEmbedded(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site") ?? "none";
  if (site === "none" || site === "same-origin") return false;
  const isNavigation = headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
  const isPrefetch = headers.get("sec-purpose")?.startsWith("prefetch") === true;
  return !isNavigation || isPrefetch;
}
