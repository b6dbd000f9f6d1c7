/** What the forms of the sign-in and of members share: who may send one, and the responses to it. */

/** Whether a page of this server sent the form. All recent browsers send one of the two headers; `Sec-Fetch-Site` only to https and localhost. */
export function isSameOrigin(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const host = headers.get("host");
  return host !== null && URL.parse(headers.get("origin") ?? "")?.host === host;
}

/** The path to go on to if it is one of this server, else `/`: `//evil.example` and `/\evil.example` lead elsewhere. */
export function safePath(to: string | null): string {
  return to !== null && /^\/(?![/\\])[!-~]*$/.test(to) ? to : "/";
}

/** The response with headers for a page with a form. With `no-referrer`, as on other pages, browsers would send `Origin: null`. */
export function withForm(response: Response): Response {
  response.headers.set("Referrer-Policy", "same-origin");
  response.headers.set("Cache-Control", "no-store");
  return response;
}

export function redirect(location: string, setCookie?: string): Response {
  const cookies = setCookie === undefined ? {} : { "Set-Cookie": setCookie };
  return new Response(null, { status: 303, headers: { Location: location, ...cookies, "Cache-Control": "no-store" } });
}
