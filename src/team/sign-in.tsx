/** @jsxImportSource hono/jsx */
/** Sign-in to the pages with an API key, or as a member with a link. The cookie names the key, and is refused as soon as that is. (E-80) */
import { type Access, findKey, findUsableKey, type KnownKey, updateAccess } from "../accounts/access.ts";
import type { Tokens } from "../accounts/sealed.ts";
import { Alert, InputField } from "../browse/search-form.tsx";
import { PostForm } from "../browse/watch-fields.tsx";
import { DAY_MS, type EpochMs, MINUTE_MS } from "../text/instant.ts";
import { type Admission, type Arrival, Refused } from "./admission.ts";
import { formPage, redirect, requireSameOrigin, safePath } from "./form-response.tsx";
import type { SignInLinks } from "./sign-in-link.ts";

type SignInDeps = {
  access: Access;
  sessions: Tokens;
  now: () => EpochMs;
  isSecure: boolean;
  admit: Admission;
  links?: SignInLinks | undefined;
};

export type SignIn = ReturnType<typeof createSignIn>;

const LASTS_MS = 30 * DAY_MS;
/** The most bytes of a form, and characters of a wrong address that is shown again. */
const [FORM_BYTES_MAX, SHOWN_MAX] = [8000, 320];
/** Wrong keys per minute that get the form again. A correct key is never refused because of others' wrong ones. */
const WRONG_MAX = 30;

export function createSignIn({ access, sessions, now, isSecure, admit, links }: SignInDeps) {
  const name = isSecure ? "__Host-fundfeed" : "fundfeed"; // Browsers take __Host- only with Secure, from the host itself, for all paths.
  const cookie = (value: string, maxAge: number) =>
    new Bun.Cookie(name, value, { httpOnly: true, sameSite: "lax", secure: isSecure, path: "/", maxAge }).serialize();
  const session = (id: string) => cookie(sessions.make(`${id} ${now() + LASTS_MS}`), LASTS_MS / 1000);
  let wrong = { minute: 0, count: 0 };
  const page = (status: number, to: string, address?: string) => signInPage(status, to, links !== undefined, address);
  const signIn = async (form: URLSearchParams): Promise<Response> => {
    const [address, to] = [form.get("address"), safePath(form.get("to"))];
    if (links !== undefined && address !== null)
      return links.ask(address, to) ? formPage("Look into your mailbox", SENT) : page(400, to, address);
    await updateAccess(access);
    const found = findKey(access, (form.get("key") ?? "").trim());
    const key = found && findUsableKey(access, found.id, now());
    if (key !== undefined) return redirect(to, session(key.id));
    const minute = Math.floor(now() / MINUTE_MS);
    wrong = { minute, count: wrong.minute === minute ? wrong.count + 1 : 1 };
    if (wrong.count > WRONG_MAX) throw new Refused(429, "Too many wrong keys were sent. Wait a minute.", { "Retry-After": "60" });
    return page(401, to);
  };
  const showLink = async (token: string): Promise<Response> => {
    const address = await links?.addressOf(token);
    return address === undefined ? page(410, "/") : linkPage(address, token);
  };
  const useLink = async (token: string): Promise<Response> => {
    const used = await links?.use(token);
    return used === undefined ? page(410, "/") : redirect(safePath(used.to), session(used.id));
  };
  return {
    keyOf: (headers: Headers): KnownKey | undefined => {
      const text = new Bun.CookieMap(headers.get("cookie") ?? "").get(name);
      const [id, until] = (text === null ? undefined : sessions.open(text))?.split(" ") ?? [];
      return id !== undefined && Number(until) > now() ? findUsableKey(access, id, now()) : undefined;
    },
    respond: async (arrival: Arrival): Promise<Response> => {
      const { request, method, path, query } = arrival;
      const [, token] = /^\/sign-in\/([\w-]+)$/.exec(path) ?? [];
      const asked = { line: "sign-in", isCheap: true } as const;
      if (method === "GET" && token !== undefined) return admit(arrival, { ...asked, work: () => showLink(token) });
      if (method === "GET")
        return path === "/sign-out" ? formPage("Sign out", SIGN_OUT) : page(200, safePath(new URLSearchParams(query).get("to")));
      if (method !== "POST") throw new Refused(405, "Send GET or POST.", { Allow: "GET, HEAD, POST" });
      requireSameOrigin(request);
      if (path === "/sign-out") return redirect("/sign-in", cookie("", 0));
      const work = (body: Buffer) => (token !== undefined ? useLink(token) : signIn(new URLSearchParams(body.toString("latin1"))));
      return admit(arrival, { ...asked, bodyBytes: FORM_BYTES_MAX, work });
    },
  };
}

const NO_ADDRESS = "This is no mail address. It must be one such as ann@example.org, without a name, quotes or blanks.";
const REASONS: Readonly<Record<number, string>> = {
  401: "This key is not valid.",
  410: "This link does not work anymore. A link works once, within 15 minutes, and only the newest sign-in counts.",
};

function signInPage(status: number, to: string, hasLinks: boolean, address = ""): Response {
  const form = { given: { address: address.slice(0, SHOWN_MAX) }, errors: new Map(status === 400 ? [["address", NO_ADDRESS]] : []) };
  const content = (
    <>
      <Alert>{REASONS[status]}</Alert>
      {hasLinks && (
        <PostForm to="/sign-in" values={{ to }} submit="Mail me a link">
          <p class="lead">Enter your mail address, and you get a link that signs you in.</p>
          <InputField name="address" label="Mail address" form={form} type="email" autocomplete="email" required />
        </PostForm>
      )}
      <details class="sign-in-key" open={!hasLinks || status === 401}>
        <summary>{hasLinks ? "Sign in with an API key instead" : "Sign in with an API key"}</summary>
        <p>With an API key of this service you can read its pages. Each page counts as one request of the key.</p>
        <PostForm to="/sign-in" values={{ to }} submit="Sign in">
          <InputField name="key" label="API key" form={form} type="password" autocomplete="current-password" required />
        </PostForm>
      </details>
    </>
  );
  return formPage("Sign in", content, status);
}

const SIGN_OUT = <PostForm to="/sign-out" submit="Sign out of this browser" />;

const SENT = (
  <>
    <p class="lead">If this address may sign in, a mail with a link is on its way. The link works once, within 15 minutes.</p>
    <p>
      Nothing came? Look into the spam folder, and check the address: only those that the operator of this server allows get a mail, and
      each at most three in 15 minutes. <a href="/sign-in">Try again</a>
    </p>
  </>
);

function linkPage(address: string, token: string): Response {
  const content = (
    <>
      <p class="lead">
        You sign in as <strong>{address}</strong>, in this browser, for 30 days.
      </p>
      <PostForm to={`/sign-in/${token}`} submit="Sign in" />
      <p class="quiet">Did you not ask for this? Then close this page: nothing happens without the button.</p>
    </>
  );
  return formPage("Sign in", content);
}
