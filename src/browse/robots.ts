/** `/robots.txt` (RFC 9309): what search engines may read. */

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
