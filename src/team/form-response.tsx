/** @jsxImportSource hono/jsx */
/** Forms of the sign-in and of members: who may send one, the responses to it, and the page of a refused request. */
import type { BrowsePage } from "../browse/page.ts";
import { pageResponse } from "../browse/response.tsx";
import { PostForm } from "../browse/watch-fields.tsx";
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

const TITLES: Readonly<Record<number, string>> = {
  403: "Not allowed",
  404: "Not found",
  413: "Too much",
  429: "Too many requests",
  502: "This did not work",
  503: "Not now",
};

export function refusalPage({ status, message, headers }: Refused, isMember: boolean): Response {
  const title = TITLES[status] ?? "This cannot be done";
  const body = (
    <>
      <h1>{title}</h1>
      <p class="lead">{message}</p>
      <p>
        What you typed is kept by your browser: go back, and try again. Or go on with <a href="/">Find</a>
        {isMember && (
          <>
            {" or "}
            <a href="/watches">My watches</a>
          </>
        )}
        .
      </p>
    </>
  );
  const response = pageResponse({ title, status, body }, isMember ? { hasSignIn: true, isMember } : undefined);
  for (const [name, value] of Object.entries({ "Cache-Control": "no-store", ...headers })) response.headers.set(name, value);
  return response;
}

const STOPPED = (
  <>
    <p class="lead">These mails have stopped.</p>
    <p>
      What you saved is kept, and paused: <a href="/watches">My watches</a> can resume or remove it.
    </p>
  </>
);

/** The page that asks before the mails of these watches end; without any, the page that says that they have ended. */
export function unsubscribePage(path: string, titles: readonly string[] = []): Response {
  if (titles.length === 0) return formPage("No more mails", STOPPED);
  const content = (
    <>
      <p class="lead">
        They come from {titles.map((title) => `“${title}”`).join(", ")}. A member can resume them at <a href="/watches">My watches</a>.
      </p>
      <PostForm to={path} values={{ "List-Unsubscribe": "One-Click" }} submit="Stop these mails" />
    </>
  );
  return formPage("Stop these mails?", content);
}
