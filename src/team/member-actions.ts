/**
 * Actions of members: every POST of their pages. They are handled here, in the process that listens. The reader only reads, and returns what a
 * search matches now. Each action is one transaction on `watch.db`, which is opened for it. While another program writes to that file, the
 * action waits without making requests wait. (E-186)
 */
import type { WatchDb } from "../../db/engine.ts";
import { openWatchesIn } from "../../db/open.ts";
import { messageOf } from "../../db/reason.ts";
import { type Access, findUsableKey, type KnownKey, updateAccess } from "../accounts/access.ts";
import { randomText } from "../accounts/key.ts";
import type { SearchStart } from "../browse/member-pages.tsx";
import { formHeader } from "../browse/watch-fields.tsx";
import type { Machine } from "../runtime/machine.ts";
import { type EpochMs, MINUTE_MS } from "../text/instant.ts";
import { CHANNEL_MAX, channelHosts } from "../watch/member-channel.ts";
import { memberMailing, sendToMember, watchesToStop } from "../watch/member-mail.ts";
import { addOwnWatch, changeOwn, follow, ownWatch } from "../watch/member-watches.ts";
import { newMessageId } from "../watch/run.ts";
import { handToServer } from "../watch/smtp.ts";
import type { WatchDefinition } from "../watch/watch.ts";
import { readWatchForm, receiverOf } from "../watch/watch-form.ts";
import { mute, pause, removeWatch, resume, unmute, watchesOf } from "../watch/watches.ts";
import { type Arrival, type Forward, Refused } from "./admission.ts";
import { isSameOrigin, redirect, safePath } from "./form-response.ts";

export type MembersDeps = {
  watchDirectory: string;
  /** With the settings of mails to members. */
  machine: Pick<Machine, "env" | "now" | "randomBytes">;
  randomBytes: (count: number) => Uint8Array;
  onTooMany: () => void;
  onFailure: (error: unknown) => void;
};

export type MemberActions = {
  /** Responds to a form of a member. */
  respond: (arrival: Arrival, key: KnownKey, body: Buffer, signal: AbortSignal) => Promise<Response>;
  /** Responds to `/unsubscribe/TOKEN` without a sign-in, because RFC 8058 sends no cookie. */
  unsubscribe: (arrival: Arrival) => Promise<Response>;
};

type ActionDeps = MembersDeps & {
  access: Access;
  secret: Uint8Array;
  now: () => EpochMs;
  forward: Forward;
  originOf: (request: Request) => string;
};

/** A form of a member, and its handler. */
type Act = { arrival: Arrival; key: KnownKey; form: URLSearchParams; signal: AbortSignal };

/** How long an action waits for another writer, and how often it looks. */
const [BUSY_MAX_MS, BUSY_LOOK_MS] = [5000, 40];
/** Test mails of one member in 15 minutes. */
const TESTS_MAX = 5;
/** The fields of a form that is shown again. */
const SHOWN = ["title", "to", "channel", "when", "time", "zone", "at_least", "remind"];
/** Most characters of a query, and of a value of a refused form that is shown again. */
const [QUERY_MAX, SHOWN_MAX] = [4000, 200];
/** Why a watch is paused, for the reasons that members cause. */
const [PAUSED, UNSUBSCRIBED] = ["you paused it", "you stopped these mails"];
const UNREADABLE = "The search could not be read. Try again in a moment.";

/** Returns a function that mails a link. Failures are reported without the address. */
export function linkMailer({ machine }: MembersDeps): (address: string, path: string) => Promise<void> {
  return async (address, path) => {
    const mailing = memberMailing(machine);
    const { signInMail } = await import("./sign-in-mail.tsx");
    const mail = signInMail(mailing.origin, mailing.origin + path);
    const stop = new AbortController().signal;
    const about = { mail_to: address, to: "who asked for a link", id: newMessageId(machine), date: machine.now() };
    await handToServer({ ...mailing, ...about, ...mail }, machine, stop);
  };
}

export function createMemberActions({ watchDirectory, machine, access, secret, now, forward, originOf }: ActionDeps): MemberActions {
  const testsOf = new Map<string, EpochMs[]>();

  /** Opens watch.db for one action. Refuses with 503 if another program writes for too long. */
  const withWatches = async <T>(work: (db: WatchDb) => Promise<T>): Promise<T> => {
    for (let waited = 0; ; waited += BUSY_LOOK_MS) {
      try {
        const db = openWatchesIn(watchDirectory, now(), { mode: "create", waitMs: 0 });
        try {
          return await work(db);
        } finally {
          await db.close();
        }
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (waited >= BUSY_MAX_MS) throw new Refused(503, "Other changes are being stored. Try again in a moment.", { "Retry-After": "5" });
        await Bun.sleep(BUSY_LOOK_MS);
      }
    }
  };

  /** The reader's response to a path, uncompressed. */
  const ask = ({ arrival, signal }: Act, path: string): Promise<Response> =>
    forward(path, { ...arrival, method: "GET", request: new Request(arrival.request.url) }, originOf(arrival.request), signal);

  const startOf = async (act: Act, query: string): Promise<SearchStart> => {
    if (query.length > QUERY_MAX) return { refused: "The search is too long. Take fewer words or filters." };
    const response = await ask(act, `/watches/start?${query}`);
    return response.ok ? ((await response.json()) as SearchStart) : { refused: UNREADABLE };
  };

  /** The page of the form with what was typed, and why it was refused. */
  const again = async ({ arrival, form, signal }: Act, path: string, refused: string | ReadonlyMap<string, string>): Promise<Response> => {
    const shown = SHOWN.flatMap((name) => {
      const value = form.get(name);
      return value === null ? [] : [[name, value.slice(0, name === "channel" ? CHANNEL_MAX : SHOWN_MAX).toWellFormed()]];
    });
    const refusals = typeof refused === "string" ? new Map([["", refused]]) : refused;
    return forward(path, arrival, originOf(arrival.request), signal, formHeader(Object.fromEntries(shown), refusals));
  };

  const save = async (act: Act): Promise<Response> => {
    const { form, key } = act;
    const query = form.get("query") ?? "";
    const page = `/watches/new?${query.slice(0, QUERY_MAX)}`;
    const read = readWatchForm(form, { hosts: channelHosts(machine), receiver: undefined });
    if ("refusals" in read) return again(act, page, read.refusals);
    const start = await startOf(act, query);
    if ("refused" in start) return again(act, page, start.refused);
    const { filter, all_sources, ids, feed } = start;
    const receiver = receiverOf(read.place, undefined, secret);
    const definition: WatchDefinition = { filter, ...(all_sources && { all_sources }), ...read.choices, receiver };
    const name = `w-${randomText(10, machine.randomBytes)}`;
    const refused = await withWatches((db) => addOwnWatch(db, key.id, name, definition, { at: now(), feed, matched: ids }));
    return refused === undefined ? redirect(`/watches/${name}?done=saved`) : again(act, page, refused);
  };

  const edit = async (act: Act, name: string): Promise<Response> => {
    const watch = await withWatches((db) => ownWatch(db, act.key.id, name));
    const read = readWatchForm(act.form, { hosts: channelHosts(machine), receiver: watch?.definition.receiver });
    if (watch !== undefined && "refusals" in read) return again(act, `/watches/${name}`, read.refusals);
    if (watch === undefined || "refusals" in read) return gone();
    const isThere = await withWatches((db) =>
      changeOwn(db, act.key.id, name, ({ remind: _, every: __, ...kept }) => ({
        definition: { ...kept, receiver: receiverOf(read.place, kept.receiver, secret), ...read.choices },
      })),
    );
    return isThere ? redirect(`/watches/${name}?done=changed`) : gone();
  };

  const editSearch = async (act: Act, name: string): Promise<Response> => {
    const query = act.form.get("query") ?? "";
    const page = `/watches/${name}/search?${query.slice(0, QUERY_MAX)}`;
    const start = await startOf(act, `${query}&of=${name}`);
    if ("refused" in start) return again(act, page, start.refused);
    const isThere = await withWatches((db) =>
      changeOwn(db, act.key.id, name, ({ filter: _, all_sources: __, ...kept }) => ({
        definition: { ...kept, filter: start.filter, ...(start.all_sources && { all_sources: true as const }) },
        difference: start.difference,
      })),
    );
    return isThere ? redirect(`/watches/${name}?done=changed`) : gone();
  };

  const change = async (act: Act, name: string): Promise<Response> => {
    const { form, key } = act;
    const action = form.get("action") ?? "";
    if (action === "edit") return edit(act, name);
    if (action === "search") return editSearch(act, name);
    if (action === "test") return test(act, name);
    return withWatches(async (db) => {
      const watch = await ownWatch(db, key.id, name);
      if (watch === undefined) return gone();
      if (action === "pause") await pause(db, watch, PAUSED);
      else if (action === "resume") await resume(db, watch);
      else if (action === "remove") await removeWatch(db, watch);
      else if (action === "unmute") await unmute(db, watch, form.get("id") ?? "");
      else throw new Refused(400, "There is no such action.");
      return redirect(action === "remove" ? "/watches?done=removed" : `/watches/${name}?done=${action}`);
    });
  };

  const test = async (act: Act, name: string): Promise<Response> => {
    const { key } = act;
    const recent = (testsOf.get(key.id) ?? []).filter((at) => at > now() - 15 * MINUTE_MS);
    if (recent.length >= TESTS_MAX) throw new Refused(429, `You sent ${TESTS_MAX} tests in 15 minutes. Wait a little.`);
    const watch = await withWatches((db) => ownWatch(db, key.id, name));
    if (watch === undefined) return gone();
    testsOf.set(key.id, [...recent, now()]);
    const response = await ask(act, `/watches/test?name=${name}`);
    const body = await response.text();
    if (!response.ok) throw new Refused(503, UNREADABLE);
    try {
      const { id } = JSON.parse(body) as { id: string };
      const sending = { machine, state: access.db, secret };
      await sendToMember([{ watch, message: { id, body } }], id, sending, AbortSignal.timeout(20_000));
      return redirect(`/watches/${name}?done=test`);
    } catch (error) {
      const field = watch.definition.receiver.to === "channel" ? "channel" : "";
      return again(act, `/watches/${name}`, new Map([[field, `The test was not sent. ${messageOf(error)}.`]]));
    }
  };

  const following = async (act: Act): Promise<Response> => {
    const { form, key } = act;
    const [id, action, back] = [(form.get("id") ?? "").toLowerCase(), form.get("action") ?? "", safePath(form.get("back"))];
    const start = await startOf(act, `id=${encodeURIComponent(id)}`);
    const isLeaving = action === "unfollow" || action === "unmute";
    if ("refused" in start || (start.ids.length === 0 && !isLeaving)) throw new Refused(400, "There is no opportunity with this id.");
    if (action === "mute" || action === "unmute") {
      await withWatches(async (db) => {
        for (const watch of await watchesOf(db, key.id)) await (action === "mute" ? mute(db, watch, id, now()) : unmute(db, watch, id));
      });
      return redirect(back);
    }
    if (action !== "follow" && action !== "unfollow") throw new Refused(400, "There is no such action.");
    const name = `f-${randomText(10, machine.randomBytes)}`;
    const refused = await withWatches((db) => follow(db, key.id, id, action === "follow", { name, at: now(), feed: start.feed }));
    if (refused !== undefined) throw new Refused(409, refused);
    return redirect(back);
  };

  const respond: MemberActions["respond"] = async (arrival, key, body, signal) => {
    if (!isSameOrigin(arrival.request.headers)) throw new Refused(403, "Open this page of the server itself, and send its form.");
    const act = { arrival, key, form: new URLSearchParams(body.toString()), signal };
    if (arrival.path === "/watches") return save(act);
    if (arrival.path === "/follow") return following(act);
    const [, name] = /^\/watches\/([\w-]+)$/.exec(arrival.path) ?? [];
    return name === undefined ? gone() : change(act, name);
  };

  const unsubscribe: MemberActions["unsubscribe"] = async ({ method, path }) => {
    await updateAccess(access);
    const isUsable = (owner: string | null) => owner === null || findUsableKey(access, owner, now()) !== undefined;
    const watches = await withWatches(async (db) => {
      const stopped = (await watchesToStop(db, secret, path.slice("/unsubscribe/".length))).filter(({ owner }) => isUsable(owner));
      if (method === "POST") for (const watch of stopped) await pause(db, watch, UNSUBSCRIBED); // The body, "List-Unsubscribe=One-Click", adds nothing to the path.
      return stopped;
    });
    const { unsubscribePage } = await import("./unsubscribe-page.tsx");
    if (method === "POST") return unsubscribePage(path);
    if (method !== "GET") throw new Refused(405, "Send GET or POST.", { Allow: "GET, HEAD, POST" });
    const titles = watches.map(({ name, definition }) => definition.title ?? name);
    return unsubscribePage(path, titles);
  };
  return { respond, unsubscribe };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && /database is locked|SQLITE_BUSY/.test(`${error.message} ${error.cause}`);
}

function gone(): never {
  throw new Refused(404, "There is no such watch of yours.");
}
