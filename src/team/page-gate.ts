/**
 * Who may read the pages and the searches for other programs: with a cookie of the sign-in, with a key, or by an address that was signed for
 * one search. Each is bound to a key, is refused with it, and counts against its quota. (E-80)
 */
import { type Access, findUsableKey, type KnownKey, updateAccess } from "../accounts/access.ts";
import { plainResponse } from "../browse/headers.ts";
import { admitKey, admitUse } from "../http/admission.ts";
import { Problem, problems } from "../http/problem.ts";
import { pathAndQuery } from "../http/query-text.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseJson } from "../text/json-value.ts";
import type { SignIn } from "./sign-in.tsx";
import { type Signer, signerFor } from "./signed.ts";

type PageGateDeps = {
  /** Without sign-in, only signed addresses are checked. */
  needsKey: boolean;
  access: Access;
  secret: () => Promise<Uint8Array>;
  now: () => EpochMs;
  isSecure: boolean;
  /** The beginning of all addresses of this server: "https://feeds.example". */
  originOf: (request: Request) => string;
  /** Responds to a path of the reader, as for this public address. */
  forward: (path: string, request: Request, address: string) => Promise<Response>;
};

/** Responds with what `show` returns if the request is admitted, else with a refusal or the way to the sign-in. */
type PageGate = (request: Request, path: string, show: () => Promise<Response>) => Promise<Response>;

/** What the sign-in page loads. */
const OPEN_FILE = /^\/(style|icon)-[0-9a-f]{12}\.(css|svg)$/;
/** What programs request: they cannot fill in a form. */
const FOR_PROGRAMS = /\.(json|csv|ics|atom)$/;
const SUBSCRIBE_PATH = "/subscribe";
/** The output of each kind of feed. */
const FEEDS = { ics: "/find.ics", csv: "/find.csv", atom: "/changes.atom" } as const;
/** The longest address of an output that is signed. */
const SIGNED_MAX = 1500;
const CHALLENGE = { "WWW-Authenticate": 'Bearer realm="fundfeed"' };

/** The gate of one server. */
export function createPageGate({ needsKey, access, secret, now, isSecure, originOf, forward }: PageGateDeps): PageGate {
  let parts: Promise<{ signIn: SignIn; feeds: Signer }> | undefined;
  const load = async () => {
    const { createSignIn } = await import("./sign-in.tsx");
    const bytes = await secret();
    return { signIn: createSignIn({ access, signer: signerFor(bytes, "session"), now, isSecure }), feeds: signerFor(bytes, "feed") };
  };
  /** Loads once. A failure is not remembered. */
  const loaded = () => {
    parts ??= load().catch((error: unknown) => {
      parts = undefined;
      throw error;
    });
    return parts;
  };
  /** `/feeds/TOKEN.ics`: whoever has the address can read this search, and nothing else. */
  const feed = async (request: Request, path: string): Promise<Response> => {
    if (request.method !== "GET" && request.method !== "HEAD") return plainResponse(405, "Send GET or HEAD.", { Allow: "GET, HEAD" });
    const [, token = "", kind = ""] = /^\/feeds\/([\w.-]+)\.(ics|csv|atom)$/.exec(path) ?? [];
    const { feeds } = await loaded();
    const signed = parseJson(feeds.open(token) ?? "");
    if (!isFeed(signed) || signed[1].split("?")[0] !== FEEDS[kind as keyof typeof FEEDS])
      return plainResponse(404, "There is no such feed.");
    const [keyId, output] = signed;
    await updateAccess(access);
    const key = findUsableKey(access, keyId, now());
    if (key === undefined) return plainResponse(410, "The key of this feed is not valid anymore."); // Calendars then stop asking.
    await admitUse(access, key, now());
    const response = await forward(output, request, originOf(request) + path);
    return response.status === 400 ? plainResponse(404, "This server does not know the search of this feed.") : response;
  };

  const subscribe = async (request: Request, key: KnownKey): Promise<Response> => {
    const { feeds } = await loaded();
    const { outputsFor, subscribePage } = await import("../browse/subscribe-page.tsx");
    const { pageResponse } = await import("../browse/response.ts");
    const outputs = outputsFor(new URLSearchParams(request.url.split("?")[1]));
    if (Object.values(outputs).some((output) => output.length > SIGNED_MAX))
      return plainResponse(400, "The search is too long for an address.");
    const addressOf = (kind: keyof typeof FEEDS) =>
      `${originOf(request)}/feeds/${feeds.sign(JSON.stringify([key.id, outputs[kind]]))}.${kind}`;
    const response = pageResponse(subscribePage({ ics: addressOf("ics"), csv: addressOf("csv"), atom: addressOf("atom") }, true), {
      hasSignIn: true,
    });
    response.headers.set("Cache-Control", "no-store");
    return response;
  };

  /** The key by which the request may read, from its header or its cookie. Throws a Problem for a header with any other key. */
  const keyOf = async ({ headers }: Request): Promise<KnownKey | undefined> => {
    if (/^bearer\b/i.test(headers.get("authorization") ?? "")) return admitKey(access, headers, now()); // Proxies send other kinds.
    await updateAccess(access);
    return (await loaded()).signIn.keyOf(headers);
  };

  const admitted = async (request: Request, path: string, show: () => Promise<Response>): Promise<Response> => {
    const key = await keyOf(request);
    if (key === undefined && FOR_PROGRAMS.test(path))
      return plainResponse(401, "Send a key as Authorization: Bearer <API_KEY>.", CHALLENGE);
    if (key === undefined) {
      const to = encodeURIComponent(pathAndQuery(request.url));
      return new Response(null, { status: 303, headers: { Location: `/sign-in?to=${to}`, "Cache-Control": "no-store" } });
    }
    await admitUse(access, key, now());
    return path === SUBSCRIBE_PATH ? subscribe(request, key) : show();
  };

  const respond: PageGate = async (request, path, show) => {
    if (path.startsWith("/feeds/")) return feed(request, path);
    if (!needsKey || OPEN_FILE.test(path)) return show();
    if (path === "/sign-in" || path === "/sign-out") return (await loaded()).signIn.respond(request, path);
    return admitted(request, path, show);
  };
  return (request, path, show) => respond(request, path, show).catch(refusalOf);
}

function isFeed(value: unknown): value is [keyId: string, output: string] {
  return Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === "string");
}

/** The response to a problem with the key. Anything else is thrown on. */
function refusalOf(error: unknown): Response {
  if (!(error instanceof Problem)) throw error;
  return plainResponse(problems[error.code].status, error.detail, error.extra.headers);
}
