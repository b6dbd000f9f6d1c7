/** Who may read the pages and searches: by a cookie, a key, or the address of a feed, each bound to a key and its quota. (E-80, E-186) */
import { isDiskFull } from "../../db/reason.ts";
import { type Access, findHeir, type KnownKey, updateAccess } from "../accounts/access.ts";
import { type Purpose, sealedTokens, type Tokens } from "../accounts/sealed.ts";
import { plainResponse } from "../browse/headers.ts";
import { admitKey } from "../http/admission.ts";
import { pathAndQuery } from "../http/query-text.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseJson } from "../text/json-value.ts";
import { type Admission, type Arrival, type Forward, Refused, refusedOf } from "./admission.ts";
import type { MemberActions, MembersDeps } from "./member-actions.ts";
import type { SignIn } from "./sign-in.tsx";

type PageGateDeps = {
  /** Without sign-in, only addresses of feeds are checked. */
  needsKey: boolean;
  access: Access;
  secret: () => Promise<Uint8Array>;
  now: () => EpochMs;
  isSecure: boolean;
  originOf: (request: Request) => string;
  admit: Admission;
  forward: Forward;
  onFailure: (error: unknown) => void;
  members?: MembersDeps | undefined;
};

/** Responds with `show`, by default the reader's response, if the arrival is admitted; else refuses it or redirects to the sign-in. */
type PageGate = (arrival: Arrival, show?: () => Promise<Response>) => Promise<Response>;

const SUBSCRIBE_PATH = "/subscribe";
const FEEDS = { ics: "/find.ics", csv: "/find.csv", atom: "/changes.atom" } as const;
/** The outputs of followed opportunities. They are evaluated at each request, so their addresses contain no search. */
const FOLLOWING = { ics: "/following.ics", csv: "/following.csv", atom: "/following.atom" } as const;
const OF_MEMBERS = /^\/(watches(\/.*)?|following(\.\w+)?|follow)$/;
const FORM_BYTES_MAX = 32 * 1024;
const SIGNED_MAX = 1500;
const CHALLENGE = { "WWW-Authenticate": 'Bearer realm="fundfeed"' };

export function createPageGate(deps: PageGateDeps): PageGate {
  const { needsKey, access, now, originOf, admit, forward, onFailure, members } = deps;
  let parts: Promise<{ signIn: SignIn; feeds: Tokens; actions: MemberActions | undefined }> | undefined;
  const load = async () => {
    const { createSignIn } = await import("./sign-in.tsx");
    const bytes = await deps.secret();
    const tokens = (purpose: Purpose) => sealedTokens(bytes, purpose);
    const session = { access, sessions: tokens("session"), now, isSecure: deps.isSecure, admit };
    const feeds = tokens("feed");
    if (members === undefined) return { signIn: createSignIn(session), feeds, actions: undefined };
    const [{ createSignInLinks }, { createMemberActions }] = await Promise.all([
      import("./sign-in-link.ts"),
      import("./member-actions.ts"),
    ]);
    const links = createSignInLinks({ ...members, state: access.db, tokens: tokens("link") });
    const actions = createMemberActions({ ...members, secret: bytes, access, forward, originOf });
    return { signIn: createSignIn({ ...session, links }), feeds, actions };
  };
  const loaded = () => {
    parts ??= load().catch((error: unknown) => {
      parts = undefined;
      throw error;
    });
    return parts;
  };
  /** `/feeds/TOKEN.ics`: whoever has the address can read this search, and nothing else. */
  const feed = async (arrival: Arrival): Promise<Response> => {
    if (arrival.method !== "GET") throw new Refused(405, "Send GET or HEAD.", { Allow: "GET, HEAD" });
    const [, token = "", kind = ""] = /^\/feeds\/([\w-]+)\.(ics|csv|atom)$/.exec(arrival.path) ?? [];
    const { feeds } = await loaded();
    const signed = parseJson(feeds.open(token) ?? "");
    const [keyId, output] = isFeed(signed) ? signed : ["", ""];
    const path = output.replace(/\?.*/s, "");
    if (![FEEDS, FOLLOWING].some((outputs) => outputs[kind as keyof typeof FEEDS] === path))
      throw new Refused(404, "There is no such feed.");
    await updateAccess(access);
    const key = findHeir(access, keyId, now());
    if (key === undefined) throw new Refused(410, "The key of this feed is not valid anymore."); // Calendars then stop polling.
    arrival.key = key;
    const response = await admit(arrival, {
      uses: () => arrival.route.uses,
      work: (_, signal) => forward(output, arrival, originOf(arrival.request) + arrival.path, signal),
    });
    if (response.status === 400) throw new Refused(404, "This server does not know the search of this feed.");
    return response;
  };

  const subscribe = async ({ request, query }: Arrival, key: KnownKey): Promise<Response> => {
    const { feeds } = await loaded();
    const { outputsFor, subscribePage } = await import("../browse/subscribe-page.tsx");
    const { pageResponse } = await import("../browse/response.tsx");
    const isFollowing = query === "following" && key.member !== null;
    const outputs = isFollowing ? FOLLOWING : outputsFor(new URLSearchParams(query));
    if (Object.values(outputs).some((output) => output.length > SIGNED_MAX))
      throw new Refused(400, "The search is too long for an address.");
    const addressOf = (kind: keyof typeof FEEDS) =>
      `${originOf(request)}/feeds/${feeds.make(JSON.stringify([key.id, outputs[kind]]))}.${kind}`;
    const addresses = { ics: addressOf("ics"), csv: addressOf("csv"), atom: addressOf("atom") };
    const page = subscribePage(addresses, true, isFollowing ? "what you follow" : undefined);
    const response = pageResponse(page, { hasSignIn: true, isMember: key.member !== null });
    response.headers.set("Cache-Control", "no-store");
    return response;
  };

  /** The key by which the request may read, from its header or its cookie. Throws a Problem for a header with any other key. */
  const keyOf = async ({ headers }: Request): Promise<KnownKey | undefined> => {
    if (/^bearer\b/i.test(headers.get("authorization") ?? "")) return admitKey(access, headers, now()); // Proxies may send other schemes.
    await updateAccess(access);
    return (await loaded()).signIn.keyOf(headers);
  };

  const respond: PageGate = async (arrival, show) => {
    const { request, path, route } = arrival;
    const fromReader = (_: Buffer, signal: AbortSignal) => forward(pathAndQuery(request.url), arrival, originOf(request), signal);
    if (path.startsWith("/feeds/")) return feed(arrival);
    if (path.startsWith("/unsubscribe/") && members !== undefined) {
      const work = async () => (await (await loaded()).actions?.unsubscribe(arrival)) ?? new Response(null, { status: 404 });
      return admit(arrival, { line: "sign-in", isCheap: true, bodyBytes: FORM_BYTES_MAX, work });
    }
    if (route.isOpen) return admit(arrival, { line: "files", isCheap: true, work: fromReader });
    const isCheap = show !== undefined;
    const uses = () => route.uses;
    if (!needsKey) return admit(arrival, { isCheap, work: show ?? fromReader });
    if (path === "/sign-in" || path === "/sign-out" || (members !== undefined && path.startsWith("/sign-in/")))
      return (await loaded()).signIn.respond(arrival);
    const key = await keyOf(request);
    if (key === undefined) {
      if (route.isForPrograms) throw new Refused(401, "Send a key as Authorization: Bearer <API_KEY>.", CHALLENGE);
      const to = encodeURIComponent(pathAndQuery(request.url));
      return new Response(null, { status: 303, headers: { Location: `/sign-in?to=${to}`, "Cache-Control": "no-store" } });
    }
    arrival.key = key;
    if (path === SUBSCRIBE_PATH) return admit(arrival, { uses, isCheap: true, work: () => subscribe(arrival, key) });
    if (OF_MEMBERS.test(path) && members !== undefined) {
      if (key.member === null)
        throw new Refused(403, "Watches belong to who signs in with a mail address. Sign out, and sign in with yours.");
      const { actions } = await loaded();
      if (arrival.method === "POST" && actions !== undefined)
        return admit(arrival, { uses, bodyBytes: FORM_BYTES_MAX, work: (body, signal) => actions.respond(arrival, key, body, signal) });
    }
    return admit(arrival, { uses, isCheap, work: show ?? fromReader });
  };
  return (arrival, show) =>
    respond(arrival, show).catch((error: unknown) => {
      if (!isDiskFull(error)) return refusalOf(error, arrival);
      onFailure(error);
      return refusalOf(new Refused(503, "The disk of this server is full, and nothing was stored. Try again later."), arrival);
    });
}

function isFeed(value: unknown): value is [keyId: string, output: string] {
  return Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === "string");
}

/** The response to a refusal: a page for browsers, and a line of text for programs. Other errors are rethrown. */
async function refusalOf(error: unknown, { request, route, path, key }: Arrival): Promise<Response> {
  const refused = refusedOf(error);
  if (refused === undefined) throw error;
  const { status, message, headers } = refused;
  const isPage = /\btext\/html\b/.test(request.headers.get("accept") ?? "") && !route.isForPrograms && !path.startsWith("/feeds/");
  if (!isPage) return plainResponse(status, message, headers);
  const { refusalPage } = await import("./form-response.tsx");
  return refusalPage(refused, key !== null && key.member !== null);
}
