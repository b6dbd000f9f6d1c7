/** The headers of every response of the pages, which keep other sites out, and `/robots.txt` (RFC 9309). */

/** No page loads anything but its style and icon, or runs a script. `connect-src` is for checkers that read /robots.txt as the page. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export const WITH_OWN_SCRIPT = `${CONTENT_SECURITY_POLICY}; script-src 'self'`;

export const SECURITY_HEADERS = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
};

export function plainResponse(status: number, text: string, headers: Record<string, string> = {}): Response {
  const own = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
  return new Response(`${text}\n`, { status, headers: { ...own, ...headers } });
}

/** Pages of opportunities and sources, if they are public. No searches, because their number is unlimited. */
const OPEN = `User-agent: *
Disallow: /*?
Disallow: /find.
Disallow: /changes.
Disallow: /events.
Disallow: /subscribe
Disallow: /status
Disallow: /mcp
Disallow: /v1/
Allow: /v1/docs
`;

const CLOSED = "User-agent: *\nDisallow: /\n";

export function robotsText(hasSignIn: boolean): string {
  return hasSignIn ? CLOSED : OPEN;
}
