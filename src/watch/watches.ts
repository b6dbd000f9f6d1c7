/** The watches that are stored: adding, finding, changing, pausing and removing them. (E-77) */
import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";
import type { WatchDb, WatchSql } from "../../db/engine.ts";
import { deleteBy, insertInto, pick, query, type RowsOf, select, selectFrom, selectSome, update, updateBy } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { muted, pending, watches } from "../../db/schema/sqlite/watch.ts";
import type { FeedPosition } from "../events/feed.ts";
import { storedFilter } from "../filter/filter.ts";
import type { EpochMs } from "../text/instant.ts";
import { addMatched, clearMatched, moveOn, removeMatched } from "./position.ts";
import { isDigest, type Watch, type WatchDefinition } from "./watch.ts";

const stored = ["key", "name", "created_at", "definition", "owner"] as const;
const all = query({}, () => selectFrom(watches, ...stored).orderBy(watches.name, watches.place));
const byName = query({ name: watches.name }, ({ name }) =>
  selectFrom(watches, ...stored, "place")
    .where(eq(watches.name, name))
    .orderBy(watches.place),
);
const byOwner = query({ owner: watches.owner }, ({ owner }) =>
  selectFrom(watches, ...stored)
    .where(eq(watches.owner, owner))
    .orderBy(watches.created_at, watches.key),
);
const countOwned = query({}, () => select({ count: sql<number>`count(*)` }).from(watches).where(isNotNull(watches.owner)));
const setOwnedPaused = query({ paused: watches.paused }, ({ paused }) =>
  update(watches)
    .set({ paused })
    .where(and(isNotNull(watches.owner), isNull(watches.paused))),
);
const removeByOwner = deleteBy(watches, "owner");
const byKey = selectSome(watches, stored, "key");
const insert = insertInto(watches, { key: "key" });
const removeByName = deleteBy(watches, "name");
const remove = deleteBy(watches, "key");
const setDefinition = updateBy(watches, ["definition"], "key");
const setPaused = updateBy(watches, ["paused"], "key");
const removePending = deleteBy(pending, "watch");
const mutedOf = query({ watch: muted.watch }, ({ watch }) =>
  selectFrom(muted, "id", "muted_at").where(eq(muted.watch, watch)).orderBy(muted.muted_at, muted.id),
);
const insertMuted = insertInto(muted);
const removeMuted = deleteBy(muted, "watch", "id");
/** An opportunity that is muted in a watch is muted for all of its receivers. */
const copyMuted = query(
  { ...pick(muted, "watch"), ...pick(watches, "name") },
  ({ watch, name }) =>
    sql<never>`insert or ignore into ${muted} (watch, id, muted_at) select distinct ${watch}, id, muted_at from ${muted}
      join ${watches} on watches.key = muted.watch where watches.name = ${name}`,
);
const sendAtOnce = query({ watch: pending.watch }, ({ watch }) =>
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

/** All watches by name, each once for each receiver. */
export async function listWatches(db: WatchDb): Promise<Watch[]> {
  return (await db.all(all)).map(watchOf);
}

/** The watch of this name, once for each receiver. Throws if there is none. */
export async function requireWatch(db: WatchDb, name: string): Promise<[Watch, ...Watch[]]> {
  const [first, ...others] = (await db.all(byName, { name })).map(({ place, ...row }) => watchOf(row));
  if (first === undefined) throw new Failure(`Cannot find a watch ${name}; fundfeed watch list shows the ones that exist`);
  return [first, ...others];
}

function watchOf({ definition, ...row }: RowsOf<typeof all>): Watch {
  const { filter, ...others } = JSON.parse(definition) as WatchDefinition;
  return { ...row, definition: { ...others, filter: storedFilter(filter) } };
}

/** The watches of a member, in the order in which they were added. */
export async function watchesOf(db: WatchSql, owner: string): Promise<Watch[]> {
  return (await db.all(byOwner, { owner })).map(watchOf);
}

/** How many watches members have. */
export async function countMembersWatches(db: WatchSql): Promise<number> {
  return (await db.get(countOwned))?.count ?? 0;
}

/** Removes the watches of a member with all that is stored of them. Returns how many. */
export async function removeOwned(db: WatchSql, owner: string): Promise<number> {
  return db.run(removeByOwner, { owner });
}

/** Where a receiver begins: the position in the feed, and the opportunities known as matching. */
export type Beginning = { at: EpochMs; feed: FeedPosition; matched: readonly string[] };

/** Stores a new watch, a row for each receiver. Returns false if there is one with this name. */
export async function addWatch(db: WatchDb, name: string, definitions: readonly WatchDefinition[], beginning: Beginning): Promise<boolean> {
  return db.transaction(async (sql) => {
    if ((await sql.get(byName, { name })) !== undefined) return false;
    for (const definition of definitions) await addRow(sql, name, definition, beginning);
    return true;
  });
}

/** Adds a receiver after those that the watch has. */
export async function addRow(
  sql: WatchSql,
  name: string,
  definition: WatchDefinition,
  { at, feed, matched: known }: Beginning,
  owner: string | null = null,
): Promise<void> {
  const place = ((await sql.all(byName, { name })).at(-1)?.place ?? 0) + 1;
  const key = await sql.insert(insert, {
    name,
    place,
    created_at: at,
    definition: JSON.stringify(definition),
    feed_seq: feed?.seq ?? null,
    feed_id: feed?.id ?? null,
    checked_at: at,
    delivered_at: null,
    delivered_total: 0,
    failed_total: 0,
    paused: null,
    owner,
  });
  await addMatched(sql, key, known);
  await sql.run(copyMuted, { watch: key, name });
}

/** Removes a watch with all that is stored of it. */
export async function removeWatch(db: WatchSql, { name }: Pick<Watch, "name">): Promise<void> {
  await db.run(removeByName, { name });
}

type Muted = { id: string; muted_at: EpochMs };

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

/** Unmutes an opportunity in a watch. */
export async function unmute(db: WatchDb, { key }: Watch, id: string): Promise<void> {
  await db.run(removeMuted, { watch: key, id });
}

/** Pauses a watch until `resume`. */
export async function pause(db: WatchDb, { key }: Watch, reason: string): Promise<void> {
  await db.run(setPaused, { key, paused: reason });
}

/** Pauses all watches of members that are not paused. Returns how many. */
export async function pauseOwned(db: WatchDb, reason: string): Promise<number> {
  return db.run(setOwnedPaused, { paused: reason });
}

/** Ends a pause. The pending message may be sent immediately. */
export async function resume(db: WatchDb, { key }: Watch): Promise<void> {
  await db.transaction(async (sql) => {
    await sql.run(setPaused, { key, paused: null });
    await sql.run(sendAtOnce, { watch: key });
  });
}

/** Ends a pause at another position, and drops the pending message. Returns false if the watch was removed or changed since it was read. */
export async function resumeAt(
  db: WatchDb,
  { key: former }: Watch,
  feed: FeedPosition,
  matched: readonly string[],
  now: EpochMs,
): Promise<boolean> {
  return db.transaction(async (sql) => {
    await sql.run(removePending, { watch: former });
    await clearMatched(sql, former);
    const key = await renewKey(sql, former);
    if (key === undefined) return false;
    await addMatched(sql, key, matched);
    await moveOn(sql, key, feed, now);
    await sql.run(setPaused, { key, paused: null });
    return true;
  });
}

type ReceiverChange = { added: readonly WatchDefinition[]; beginning: Beginning; dropped: readonly Watch[] };

/** "all" delivers everything once more. */
export type MatchDifference = { joining: readonly string[]; leaving: readonly string[] } | "all";

/** Gives receivers another definition. Only "all" reports what it matches. False if the watch was removed or changed since it was read. */
export async function changeWatch(
  db: WatchDb,
  changed: readonly Watch[],
  difference: MatchDifference,
  { added, beginning, dropped }: ReceiverChange = { added: [], beginning: { at: 0, feed: null, matched: [] }, dropped: [] },
): Promise<boolean> {
  return db.transaction(async (sql) => {
    for (const { key } of [...changed, ...dropped]) if ((await sql.get(byKey, { key })) === undefined) return false;
    for (const watch of changed) await changeRow(sql, watch, difference);
    for (const definition of added) await addRow(sql, (changed[0] ?? dropped[0])?.name ?? "", definition, beginning);
    for (const { key } of dropped) await sql.run(remove, { key });
    return true;
  });
}

export async function changeRow(sql: WatchSql, { key: former, definition }: Watch, difference: MatchDifference): Promise<void> {
  const row = await sql.get(byKey, { key: former });
  const key = await renewKey(sql, former);
  if (row === undefined || key === undefined) return;
  const before = watchOf(row).definition;
  await sql.run(setDefinition, { key, definition: JSON.stringify(definition) });
  if (difference === "all") await clearMatched(sql, key);
  else {
    await addMatched(sql, key, difference.joining);
    await removeMatched(sql, key, difference.leaving);
  }
  // A digest leaves out items that it only counts, so a receiver of all items gets another message from the same position.
  if (difference === "all" || (isDigest(before) && !isDigest(definition))) await sql.run(removePending, { watch: key });
  else if (!Bun.deepEquals(before.receiver, definition.receiver)) await sql.run(sendAtOnce, { watch: key });
}

/** Another key, so that a concurrent run only stores the result of what it is sending. Undefined if the watch has gone or changed. */
async function renewKey(sql: WatchSql, former: number): Promise<number | undefined> {
  await sql.run(countKey);
  return (await sql.get(setKey, { key: former }))?.key;
}
