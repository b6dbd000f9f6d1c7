/** How much of the feed a watch's receiver got, which opportunities it knows as matching, and its reminders. */
import { and, eq, gte, inArray, sql } from "drizzle-orm";
import type { WatchDb, WatchSql } from "../../db/engine.ts";
import { deleteBy, deleteFrom, listOf, query, select, selectFrom, selectSome, updateBy } from "../../db/query.ts";
import { matched, muted, pendingMatched, reminded, watches } from "../../db/schema/sqlite/watch.ts";
import type { FeedPosition } from "../events/feed.ts";
import { type EpochMs, minuteOf } from "../text/instant.ts";
import type { Reminder } from "./schedule.ts";
import type { Watch } from "./watch.ts";

export type WatchPosition = {
  feed: FeedPosition;
  matched: ReadonlySet<string>;
  checked_at: EpochMs;
  reminded: readonly Reminder[];
  muted: ReadonlySet<string>;
};

const feedOf = selectSome(watches, ["feed_seq", "feed_id", "checked_at"], "key");
const setFeed = updateBy(watches, ["feed_seq", "feed_id", "checked_at"], "key");
const ofWatch = { watch: matched.watch };
const matchedOf = selectSome(matched, ["id"], "watch");
const remindedOf = query({ watch: reminded.watch, due: reminded.due }, ({ watch, due }) =>
  selectFrom(reminded, "id", "due", "days").where(and(eq(reminded.watch, watch), gte(reminded.due, due))),
);
const mutedOf = selectSome(muted, ["id"], "watch");
const countOf = query(ofWatch, ({ watch }) => select({ count: sql<number>`count(*)` }).from(matched).where(eq(matched.watch, watch)));
const listed = { ...ofWatch, ids: listOf(matched.id) };
const insertAll = query(
  listed,
  ({ watch, ids }) => sql<never>`insert or ignore into ${matched} (watch, id) select ${watch}, value from ${ids}`,
);
const deleteAll = deleteBy(matched, "watch");
const deleteSome = query(listed, ({ watch, ids }) => deleteFrom(matched).where(and(eq(matched.watch, watch), inArray(matched.id, ids))));
const joinNoMore = query(listed, ({ watch, ids }) =>
  deleteFrom(pendingMatched).where(and(eq(pendingMatched.watch, watch), inArray(pendingMatched.id, ids), eq(pendingMatched.joins, 1))),
);

/** Undefined if the watch was removed. */
export async function positionOf(db: WatchDb, { key }: Watch, now: EpochMs): Promise<WatchPosition | undefined> {
  return db.readTransaction(async (sql) => {
    const row = await sql.get(feedOf, { key });
    if (row === undefined) return undefined;
    const { feed_seq: seq, feed_id: id, checked_at } = row;
    const ids = await sql.all(matchedOf, { watch: key });
    return {
      feed: seq === null || id === null ? null : { seq, id },
      matched: new Set(ids.map(({ id }) => id)),
      checked_at,
      reminded: await sql.all(remindedOf, { watch: key, due: minuteOf(now) }),
      muted: new Set((await sql.all(mutedOf, { watch: key })).map((each) => each.id)),
    };
  });
}

/** Moves a watch to another position in the feed. */
export async function moveOn(sql: WatchSql, key: number, feed: FeedPosition, checked_at: EpochMs): Promise<void> {
  await sql.run(setFeed, { key, feed_seq: feed?.seq ?? null, feed_id: feed?.id ?? null, checked_at });
}

/** How many opportunities match, as far as the receiver knows. */
export async function countMatched(db: WatchDb, { key }: Watch): Promise<number> {
  return (await db.get(countOf, { watch: key }))?.count ?? 0;
}

export async function addMatched(sql: WatchSql, watch: number, ids: readonly string[]): Promise<void> {
  await sql.run(insertAll, { watch, ids });
}

export async function clearMatched(sql: WatchSql, watch: number): Promise<void> {
  await sql.run(deleteAll, { watch });
}

/** A pending message that reports an opportunity as no longer matching is not changed. */
export async function removeMatched(sql: WatchSql, watch: number, ids: readonly string[]): Promise<void> {
  await sql.run(deleteSome, { watch, ids });
  await sql.run(joinNoMore, { watch, ids });
}
