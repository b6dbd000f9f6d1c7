/**
 * The position of a watch: how much of the feed was delivered, which opportunities the receiver knows as matching, and the reminders it got.
 */
import { and, eq, gte, inArray, sql } from "drizzle-orm";
import type { WatchDb, WatchSql } from "../../db/engine.ts";
import { deleteFrom, listOf, pick, query, select, update } from "../../db/query.ts";
import { members, muted, pendingMembers, reminded, watches } from "../../db/schema/sqlite/watch.ts";
import type { FeedPosition } from "../events/feed.ts";
import { type EpochMs, minuteOf } from "../text/instant.ts";
import type { Reminder } from "./schedule.ts";
import type { Watch } from "./watch.ts";

export type WatchPosition = {
  feed: FeedPosition;
  members: ReadonlySet<string>;
  /** When the watch was last compared with the catalog. */
  checked_at: EpochMs;
  /** The reminders of future due dates that the receiver got. */
  reminded: readonly Reminder[];
  /** Muted opportunities, which are not reported. */
  muted: ReadonlySet<string>;
};

const feedOf = query({ key: watches.key }, ({ key }) =>
  select(pick(watches, "feed_seq", "feed_id", "checked_at"))
    .from(watches)
    .where(eq(watches.key, key)),
);
const setFeed = query(pick(watches, "key", "feed_seq", "feed_id", "checked_at"), ({ key, ...position }) =>
  update(watches).set(position).where(eq(watches.key, key)),
);
const ofWatch = { watch: members.watch };
const membersOf = query(ofWatch, ({ watch }) => select(pick(members, "id")).from(members).where(eq(members.watch, watch)));
const remindedOf = query({ watch: reminded.watch, due: reminded.due }, ({ watch, due }) =>
  select(pick(reminded, "id", "due", "days"))
    .from(reminded)
    .where(and(eq(reminded.watch, watch), gte(reminded.due, due))),
);
const mutedIds = query({ watch: muted.watch }, ({ watch }) => select(pick(muted, "id")).from(muted).where(eq(muted.watch, watch)));
const countOf = query(ofWatch, ({ watch }) => select({ count: sql<number>`count(*)` }).from(members).where(eq(members.watch, watch)));
const listed = { ...ofWatch, ids: listOf(members.id) };
const insertAll = query(
  listed,
  ({ watch, ids }) => sql<never>`insert or ignore into ${members} (watch, id) select ${watch}, value from ${ids}`,
);
const deleteAll = query(ofWatch, ({ watch }) => deleteFrom(members).where(eq(members.watch, watch)));
const deleteSome = query(listed, ({ watch, ids }) => deleteFrom(members).where(and(eq(members.watch, watch), inArray(members.id, ids))));
const joinNoMore = query(listed, ({ watch, ids }) =>
  deleteFrom(pendingMembers).where(and(eq(pendingMembers.watch, watch), inArray(pendingMembers.id, ids), eq(pendingMembers.joins, 1))),
);

/** Undefined if the watch was removed. */
export async function positionOf(db: WatchDb, { key }: Watch, now: EpochMs): Promise<WatchPosition | undefined> {
  return db.readTransaction(async (sql) => {
    const row = await sql.get(feedOf, { key });
    if (row === undefined) return undefined;
    const { feed_seq: seq, feed_id: id, checked_at } = row;
    const ids = await sql.all(membersOf, { watch: key });
    return {
      feed: seq === null || id === null ? null : { seq, id },
      members: new Set(ids.map((member) => member.id)),
      checked_at,
      reminded: await sql.all(remindedOf, { watch: key, due: minuteOf(now) }),
      muted: new Set((await sql.all(mutedIds, { watch: key })).map((each) => each.id)),
    };
  });
}

/** Moves a watch to another position in the feed. */
export async function moveOn(sql: WatchSql, key: number, feed: FeedPosition, checked_at: EpochMs): Promise<void> {
  await sql.run(setFeed, { key, feed_seq: feed?.seq ?? null, feed_id: feed?.id ?? null, checked_at });
}

/** How many opportunities match, as far as the receiver knows. */
export async function countMembers(db: WatchDb, { key }: Watch): Promise<number> {
  return (await db.get(countOf, { watch: key }))?.count ?? 0;
}

export async function addMembers(sql: WatchSql, watch: number, ids: readonly string[]): Promise<void> {
  await sql.run(insertAll, { watch, ids });
}

export async function clearMembers(sql: WatchSql, watch: number): Promise<void> {
  await sql.run(deleteAll, { watch });
}

/** A pending message that reports an opportunity as no longer matching is not changed. */
export async function removeMembers(sql: WatchSql, watch: number, ids: readonly string[]): Promise<void> {
  await sql.run(deleteSome, { watch, ids });
  await sql.run(joinNoMore, { watch, ids });
}
