/** A watch has at most one pending message, stored before it is sent; its effects are stored when it was accepted. (E-51) */
import { and, desc, eq, inArray, isNull, notInArray, or, type SQL, sql } from "drizzle-orm";
import type { WatchDb, WatchSql } from "../../db/engine.ts";
import { deleteBy, deleteFrom, insertInto, listOf, parameter, pick, query, select, selectSome, update, updateBy } from "../../db/query.ts";
import { deliveries, matched, pending, pendingMatched, pendingReminders, reminded, watches } from "../../db/schema/sqlite/watch.ts";
import type { FeedPosition } from "../events/feed.ts";
import type { EpochMs } from "../text/instant.ts";
import type { MessageCounts } from "./message.ts";
import type { Reminder } from "./schedule.ts";
import type { Attempts, PendingMessage, Receiver, Watch, WatchDefinition, WatchStatus } from "./watch.ts";

type PendingRow = typeof pending.$inferSelect;

/** `oldest_at`: when its oldest change was stored. The receiver then has everything up to `checked_at`. */
export type PlannedMessage = Pick<PendingRow, "id" | "created_at" | "oldest_at" | "body" | "checked_at"> & {
  counts: MessageCounts;
  feed: FeedPosition;
  joining: readonly string[];
  leaving: readonly string[];
  reminding: readonly Reminder[];
};

export type Delivery = Pick<typeof deliveries.$inferSelect, "id" | "created_at" | "delivered_at" | "attempts"> & {
  watch: string;
  receiver: Receiver;
  counts: MessageCounts;
};

const DELIVERIES_KEPT = 100;

const ofWatch = { watch: pending.watch };
const isThere = selectSome(watches, ["key"], "key");
const statusByKey = selectSome(watches, ["checked_at", "delivered_at", "delivered_total", "failed_total", "paused"], "key");
const attempts = ["count", "at", "wait_ms", "failing_ms", "error"] as const;
const byWatch = selectSome(pending, ["id", "mail", "created_at", "oldest_at", "body", "counts", ...attempts], "watch");
const byId = selectSome(pending, ["watch", "created_at", "feed_seq", "feed_id", "checked_at", "counts", "count"], "id");
const insert = insertInto(pending);
const insertMatched = query(
  { ...ofWatch, joins: pendingMatched.joins, ids: listOf(pendingMatched.id) },
  ({ watch, joins, ids }) => sql<never>`insert into ${pendingMatched} (watch, id, joins) select ${watch}, value, ${joins} from ${ids}`,
);
const setMail = updateBy(pending, ["mail"], "id");
const dissolve = query({ mail: pending.mail }, ({ mail }) => update(pending).set({ mail: null }).where(eq(pending.mail, mail)));
const insertReminder = insertInto(pendingReminders);
const setAttempts = updateBy(pending, attempts, "watch");
const countFailure = query(pick(watches, "key", "paused"), ({ key, paused }) =>
  update(watches)
    .set({ failed_total: sql`${watches.failed_total} + 1`, paused: sql`coalesce(${paused}, ${watches.paused})` })
    .where(eq(watches.key, key)),
);

const changing = (watch: SQL<number>, joins: 0 | 1) =>
  select(pick(pendingMatched, "id"))
    .from(pendingMatched)
    .where(and(eq(pendingMatched.watch, watch), eq(pendingMatched.joins, joins)));
const leave = query(ofWatch, ({ watch }) =>
  deleteFrom(matched).where(and(eq(matched.watch, watch), inArray(matched.id, changing(watch, 0)))),
);
const join = query(
  ofWatch,
  ({ watch }) => sql<never>`insert or ignore into ${matched} (watch, id) select ${watch}, id from ${changing(watch, 1)}`,
);
/** A reminder closer to the due date replaces an earlier one of the same date. */
const remind = query(
  ofWatch,
  ({ watch }) =>
    sql<never>`insert into ${reminded} (watch, id, due, days) select watch, id, due, days from ${pendingReminders} where watch = ${watch}
      on conflict do update set days = min(days, excluded.days)`,
);
const moveAndCount = query(pick(watches, "key", "feed_seq", "feed_id", "checked_at", "delivered_at"), ({ key, ...accepted }) =>
  update(watches)
    .set({ ...accepted, delivered_total: sql`${watches.delivered_total} + 1` })
    .where(eq(watches.key, key)),
);
const insertDelivery = insertInto(deliveries, { key: "seq" });
const remove = deleteBy(pending, "watch");
const forgetOld = query({ watch: deliveries.watch }, ({ watch }) => {
  const ofSame = eq(deliveries.watch, watch);
  const kept = select(pick(deliveries, "seq")).from(deliveries).where(ofSame).orderBy(desc(deliveries.seq)).limit(DELIVERIES_KEPT);
  return deleteFrom(deliveries).where(and(ofSame, notInArray(deliveries.seq, kept)));
});
const newest = query({ name: parameter<string | null>(), limit: parameter<number>() }, ({ name, limit }) =>
  select({
    ...pick(deliveries, "id", "created_at", "delivered_at", "attempts", "counts"),
    watch: watches.name,
    definition: watches.definition,
  })
    .from(deliveries)
    .innerJoin(watches, eq(watches.key, deliveries.watch))
    .where(or(isNull(name), eq(watches.name, name)))
    .orderBy(desc(deliveries.seq))
    .limit(limit),
);

export async function pendingOf(db: WatchDb, { key }: Watch): Promise<PendingMessage | undefined> {
  const row = await db.get(byWatch, { watch: key });
  if (row === undefined) return undefined;
  const { count, at, wait_ms, failing_ms, error, counts, ...message } = row;
  return { ...message, counts: JSON.parse(counts) as MessageCounts, attempts: { count, at, wait_ms, failing_ms, error } };
}

/** The state of a watch's deliveries. */
export async function watchStatusOf(db: WatchDb, watch: Watch): Promise<WatchStatus> {
  const removed = { checked_at: watch.created_at, delivered_at: null, delivered_total: 0, failed_total: 0, paused: null };
  return { ...((await db.get(statusByKey, watch)) ?? removed), pending: (await pendingOf(db, watch)) ?? null };
}

/** Stores a message that is to be sent. Returns false if the watch was removed. */
export async function storePending(db: WatchDb, { key }: Watch, message: PlannedMessage): Promise<boolean> {
  const { counts, feed, joining, leaving, reminding, ...rest } = message;
  const untried = { mail: null, count: 0, at: null, wait_ms: 0, failing_ms: 0, error: null };
  const position = { feed_seq: feed?.seq ?? null, feed_id: feed?.id ?? null };
  return db.transaction(async (sql) => {
    if ((await sql.get(isThere, { key })) === undefined) return false;
    await sql.run(insert, { watch: key, ...rest, counts: JSON.stringify(counts), ...position, ...untried });
    await sql.run(insertMatched, { watch: key, joins: 1, ids: joining });
    await sql.run(insertMatched, { watch: key, joins: 0, ids: leaving });
    for (const reminder of reminding) await sql.run(insertReminder, { watch: key, ...reminder });
    return true;
  });
}

/** Stores the attempts of a message, and the reason if its watch is paused. Does nothing if the message is no longer pending. */
export async function storeAttempts(db: WatchDb, id: string, after: Attempts, paused: string | null): Promise<void> {
  await db.transaction(async (sql) => {
    const { watch } = (await sql.get(byId, { id })) ?? {};
    if (watch === undefined) return;
    await sql.run(setAttempts, { watch, ...after });
    await sql.run(countFailure, { key: watch, paused });
  });
}

/** Stores why this machine cannot send. It is no attempt: once the setting is fixed, the message can be sent immediately. */
export async function storeSetupFault(db: WatchDb, { key }: Watch, former: Attempts, error: string): Promise<void> {
  await db.run(setAttempts, { watch: key, ...former, at: null, wait_ms: 0, error });
}

/** Joins messages into one mail, before it is sent. */
export async function joinInMail(db: WatchDb, ids: readonly string[], mail: string): Promise<void> {
  await db.transaction(async (sql) => {
    for (const id of ids) await sql.run(setMail, { id, mail });
  });
}

/** Moves watches behind accepted messages. A part of their mail that was not sent gets a mail, and so an id, of its own. */
export async function accept(db: WatchDb, ids: readonly string[], mail: string | null, delivered_at: EpochMs): Promise<void> {
  await db.transaction(async (sql) => {
    for (const id of ids) await acceptOne(sql, id, delivered_at);
    if (mail !== null) await sql.run(dissolve, { mail });
  });
}

async function acceptOne(sql: WatchSql, id: string, delivered_at: EpochMs): Promise<void> {
  const message = await sql.get(byId, { id });
  if (message === undefined) return;
  const { watch, created_at, feed_seq, feed_id, checked_at, counts, count } = message;
  await sql.run(leave, { watch });
  await sql.run(join, { watch });
  await sql.run(remind, { watch });
  await sql.run(moveAndCount, { key: watch, feed_seq, feed_id, checked_at, delivered_at });
  await sql.insert(insertDelivery, { watch, id, created_at, delivered_at, attempts: count + 1, counts });
  await sql.run(remove, { watch });
  await sql.run(forgetOld, { watch });
}

/** Accepted messages, the newest first; of one watch or of all. */
export async function listDeliveries(db: WatchDb, name: string | undefined, limit: number): Promise<Delivery[]> {
  const rows = await db.all(newest, { name: name ?? null, limit });
  return rows.map(({ counts, definition, ...row }) => {
    const { receiver } = JSON.parse(definition) as WatchDefinition;
    return { ...row, receiver, counts: JSON.parse(counts) as MessageCounts };
  });
}
