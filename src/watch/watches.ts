/** The watches that are stored: adding, finding, changing, pausing and removing them. */
import { and, eq, sql } from "drizzle-orm";
import type { WatchDb, WatchSql } from "../../db/engine.ts";
import { deleteFrom, insertInto, pick, query, type RowsOf, select, update } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { muted, pending, watches } from "../../db/schema/sqlite/watch.ts";
import type { FeedPosition } from "../events/feed.ts";
import { storedFilter } from "../filter/filter.ts";
import type { EpochMs } from "../text/instant.ts";
import { addMembers, clearMembers, moveOn, removeMembers } from "./position.ts";
import { isDigest, type Watch, type WatchDefinition } from "./watch.ts";

const stored = pick(watches, "key", "name", "created_at", "definition");
const all = query({}, () => select(stored).from(watches).orderBy(watches.name));
const byName = query({ name: watches.name }, ({ name }) => select(stored).from(watches).where(eq(watches.name, name)));
const byKey = query({ key: watches.key }, ({ key }) => select(stored).from(watches).where(eq(watches.key, key)));
const insert = insertInto(watches, { key: "key" });
const remove = query({ key: watches.key }, ({ key }) => deleteFrom(watches).where(eq(watches.key, key)));
const setDefinition = query(pick(watches, "key", "definition"), ({ key, definition }) =>
  update(watches).set({ definition }).where(eq(watches.key, key)),
);
const setPaused = query(pick(watches, "key", "paused"), ({ key, paused }) => update(watches).set({ paused }).where(eq(watches.key, key)));
const removePending = query({ watch: pending.watch }, ({ watch }) => deleteFrom(pending).where(eq(pending.watch, watch)));
const mutedOf = query({ watch: muted.watch }, ({ watch }) =>
  select(pick(muted, "id", "muted_at"))
    .from(muted)
    .where(eq(muted.watch, watch))
    .orderBy(muted.muted_at, muted.id),
);
const insertMuted = insertInto(muted);
const removeMuted = query(pick(muted, "watch", "id"), ({ watch, id }) =>
  deleteFrom(muted).where(and(eq(muted.watch, watch), eq(muted.id, id))),
);
/** Makes the message on its way due, whatever failed before. */
const makeDue = query({ watch: pending.watch }, ({ watch }) =>
  update(pending).set({ at: null, wait_ms: 0, failing_ms: 0 }).where(eq(pending.watch, watch)),
);
/** SQLite keeps the largest key that a table ever had, so a key is never given again. */
const countKey = query({}, () => sql<never>`update sqlite_sequence set seq = seq + 1 where name = 'watches'`);
const setKey = query(
  { key: watches.key },
  ({ key }) =>
    sql<{
      key: number;
    }>`update ${watches} set key = (select seq from sqlite_sequence where name = 'watches') where key = ${key} returning key`,
);

/** All watches by name. */
export async function listWatches(db: WatchDb): Promise<Watch[]> {
  return (await db.all(all)).map(watchOf);
}

export async function findWatch(db: WatchDb, name: string): Promise<Watch | undefined> {
  const row = await db.get(byName, { name });
  return row && watchOf(row);
}

/** The watch of this name. Throws if there is none. */
export async function requireWatch(db: WatchDb, name: string): Promise<Watch> {
  const watch = await findWatch(db, name);
  if (watch === undefined) throw new Failure(`Cannot find a watch ${name}; fundfeed watch list shows the ones that exist`);
  return watch;
}

function watchOf({ definition, ...row }: RowsOf<typeof all>): Watch {
  const { filter, ...others } = JSON.parse(definition) as WatchDefinition;
  return { ...row, definition: { ...others, filter: storedFilter(filter) } };
}

/** Stores a new watch with the opportunities that match already. Returns false if there is one with this name. */
export async function addWatch(
  db: WatchDb,
  { name, created_at, definition }: Omit<Watch, "key">,
  feed: FeedPosition,
  members: readonly string[],
): Promise<boolean> {
  return db.transaction(async (sql) => {
    if ((await sql.get(byName, { name })) !== undefined) return false;
    const key = await sql.insert(insert, {
      name,
      created_at,
      definition: JSON.stringify(definition),
      feed_seq: feed?.seq ?? null,
      feed_id: feed?.id ?? null,
      checked_at: created_at,
      delivered_at: null,
      delivered_total: 0,
      failed_total: 0,
      paused: null,
    });
    await addMembers(sql, key, members);
    return true;
  });
}

/** Removes a watch with all that is stored of it. */
export async function removeWatch(db: WatchDb, { key }: Watch): Promise<void> {
  await db.run(remove, { key });
}

/** An opportunity of which a watch reports nothing, and since when. */
export type Muted = { id: string; muted_at: EpochMs };

/** What is muted in a watch, the oldest first. */
export async function listMuted(db: WatchDb, { key }: Watch): Promise<Muted[]> {
  return db.all(mutedOf, { watch: key });
}

/** Mutes an opportunity in a watch. Returns false if it is muted already, or if the watch was removed or changed since it was read. */
export async function mute(db: WatchDb, { key }: Watch, id: string, now: EpochMs): Promise<boolean> {
  return db.transaction(async (sql) => {
    const isThere = (await sql.get(byKey, { key })) !== undefined;
    if (!isThere || (await sql.all(mutedOf, { watch: key })).some((each) => each.id === id)) return false;
    await sql.run(insertMuted, { watch: key, id, muted_at: now });
    return true;
  });
}

/** Ends that an opportunity is muted in a watch. */
export async function unmute(db: WatchDb, { key }: Watch, id: string): Promise<void> {
  await db.run(removeMuted, { watch: key, id });
}

/** Pauses a watch until `resume`. */
export async function pause(db: WatchDb, { key }: Watch, reason: string): Promise<void> {
  await db.run(setPaused, { key, paused: reason });
}

/** Ends a pause. The message on its way is due at once. */
export async function resume(db: WatchDb, { key }: Watch): Promise<void> {
  await db.transaction(async (sql) => {
    await sql.run(setPaused, { key, paused: null });
    await sql.run(makeDue, { watch: key });
  });
}

/**
 * Ends a pause at another position, without the message on its way. Returns false if the watch was removed or changed since it was read.
 */
export async function resumeAt(
  db: WatchDb,
  { key: former }: Watch,
  feed: FeedPosition,
  members: readonly string[],
  now: EpochMs,
): Promise<boolean> {
  return db.transaction(async (sql) => {
    await sql.run(removePending, { watch: former });
    await clearMembers(sql, former);
    const key = await renewKey(sql, former);
    if (key === undefined) return false;
    await addMembers(sql, key, members);
    await moveOn(sql, key, feed, now);
    await sql.run(setPaused, { key, paused: null });
    return true;
  });
}

/**
 * Gives a watch another definition. It keeps its position, and its receiver is not told what the change of its filter adds or removes. With
 * "all", its receiver gets everything that matches once more. Returns false if the watch was removed or changed since it was read.
 */
export async function changeWatch(
  db: WatchDb,
  { key: former, definition }: Watch,
  difference: { joining: readonly string[]; leaving: readonly string[] } | "all",
): Promise<boolean> {
  return db.transaction(async (sql) => {
    const row = await sql.get(byKey, { key: former });
    const key = await renewKey(sql, former);
    if (row === undefined || key === undefined) return false;
    const before = watchOf(row).definition;
    await sql.run(setDefinition, { key, definition: JSON.stringify(definition) });
    if (difference === "all") await clearMembers(sql, key);
    else {
      await addMembers(sql, key, difference.joining);
      await removeMembers(sql, key, difference.leaving);
    }
    // A digest lacks what it only counts, so a receiver of every item gets other messages from the same position.
    if (difference === "all" || (isDigest(before) && !isDigest(definition))) await sql.run(removePending, { watch: key });
    else if (!Bun.deepEquals(before.receiver, definition.receiver)) await sql.run(makeDue, { watch: key });
    return true;
  });
}

/**
 * Gives a watch another key, so that a run under way only stores the result of the message that it is sending, and does nothing else to the
 * watch. Returns undefined if the watch was removed, or got another key, since it was read.
 */
async function renewKey(sql: WatchSql, former: number): Promise<number | undefined> {
  await sql.run(countKey);
  return (await sql.get(setKey, { key: former }))?.key;
}
