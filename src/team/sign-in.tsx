/** @jsxImportSource hono/jsx */
/**
 * Sign-in to the pages with an API key, or as a member with a link (sign-in-link.tsx). The cookie contains the id of the key but not the key
 * itself, and is refused as soon as the key is not valid. (E-80)
 */
import { type Access, findKey, findUsableKey, type KnownKey, updateAccess } from "../accounts/access.ts";
import type { Tokens } from "../accounts/sealed.ts";
import { pageResponse } from "../browse/response.ts";
import { DAY_MS, type EpochMs, MINUTE_MS } from "../text/instant.ts";
import { type Admission, type Arrival, Refused } from "./admission.ts";
import { isSameOrigin, redirect, safePath, withForm } from "./form-response.ts";
import type { createSignInLinks } from "./sign-in-link.tsx";

type SignInDeps = {
  access: Access;
  sessions: Tokens;
  now: () => EpochMs;
  /** Whether browsers use https for the pages. */
  isSecure: boolean;
  admit: Admission;
  /** Absent without members. */
  links?: ReturnType<typeof createSignInLinks> | undefined;
};

export type SignIn = {
  /** The key of a request's cookie, if both are valid. */
  keyOf: (headers: Headers) => KnownKey | undefined;
  /** Responds to `/sign-in`, `/sign-in/TOKEN` and `/sign-out`. */
  respond: (arrival: Arrival) => Promise<Response>;
};

const LASTS_MS = 30 * DAY_MS;
/** The most bytes of a form with a key and the address of a page. */
const FORM_BYTES_MAX = 8000;
/** Characters of a wrong address that the form shows again. */
const SHOWN_MAX = 320;
/** Wrong keys per minute that get the form again. A correct key is never refused because of others' wrong ones. */
const WRONG_MAX = 30;

/** The sign-in of one server. */
export function createSignIn({ access, sessions, now, isSecure, admit, links }: SignInDeps): SignIn {
  const name = isSecure ? "__Host-fundfeed" : "fundfeed"; // Browsers take __Host- only with Secure, from the host itself, for all paths.
  const cookie = (value: string, maxAge: number) =>
    new Bun.Cookie(name, value, { httpOnly: true, sameSite: "lax", secure: isSecure, path: "/", maxAge }).serialize();
  let wrong = { minute: 0, count: 0 };
  const countWrong = (): boolean => {
    const minute = Math.floor(now() / MINUTE_MS);
    wrong = { minute, count: wrong.minute === minute ? wrong.count + 1 : 1 };
    return wrong.count > WRONG_MAX;
  };
  const session = (id: string) => cookie(sessions.make(`${id} ${now() + LASTS_MS}`), LASTS_MS / 1000);
  const hasLinks = links !== undefined;
  const signIn = async (form: URLSearchParams): Promise<Response> => {
    const [address, to] = [form.get("address"), safePath(form.get("to"))];
    if (hasLinks && address !== null) return links.ask(address, to) ?? signInPage(400, to, hasLinks, address);
    await updateAccess(access);
    const found = findKey(access, (form.get("key") ?? "").trim());
    const key = found && findUsableKey(access, found.id, now());
    if (key !== undefined) return redirect(to, session(key.id));
    const isTooMany = countWrong();
    const response = signInPage(isTooMany ? 429 : 401, to, hasLinks);
    if (isTooMany) response.headers.set("Retry-After", "60");
    return response;
  };
  return {
    keyOf: (headers) => {
      const text = new Bun.CookieMap(headers.get("cookie") ?? "").get(name);
      const [id, until] = (text === null ? undefined : sessions.open(text))?.split(" ") ?? [];
      return id !== undefined && Number(until) > now() ? findUsableKey(access, id, now()) : undefined;
    },
    respond: async (arrival) => {
      const { request, method, path, query } = arrival;
      const [, token] = /^\/sign-in\/([\w-]+)$/.exec(path) ?? [];
      if (method === "GET" && token !== undefined && hasLinks)
        return admit(arrival, { line: "sign-in", isCheap: true, work: async () => withForm(await links.show(token)) });
      if (method === "GET")
        return path === "/sign-out" ? signOutPage() : signInPage(200, safePath(new URLSearchParams(query).get("to")), hasLinks);
      if (method !== "POST") throw new Refused(405, "Send GET or POST.", { Allow: "GET, HEAD, POST" });
      if (!isSameOrigin(request.headers)) throw new Refused(403, "Open this page of the server itself, and send its form.");
      if (path === "/sign-out") return redirect("/sign-in", cookie("", 0));
      const useLink = async (): Promise<Response> => {
        const used = await links?.use(token ?? "");
        if (used === undefined || used instanceof Response) return withForm(used ?? signInPage(404, "/", hasLinks));
        return redirect(safePath(used.to), session(used.id));
      };
      const work = (body: Buffer) => (token !== undefined ? useLink() : signIn(new URLSearchParams(body.toString("latin1"))));
      return admit(arrival, { bodyBytes: FORM_BYTES_MAX, line: "sign-in", isCheap: true, work });
    },
  };
}

function signInPage(status: number, to: string, hasLinks: boolean, address = ""): Response {
  const message = {
    401: "This key is not valid.",
    404: "There is no such link.",
    429: "Too many wrong keys were sent. Wait a minute.",
  }[status];
  const noAddress = status === 400;
  const body = (
    <>
      <h1>Sign in</h1>
      {message !== undefined && (
        <p class="error" role="alert">
          {message}
        </p>
      )}
      {hasLinks && (
        <form class="sign-in" method="post" action="/sign-in" novalidate={noAddress}>
          <p class="lead">Enter your mail address, and you get a link that signs you in.</p>
          <input type="hidden" name="to" value={to} />
          <div class="field">
            <label for="address">Mail address</label>
            <input
              id="address"
              name="address"
              type="email"
              autocomplete="email"
              value={address.slice(0, SHOWN_MAX)}
              required
              {...(noAddress && { "aria-invalid": "true" as const, "aria-describedby": "address-hint" })}
            />
            {noAddress && (
              <p class="error" id="address-hint">
                This is no mail address. It must be one such as ann@example.org, without a name, quotes or blanks.
              </p>
            )}
          </div>
          <button type="submit">Mail me a link</button>
        </form>
      )}
      <details class="sign-in-key" open={!hasLinks || status === 401 || status === 429}>
        <summary>{hasLinks ? "Sign in with an API key instead" : "Sign in with an API key"}</summary>
        <p>With an API key of this service you can read its pages. Each page counts as one request of the key.</p>
        <form class="sign-in" method="post" action="/sign-in">
          <input type="hidden" name="to" value={to} />
          <div class="field">
            <label for="key">API key</label>
            <input id="key" name="key" type="password" autocomplete="current-password" required />
          </div>
          <button type="submit">Sign in</button>
        </form>
      </details>
    </>
  );
  return withForm(pageResponse({ title: "Sign in", status, body }));
}

function signOutPage(): Response {
  const body = (
    <>
      <h1>Sign out</h1>
      <form class="sign-in" method="post" action="/sign-out">
        <button type="submit">Sign out of this browser</button>
      </form>
    </>
  );
  return withForm(pageResponse({ title: "Sign out", body }));
}
