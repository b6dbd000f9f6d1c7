/** @jsxImportSource hono/jsx */
/**
 * Sign-in of members by a link that is mailed. The link contains the address, its expiry, and how often the address has signed in, so it works
 * once, on any server, and nothing is stored for it. Only a POST uses it up, because mail scanners open links. (E-186)
 */
import type { StateDb } from "../../db/engine.ts";
import { plainAddress, signInMember, signInsOf } from "../accounts/members.ts";
import type { Tokens } from "../accounts/sealed.ts";
import { pageResponse } from "../browse/response.ts";
import { type EpochMs, MINUTE_MS } from "../text/instant.ts";
import { parseJson } from "../text/json-value.ts";

type LinkDeps = {
  state: StateDb;
  /** Encrypts and authenticates the contents of a link. */
  tokens: Tokens;
  now: () => EpochMs;
  randomBytes: (count: number) => Uint8Array;
  /** Mails the link of this path. */
  mail: (address: string, path: string) => Promise<void>;
  /** Called when more links are requested than a server mails. */
  onTooMany: () => void;
  onFailure: (error: unknown) => void;
};

type SignInLinks = {
  /** The same immediate response for every address; undefined if the text is not an address. */
  ask: (address: string, to: string) => Response | undefined;
  /** The page of a link, with a button. */
  show: (token: string) => Promise<Response>;
  /** Uses up a link. Returns the member's id and the page to return to, or an error page if the link is not valid. */
  use: (token: string) => Promise<{ id: string; to: string } | Response>;
};

/** How long a link works. */
const LINK_MS = 15 * MINUTE_MS;
/** An address is looked up this long after the response, at most twice as long, so that response times do not reveal who may sign in. */
const LATER_MS = 200;
/** The longest address of a page in a link. */
const TO_MAX = 500;
/** The most links that one server mails within the lifetime of a link: to one address, and in total. */
const [LINKS_MAX, LINKS_OF_ALL_MAX] = [3, 100];

export function createSignInLinks({ state, tokens, now, randomBytes, mail, onTooMany, onFailure }: LinkDeps): SignInLinks {
  const roomFor = linkLimits(now);
  const mailLink = async (address: string, to: string): Promise<void> => {
    await Bun.sleep(LATER_MS * (1 + (randomBytes(1)[0] ?? 0) / 256));
    const signIns = await signInsOf(state, address);
    if (signIns === undefined) return;
    const room = roomFor(address);
    if (room === "server is full") onTooMany();
    const link: Link = [address, now() + LINK_MS, signIns, to.length > TO_MAX ? "/" : to];
    if (room === "yes") await mail(address, `/sign-in/${tokens.make(JSON.stringify(link))}`);
  };
  const linkOf = (token: string): Link | undefined => {
    const link = parseJson(tokens.open(token) ?? "");
    return isLink(link) && link[1] > now() ? link : undefined;
  };
  return {
    ask: (given, to) => {
      const address = plainAddress(given);
      if (address === undefined) return undefined;
      void mailLink(address, to).catch(onFailure);
      return sentPage();
    },
    show: async (token) => {
      const [address = "", , signIns] = linkOf(token) ?? [];
      return signIns !== undefined && (await signInsOf(state, address)) === signIns ? linkPage(address, token) : usedPage();
    },
    use: async (token) => {
      const [address, , signIns, to] = linkOf(token) ?? [];
      if (address === undefined || signIns === undefined || to === undefined) return usedPage();
      const id = await signInMember(state, address, signIns, randomBytes, now());
      return id === undefined ? usedPage() : { id, to };
    },
  };
}

type Link = [address: string, until: EpochMs, signIns: number, to: string];

function isLink(value: unknown): value is Link {
  if (!Array.isArray(value) || value.length !== 4) return false;
  return ["string", "number", "number", "string"].every((type, n) => typeof value[n] === type);
}

/** Only addresses that may sign in are counted, so the memory is bounded by the total limit. */
function linkLimits(now: () => EpochMs): (address: string) => "yes" | "no" | "server is full" {
  let [period, total, sent] = [0, 0, new Map<string, number>()];
  return (address) => {
    const current = Math.floor(now() / LINK_MS);
    if (current !== period) [period, total, sent] = [current, 0, new Map()];
    const count = sent.get(address) ?? 0;
    if (count >= LINKS_MAX) return "no";
    if (total >= LINKS_OF_ALL_MAX) return "server is full";
    sent.set(address, count + 1);
    total++;
    return "yes";
  };
}

function sentPage(): Response {
  const body = (
    <>
      <h1>Look into your mailbox</h1>
      <p class="lead">If this address may sign in, a mail with a link is on its way. The link works once, within 15 minutes.</p>
      <p>
        Nothing came? Look into the spam folder, and check the address: only those that the operator of this server allows get a mail, and
        each at most three in 15 minutes. <a href="/sign-in">Try again</a>
      </p>
    </>
  );
  return pageResponse({ title: "Look into your mailbox", body });
}

function linkPage(address: string, token: string): Response {
  const body = (
    <>
      <h1>Sign in</h1>
      <p class="lead">
        You sign in as <strong>{address}</strong>, in this browser, for 30 days.
      </p>
      <form class="sign-in" method="post" action={`/sign-in/${token}`}>
        <button type="submit">Sign in</button>
      </form>
      <p class="quiet">Did you not ask for this? Then close this page: nothing happens without the button.</p>
    </>
  );
  return pageResponse({ title: "Sign in", body });
}

function usedPage(): Response {
  const body = (
    <>
      <h1>This link does not work anymore</h1>
      <p class="lead">A link works once, within 15 minutes, and only the newest sign-in counts.</p>
      <p>
        <a class="button" href="/sign-in">
          Get a new link
        </a>
      </p>
    </>
  );
  return pageResponse({ title: "This link does not work anymore", status: 410, body });
}
