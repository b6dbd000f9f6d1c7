/**
 * Every POST of members' pages. The reader only reads, and returns what a search matches now. Each action is one transaction on `watch.db`,
 * which is opened for it; while another program writes to it, the action waits, and other requests do not. (E-186)
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
import { sendToMember, watchesToStop } from "../watch/member-mail.ts";
import { addOwnWatch, changeOwn, follow, ownWatch } from "../watch/member-watches.ts";
import type { Message } from "../watch/message.ts";
import type { Watch, WatchDefinition } from "../watch/watch.ts";
import { FIELDS, readWatchForm } from "../watch/watch-form.ts";
import { mute, pause, removeWatch, resume, unmute, watchesOf } from "../watch/watches.ts";
import { type Arrival, type Forward, Refused } from "./admission.ts";
import { redirect, requireSameOrigin, safePath, unsubscribePage } from "./form-response.tsx";

export type MembersDeps = {
  watchDirectory: string;
  /** With the settings of mails to members. */
  machine: Pick<Machine, "env" | "now" | "randomBytes">;
  /** Called when more links are requested than a server mails. */
  onTooMany: () => void;
  onFailure: (error: unknown) => void;
};

export type MemberActions = ReturnType<typeof createMemberActions>;

type ActionDeps = MembersDeps & { access: Access; secret: Uint8Array; forward: Forward; originOf: (request: Request) => string };

type Act = { arrival: Arrival; owner: string; form: URLSearchParams; signal: AbortSignal };

const [BUSY_MAX_MS, BUSY_LOOK_MS] = [5000, 40];
const [TESTS_MAX, TESTS_MS] = [5, 15 * MINUTE_MS];
/** Most characters of a query, and of a value of a refused form that is shown again. */
const [QUERY_MAX, SHOWN_MAX] = [4000, 200];
const UNREADABLE = "The search could not be read. Try again in a moment.";

const PLAIN: Readonly<Record<string, (db: WatchDb, watch: Watch, form: URLSearchParams) => Promise<void>>> = {
  pause: (db, watch) => pause(db, watch, "you paused it"),
  resume,
  remove: removeWatch,
  unmute: (db, watch, form) => unmute(db, watch, form.get("id") ?? ""),
};

export function createMemberActions({ watchDirectory, machine, access, secret, forward, originOf }: ActionDeps) {
  const { now, randomBytes } = machine;
  const testsOf = new Map<string, EpochMs[]>();

  /** Opens watch.db for one action. Refuses with 503 if another program writes for too long. */
  const withWatches = async <T>(work: (db: WatchDb) => Promise<T>): Promise<T> => {
    for (let waited = 0; ; waited += BUSY_LOOK_MS) {
      try {
        await using db = openWatchesIn(watchDirectory, now(), { mode: "create", waitMs: 0 });
        return await work(db);
      } catch (error) {
        if (!isBusy(error)) throw error;
        if (waited >= BUSY_MAX_MS) throw new Refused(503, "Other changes are being stored. Try again in a moment.", { "Retry-After": "5" });
        await Bun.sleep(BUSY_LOOK_MS);
      }
    }
  };
  const watchOf = async (db: WatchDb, owner: string, name: string) => (await ownWatch(db, owner, name)) ?? gone();

  const ask = async ({ arrival, signal }: Act, path: string): Promise<unknown> => {
    const plain = { ...arrival, method: "GET", request: new Request(arrival.request.url) }; // Else it could be compressed.
    const response = await forward(path, plain, originOf(arrival.request), signal);
    return response.ok ? response.json() : undefined;
  };

  const startOf = async (act: Act, query: string, watch = ""): Promise<SearchStart> => {
    if (query.length > QUERY_MAX) return { refused: "The search is too long. Take fewer words or filters." };
    return ((await ask(act, `/watches${watch}/start?${query}`)) as SearchStart | undefined) ?? { refused: UNREADABLE };
  };

  const again = ({ arrival, form, signal }: Act, path: string, errors: ReadonlyMap<string, string>): Promise<Response> => {
    const given = Object.keys(FIELDS).flatMap((name) => {
      const value = form.get(name);
      return value === null ? [] : [[name, value.slice(0, name === "channel" ? CHANNEL_MAX : SHOWN_MAX).toWellFormed()]];
    });
    return forward(path, arrival, originOf(arrival.request), signal, formHeader({ given: Object.fromEntries(given), errors }));
  };

  const store = async (act: Act, action: "saved" | "edit" | "search", name = `w-${randomText(10, randomBytes)}`): Promise<Response> => {
    const { form, owner } = act;
    const query = form.get("query") ?? "";
    const path = `/watches/${action === "saved" ? "new" : name}`;
    const page = `${path}${action === "search" ? "/search" : ""}?${query.slice(0, QUERY_MAX)}`;
    const watch = action === "saved" ? undefined : await withWatches((db) => watchOf(db, owner, name));
    const context = { hosts: channelHosts(machine), receiver: watch?.definition.receiver, secret };
    const read = action === "search" ? { choices: {} } : readWatchForm(form, context);
    if ("errors" in read) return again(act, page, read.errors);
    const start = action === "edit" ? undefined : await startOf(act, query, watch && `/${name}`);
    if (start !== undefined && "refused" in start) return again(act, page, new Map([["", start.refused]]));
    const definition = { ...read.choices, ...(start && { all_sources: undefined, ...start.about }) } as WatchDefinition;
    const refused = await withWatches(async (db) => {
      if (watch === undefined && start !== undefined)
        return addOwnWatch(db, owner, name, definition, { at: now(), feed: start.feed, matched: start.ids });
      return (await changeOwn(db, owner, name, definition, start?.difference)) ? undefined : gone();
    });
    return refused === undefined ? redirect(`/watches/${name}?done=${action}`) : again(act, page, new Map([["", refused]]));
  };

  const change = async (act: Act, name: string): Promise<Response> => {
    const action = act.form.get("action") ?? "";
    if (action === "edit" || action === "search") return store(act, action, name);
    if (action === "test") return test(act, name);
    const work = Object.hasOwn(PLAIN, action) ? PLAIN[action] : undefined;
    if (work === undefined) throw new Refused(400, "There is no such action.");
    await withWatches(async (db) => work(db, await watchOf(db, act.owner, name), act.form));
    return redirect(`/watches${action === "remove" ? "" : `/${name}`}?done=${action}`);
  };

  const test = async (act: Act, name: string): Promise<Response> => {
    const recent = (testsOf.get(act.owner) ?? []).filter((at) => at > now() - TESTS_MS);
    if (recent.length >= TESTS_MAX) throw new Refused(429, `You sent ${TESTS_MAX} tests in 15 minutes. Wait a little.`);
    const watch = await withWatches((db) => watchOf(db, act.owner, name));
    testsOf.set(act.owner, [...recent, now()]);
    const message = (await ask(act, `/watches/${name}/test`)) as Message | undefined;
    if (message === undefined) throw new Refused(503, UNREADABLE);
    const sent = { watch, message: { id: message.id, body: JSON.stringify(message) } };
    try {
      await sendToMember([sent], message.id, { machine, state: access.db, secret }, AbortSignal.timeout(20_000));
      return redirect(`/watches/${name}?done=test`);
    } catch (error) {
      const field = watch.definition.receiver.to === "channel" ? "channel" : "";
      return again(act, `/watches/${name}`, new Map([[field, `The test was not sent. ${messageOf(error)}.`]]));
    }
  };

  const following = async (act: Act): Promise<Response> => {
    const { form, owner } = act;
    const [id, action, back] = [(form.get("id") ?? "").toLowerCase(), form.get("action") ?? "", safePath(form.get("back"))];
    if (!["follow", "unfollow", "mute", "unmute"].includes(action)) throw new Refused(400, "There is no such action.");
    const begins = !action.startsWith("un");
    const start = begins ? await startOf(act, `id=${encodeURIComponent(id)}`) : { ids: [], feed: null };
    if ("refused" in start || (begins && start.ids.length === 0)) throw new Refused(400, "There is no opportunity with this id.");
    const name = `f-${randomText(10, randomBytes)}`;
    const refused = await withWatches(async (db) => {
      if (action.endsWith("follow")) return follow(db, owner, id, begins, { name, at: now(), feed: start.feed });
      for (const watch of await watchesOf(db, owner)) await (begins ? mute(db, watch, id, now()) : unmute(db, watch, id));
      return undefined;
    });
    if (refused !== undefined) throw new Refused(409, refused);
    return redirect(back);
  };

  return {
    respond: async (arrival: Arrival, { id: owner }: KnownKey, body: Buffer, signal: AbortSignal): Promise<Response> => {
      requireSameOrigin(arrival.request);
      const act = { arrival, owner, form: new URLSearchParams(body.toString()), signal };
      if (arrival.path === "/watches") return store(act, "saved");
      if (arrival.path === "/follow") return following(act);
      const [, name] = /^\/watches\/([\w-]+)$/.exec(arrival.path) ?? [];
      return name === undefined ? gone() : change(act, name);
    },
    /** Responds to `/unsubscribe/TOKEN` without a sign-in, because RFC 8058 sends no cookie. */
    unsubscribe: async ({ method, path }: Arrival): Promise<Response> => {
      await updateAccess(access);
      const isUsable = ({ owner }: Watch) => owner === null || findUsableKey(access, owner, now()) !== undefined;
      const watches = await withWatches(async (db) => {
        const stopped = (await watchesToStop(db, secret, path.slice("/unsubscribe/".length))).filter(isUsable);
        if (method === "POST") for (const watch of stopped) await pause(db, watch, "you stopped these mails"); // The body of RFC 8058 adds nothing.
        return stopped;
      });
      if (method !== "GET" && method !== "POST") throw new Refused(405, "Send GET or POST.", { Allow: "GET, HEAD, POST" });
      const titles = watches.map(({ name, definition }) => definition.title ?? name);
      return unsubscribePage(path, method === "POST" ? [] : titles);
    },
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && /database is locked|SQLITE_BUSY/.test(`${error.message} ${error.cause}`);
}

function gone(): never {
  throw new Refused(404, "There is no such watch of yours.");
}
