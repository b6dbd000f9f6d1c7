/**
 * Links that sign members in. A link has the address, its expiry, and how often the address has signed in, so it works once, on any server, and
 * nothing is stored for it. Only a POST uses it up, because mail scanners open links. (E-186)
 */
import type { StateDb } from "../../db/engine.ts";
import { plainAddress, signInMember, signInsOf } from "../accounts/members.ts";
import type { Tokens } from "../accounts/sealed.ts";
import { type EpochMs, MINUTE_MS } from "../text/instant.ts";
import type { MembersDeps } from "./member-actions.ts";

type LinkDeps = Omit<MembersDeps, "watchDirectory"> & { state: StateDb; tokens: Tokens };

export type SignInLinks = ReturnType<typeof createSignInLinks>;

type Link = [address: string, until: EpochMs, signIns: number, to: string];

const LINK_MS = 15 * MINUTE_MS;
/** An address is looked up this long after the response, at most twice as long, so that response times do not reveal who may sign in. */
const LATER_MS = 200;
const TO_MAX = 500;
/** The most links that one server mails within the lifetime of a link: to one address, and in total. */
const [LINKS_MAX, LINKS_OF_ALL_MAX] = [3, 100];

export function createSignInLinks({ state, tokens, machine, onTooMany, onFailure }: LinkDeps) {
  const { now, randomBytes } = machine;
  /** To whom links were mailed in a period. Only addresses that may sign in are in it, so the total bounds it. */
  let mailed = { period: 0, addresses: [] as string[] };
  const mailLater = async (address: string, to: string): Promise<void> => {
    await Bun.sleep(LATER_MS * (1 + (randomBytes(1)[0] ?? 0) / 256));
    const signIns = await signInsOf(state, address);
    if (signIns === undefined) return;
    const period = Math.floor(now() / LINK_MS);
    if (period !== mailed.period) mailed = { period, addresses: [] };
    if (mailed.addresses.filter((each) => each === address).length >= LINKS_MAX) return;
    if (mailed.addresses.length >= LINKS_OF_ALL_MAX) return onTooMany();
    mailed.addresses.push(address);
    const link: Link = [address, now() + LINK_MS, signIns, to.length > TO_MAX ? "/" : to];
    const { mailLink } = await import("./sign-in-mail.tsx");
    await mailLink(machine, address, `/sign-in/${tokens.make(JSON.stringify(link))}`);
  };
  const linkOf = (token: string): Link | undefined => {
    const link: Link | null = JSON.parse(tokens.open(token) ?? "null");
    return link !== null && link[1] > now() ? link : undefined;
  };
  return {
    /** Returns at once, and the same for every address: whether the text is one. */
    ask: (given: string, to: string): boolean => {
      const address = plainAddress(given);
      if (address !== undefined) void mailLater(address, to).catch(onFailure);
      return address !== undefined;
    },
    addressOf: async (token: string): Promise<string | undefined> => {
      const [address = "", , signIns] = linkOf(token) ?? [];
      return signIns !== undefined && (await signInsOf(state, address)) === signIns ? address : undefined;
    },
    /** Uses up a link. Returns the member's id and the page to return to; undefined if it does not work. */
    use: async (token: string): Promise<{ id: string; to: string } | undefined> => {
      const [address, , signIns, to] = linkOf(token) ?? [];
      if (address === undefined || signIns === undefined || to === undefined) return undefined;
      const id = await signInMember(state, address, signIns, machine);
      return id === undefined ? undefined : { id, to };
    },
  };
}
