/** @jsxImportSource hono/jsx */
/** What the forms of the sign-in and of members share: who may send one, and the responses to it. */
import type { BrowsePage } from "../browse/page.ts";
import { pageResponse } from "../browse/response.ts";
import { Refused } from "./admission.ts";

/** Refuses a form that no page of this server sent. All recent browsers send one of the headers; `Sec-Fetch-Site` only to https and localhost. */
export function requireSameOrigin({ headers }: Request): void {
  const [site, host] = [headers.get("sec-fetch-site"), headers.get("host")];
  const isSame = site !== null ? site === "same-origin" : host !== null && URL.parse(headers.get("origin") ?? "")?.host === host;
  if (!isSame) throw new Refused(403, "Open this page of the server itself, and send its form.");
}

/** The path to go on to if it is one of this server, else `/`: `//evil.example` and `/\evil.example` lead elsewhere. */
export function safePath(to: string | null): string {
  return to !== null && /^\/(?![/\\])[!-~]*$/.test(to) ? to : "/";
}

type Content = Exclude<BrowsePage, { location: string }>["body"];

/** A page with a form, or after one. With `no-referrer`, as on other pages, browsers would send `Origin: null`. */
export function formPage(title: string, content: Content, status = 200): Response {
  const body = [<h1>{title}</h1>, content];
  const response = pageResponse({ title, status, body });
  response.headers.set("Referrer-Policy", "same-origin");
  response.headers.set("Cache-Control", "no-store");
  return response;
}

/** A redirect after a form (303), which nobody stores. */
export function redirect(location: string, setCookie?: string): Response {
  const cookies = setCookie === undefined ? {} : { "Set-Cookie": setCookie };
  return new Response(null, { status: 303, headers: { Location: location, ...cookies, "Cache-Control": "no-store" } });
}
