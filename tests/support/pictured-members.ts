/** The pages and mails of members for the pictures: sign-in, watches with few and with everything, what they follow, and the end of mails. */
import type { CatalogDb, StateDb, WatchDb } from "../../db/engine.ts";
import { openWatchesIn } from "../../db/open.ts";
import { openState } from "../../db/sqlite/open.ts";
import { allowMembers } from "../../src/accounts/members.ts";
import type { Tokens } from "../../src/accounts/sealed.ts";
import { FORM_HEADER, MEMBER_HEADER } from "../../src/browse/page.ts";
import { formHeader } from "../../src/browse/watch-fields.tsx";
import { latestPosition } from "../../src/events/feed.ts";
import type { SearchFile } from "../../src/search/search-file.ts";
import { type Admission, arrivalOf } from "../../src/team/admission.ts";
import { unsubscribePage } from "../../src/team/form-response.tsx";
import { createSignIn } from "../../src/team/sign-in.tsx";
import { createSignInLinks } from "../../src/team/sign-in-link.ts";
import { signInMail } from "../../src/team/sign-in-mail.tsx";
import { matchingIds } from "../../src/watch/matching.ts";
import { addOwnWatch, follow, ownWatch } from "../../src/watch/member-watches.ts";
import { type MessageCounts, NOTHING_COUNTED } from "../../src/watch/message.ts";
import { accept, storeAttempts, storePending } from "../../src/watch/pending.ts";
import type { Watch, WatchDefinition } from "../../src/watch/watch.ts";
import { readWatchForm } from "../../src/watch/watch-form.ts";
import { mute, pause } from "../../src/watch/watches.ts";
import { aDirectory, DAY } from "./imports.ts";

const [FEW, MANY] = ["member-few", "member-many"];

type Watching = { data: string; catalog: CatalogDb; index: SearchFile; now: number };

/** Fills `watch.db` of a directory: one member has one watch, another one watches of every kind and follows `followed`. */
export async function watchesOfMembers({ data, catalog, index, now }: Watching, followed: readonly string[]): Promise<void> {
  const db = openWatchesIn(data, now, { mode: "create" });
  const feed = await latestPosition(catalog);
  const add = async (owner: string, name: string, fields: Partial<WatchDefinition>): Promise<Watch> => {
    const definition: WatchDefinition = {
      filter: {},
      at_least: "material",
      zone: "America/New_York",
      receiver: { to: "member" },
      ...fields,
    };
    const matched = await matchingIds(catalog, index, definition, now);
    const refused = await addOwnWatch(db, owner, name, definition, { at: now - 30 * DAY, feed, matched });
    const watch = await ownWatch(db, owner, name);
    if (watch === undefined) throw new Error(`Cannot add ${name}: ${refused}`);
    return watch;
  };
  const sent = async (watch: Watch, days: number, counts: Partial<MessageCounts>) => {
    const id = await plan(db, watch, now - days * DAY, counts);
    await accept(db, [id], null, now - days * DAY);
  };
  const words = (text: string) => ({ filter: { words: text, status: ["open" as const] } });
  await add(FEW, "w-coast", { title: "Coastal research", ...words("coast") });

  const all = await add(MANY, "w-all", { title: "Quantum and sensing", ...words("research"), every: "monday 08:00", remind: [14, 3] });
  for (const [days, counts] of [
    [22, { new: 3, changed: 1 }],
    [15, { changed: 4, due: 2 }],
    [8, { new: 1, changed: 2, due: 1, left: 2 }],
  ] as const)
    await sent(all, days, counts);
  await mute(db, all, followed[0] ?? "", now - 5 * DAY);
  await pause(db, await add(MANY, "w-paused", { title: "Bridges and ports", ...words("bridge") }), "you paused it");
  const refused = await add(MANY, "w-refused", {
    title: "Grants for tribes",
    filter: { applicant: ["tribe"] },
    every: "day 17:30",
    zone: "America/Denver",
  });
  const id = await plan(db, refused, now - DAY / 4, { changed: 1 });
  const error = "mail.uni.example refused the recipient: it returned 550 5.1.1 no such user";
  await storeAttempts(db, id, { count: 2, at: now - DAY / 8, wait_ms: DAY / 4, failing_ms: DAY / 8, error }, null);
  await add(MANY, "w-everything", {
    title: "Everything that is announced by any agency, with each source's own record",
    all_sources: true,
  });
  await add(MANY, "w-none", { title: "Xyzzyx", ...words("xyzzyx") });
  for (const [n, id] of followed.entries()) await follow(db, MANY, id, true, { name: "f-many", at: now - n * DAY, feed });
  await db.close();
}

/** Stores a message of a watch that says nothing but these counts. */
async function plan(db: WatchDb, watch: Watch, at: number, counts: Partial<MessageCounts>): Promise<string> {
  const id = `${watch.name}-${at}`;
  const message = { id, created_at: at, oldest_at: at, body: "{}", counts: { ...NOTHING_COUNTED, ...counts }, feed: null, checked_at: at };
  await storePending(db, watch, { ...message, joining: [], leaving: [], reminding: [] });
  return id;
}

type Get = (path: string, headers: Record<string, string>) => Promise<string>;

/** The pages that the reader makes for members, by name. */
export function pagesOfMembers(
  get: Get,
  opportunity: string,
  followed: string,
): readonly (readonly [name: string, html: Promise<string>])[] {
  /** A page, or one with a form that was refused: for a reason, or for what was typed. */
  const of = (member: string, path: string, sent?: Record<string, string>, reason?: string) =>
    get(path, { [MEMBER_HEADER]: member, ...(sent && { [FORM_HEADER]: formHeader({ given: sent, errors: errorsOf(sent, reason) }) }) });
  const choices = { when: "monday", time: "09:00", zone: "America/Chicago", at_least: "material" };
  const wrong = { ...choices, title: "", zone: "Mars/Base", remind: "two weeks" };
  return [
    ["find-as-member", of(MANY, "/?words=research&status=open")],
    ["opportunity-as-member", of(FEW, opportunity)],
    ["opportunity-followed", of(MANY, followed)],
    ["watches-empty", of("member-none", "/watches")],
    ["watches-few", of(FEW, "/watches?done=remove")],
    ["watches-many", of(MANY, "/watches")],
    ["watch-new", of(FEW, "/watches/new?words=coast&status=open")],
    ["watch-new-refused", of(FEW, "/watches/new?words=coast&status=open", wrong)],
    [
      "watch-new-one-too-many",
      of(
        FEW,
        "/watches/new?words=coast",
        { ...choices, title: "One more", remind: "" },
        "You have 20 watches, which is the most. Remove one first.",
      ),
    ],
    ["watch-saved", of(FEW, "/watches/w-coast?done=saved")],
    ["watch-with-everything", of(MANY, "/watches/w-all")],
    ["watch-paused", of(MANY, "/watches/w-paused?done=pause")],
    ["watch-not-accepted", of(MANY, "/watches/w-refused")],
    ["watch-edit-refused", of(MANY, "/watches/w-all", wrong)],
    ["watch-search", of(MANY, "/watches/w-all/search?words=coast&status=open")],
    ["watch-search-wrong", of(MANY, "/watches/w-all/search?naics=x")],
    ["following", of(MANY, "/following")],
    ["following-empty", of("member-none", "/following")],
    ["following-mails", of(MANY, "/watches/f-many")],
  ];
}

/** Hides nothing, so that a page is the same in every run. */
const plainTokens: Tokens = {
  make: (text) => Buffer.from(text).toString("base64url"),
  open: (text) => Buffer.from(text, "base64url").toString(),
};
const admitAll: Admission = async (arrival, { work }) =>
  work(Buffer.from(await arrival.request.arrayBuffer()), new AbortController().signal);

/** The pages of the sign-in by mail, and of the end of mails, by name. */
export async function pagesOfSignIn(origin: string, now: number): Promise<(readonly [name: string, response: Response])[]> {
  const state = openState(aDirectory(), now);
  await allowMembers(state, ["jordan.lee@uni.example"], now);
  const mailed = Promise.withResolvers<void>();
  const signIn = signInWith(state, now, mailed.resolve);
  const respond = (path: string, form?: Record<string, string>) => {
    const sent = form && { method: "POST", body: new URLSearchParams(form), headers: { "sec-fetch-site": "same-origin" } };
    return signIn.respond(arrivalOf(new Request(origin + path, sent)));
  };
  const link = (address: string) => `/sign-in/${plainTokens.make(JSON.stringify([address, now + 60_000, 0, "/"]))}`;
  const titles = ["Quantum and sensing", "Grants for tribes"];
  const pages = [
    ["sign-in-by-mail", await respond("/sign-in")],
    ["sign-in-no-address", await respond("/sign-in", { address: "jordan.lee" })],
    ["sign-in-sent", await respond("/sign-in", { address: "jordan.lee@uni.example" })],
    ["sign-in-invited", await respond(link("jordan.lee@uni.example"))],
    ["sign-in-used-link", await respond(link("nobody@uni.example"))],
    ["unsubscribe", unsubscribePage("/unsubscribe/token", titles)],
    ["unsubscribed", unsubscribePage("/unsubscribe/token")],
  ] as const;
  await mailed.promise; // The address is looked up after the response.
  await state.close();
  return [...pages];
}

/** `onFailure` is called as there is no mail server. */
function signInWith(state: StateDb, now: number, onFailure: () => void) {
  const machine = { env: {}, now: () => now, randomBytes: (count: number) => new Uint8Array(count) };
  const links = createSignInLinks({ state, tokens: plainTokens, machine, onTooMany: onFailure, onFailure });
  const access = undefined as never; // Only a key is looked up in it.
  return createSignIn({ access, sessions: plainTokens, now: () => now, isSecure: true, admit: admitAll, links });
}

export function mailWithLink(origin: string): string {
  return signInMail(origin, `${origin}/sign-in/${"x4Zq".repeat(30)}`).html;
}

function errorsOf(sent: Record<string, string>, reason: string | undefined): ReadonlyMap<string, string> {
  if (reason !== undefined) return new Map([["", reason]]);
  const read = readWatchForm(new URLSearchParams(sent), { hosts: [], receiver: undefined, secret: new Uint8Array(32) });
  if (!("errors" in read)) throw new Error("The form must be refused");
  return read.errors;
}
