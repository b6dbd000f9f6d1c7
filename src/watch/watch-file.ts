/**
 * watch.db: the watches, their places in the feed, the opportunities that match, and at most one message of each that is on its way. A
 * message is stored before it is sent. When the receiver has accepted it, its effects on place and members are stored in one transaction. So a
 * kill at any point delivers a message again, with the same id and content, and loses none.
 */
import { Database } from "bun:sqlite";
import { accessSync, chmodSync, closeSync, constants, existsSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { Failure, reasonOf } from "../../db/reason.ts";
import type { FeedPosition } from "../events/feed.ts";
import type { EpochMs } from "../text/instant.ts";
import type { Counts } from "./message.ts";
import { type Attempts, type Definition, isDigest, type Pending, type Progress, type Watch } from "./watch.ts";

export const WATCH_FILE = "watch.db";

/** "ffwa" in ASCII. */
export const APPLICATION_ID = 0x66667761;
/** To be raised with any change of the tables. */
export const WATCH_SCHEMA = 1;

/** How long a command waits for another one that is writing. */
const WAIT_MS = 30_000;

/** Accepted messages that are listed for each watch. */
const DELIVERIES_KEPT = 100;

/** A watch that is changed, or removed and added again, gets another key. A run that still has the old key then does nothing to it. */
const TABLES = `
create table watches (
  key integer primary key autoincrement, name text not null unique, created_at integer not null, definition text not null,
  feed_seq integer, feed_id text, checked_at integer not null,
  delivered_at integer, delivered_total integer not null default 0, failed_total integer not null default 0, paused text
);
create table members (watch integer not null references watches on delete cascade, id text not null, primary key (watch, id)) without rowid;
create table pending (
  watch integer primary key references watches on delete cascade, id text not null, created_at integer not null,
  oldest_at integer not null, body text not null, counts text not null, feed_seq integer, feed_id text,
  count integer not null, at integer, wait_ms integer not null, failing_ms integer not null, error text
);
create table pending_members (
  watch integer not null references pending on delete cascade, id text not null, joins integer not null, primary key (watch, id)
) without rowid;
create table deliveries (
  seq integer primary key, watch integer not null references watches on delete cascade, id text not null, created_at integer not null,
  delivered_at integer not null, attempts integer not null, counts text not null
);
create index deliveries_of_watch on deliveries (watch, seq);
`;

export type WatchFile = { sqlite: Database; close: () => void };

/** A message to be stored, with its effects. */
export type Plan = {
  id: string;
  created_at: EpochMs;
  /** When the oldest change of the message was stored. */
  oldest_at: EpochMs;
  body: string;
  counts: Counts;
  /** The place in the feed after the message. */
  position: FeedPosition;
  joining: readonly string[];
  leaving: readonly string[];
};

/** An accepted message. */
export type Delivery = { id: string; watch: string; created_at: EpochMs; delivered_at: EpochMs; attempts: number; counts: Counts };

/** Opens watch.db in a directory, and creates it if there is none. Throws an Error whose message is one sentence. */
export function openWatchFile(directory: string): WatchFile {
  return opening(directory, (path) => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.W_OK);
    closeSync(openSync(path, "a", 0o600));
    chmodSync(path, 0o600);
    const sqlite = new Database(path, { create: true, strict: true });
    return prepared(sqlite, () => createTables(sqlite));
  });
}

/** Opens watch.db to read it, without changing a byte. Undefined if there is none. `waitMs` is how long to wait for a command that is writing. */
export function openWatchFileToRead(directory: string, waitMs = WAIT_MS): WatchFile | undefined {
  if (!existsSync(join(directory, WATCH_FILE))) return undefined;
  return opening(directory, (path) => {
    const sqlite = new Database(path, { readwrite: true, strict: true }); // Not `readonly`, which could not undo what a kill left half done.
    return prepared(
      sqlite,
      () => {
        throw new Error("it is empty; fundfeed watch add fills it");
      },
      waitMs,
    );
  });
}

function opening(directory: string, open: (path: string) => Database): WatchFile {
  const path = join(directory, WATCH_FILE);
  try {
    const sqlite = open(path);
    return { sqlite, close: () => sqlite.close() };
  } catch (error) {
    throw new Failure(`Cannot open ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Checks whose file it is. `onEmpty` is called for an empty one. */
function prepared(sqlite: Database, onEmpty: () => void, waitMs = WAIT_MS): Database {
  try {
    sqlite.run(`pragma busy_timeout = ${waitMs}`);
    sqlite.run("pragma foreign_keys = on");
    const isEmpty = sqlite.query("select 1 from sqlite_master").get() === null;
    if (isEmpty) onEmpty();
    const { application_id } = sqlite.query<{ application_id: number }, []>("pragma application_id").get() ?? { application_id: 0 };
    const { user_version } = sqlite.query<{ user_version: number }, []>("pragma user_version").get() ?? { user_version: 0 };
    if (application_id !== APPLICATION_ID) throw new Error("it is a database of something else");
    if (user_version !== WATCH_SCHEMA)
      throw new Error(`a newer version of fundfeed made it (schema ${user_version}, this one knows ${WATCH_SCHEMA})`);
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw error;
  }
}

function createTables(sqlite: Database): void {
  sqlite
    .transaction(() => {
      if (sqlite.query("select 1 from sqlite_master").get() !== null) return; // Another command was faster.
      sqlite.run(`pragma application_id = ${APPLICATION_ID}`);
      sqlite.run(`pragma user_version = ${WATCH_SCHEMA}`);
      sqlite.run(TABLES);
    })
    .immediate();
}

// ---- Watches.

/** Stores a new watch with the opportunities that match already. Returns false if there is one with this name. */
export function addWatch(
  { sqlite }: WatchFile,
  { name, created_at, definition }: Omit<Watch, "key">,
  position: FeedPosition,
  members: readonly string[],
): boolean {
  return sqlite
    .transaction(() => {
      if (findWatch({ sqlite }, name) !== undefined) return false;
      const { lastInsertRowid } = sqlite
        .query(
          "insert into watches (name, created_at, definition, feed_seq, feed_id, checked_at) values ($name, $created_at, $definition, $seq, $id, $created_at)",
        )
        .run({ name, created_at, definition: JSON.stringify(definition), seq: position?.seq ?? null, id: position?.id ?? null });
      addMembers(sqlite, Number(lastInsertRowid), members);
      return true;
    })
    .immediate();
}

type WatchRow = { key: number; name: string; created_at: number; definition: string };

/** All watches by name. */
export function listWatches({ sqlite }: Pick<WatchFile, "sqlite">): Watch[] {
  return sqlite.query<WatchRow, []>("select key, name, created_at, definition from watches order by name").all().map(watchOf);
}

export function findWatch({ sqlite }: Pick<WatchFile, "sqlite">, name: string): Watch | undefined {
  const row = sqlite.query<WatchRow, [string]>("select key, name, created_at, definition from watches where name = ?").get(name);
  return row === null ? undefined : watchOf(row);
}

function watchOf({ definition, ...row }: WatchRow): Watch {
  return { ...row, definition: JSON.parse(definition) as Definition };
}

/** Removes a watch with all that is stored of it. */
export function removeWatch({ sqlite }: WatchFile, { key }: Watch): void {
  sqlite.transaction(() => sqlite.query("delete from watches where key = ?").run(key)).immediate();
}

/** Where a watch is: its place in the feed, the opportunities that match, and when it was last compared with the catalog. */
export type Place = { position: FeedPosition; members: Set<string>; checked_at: EpochMs };

/** Undefined if the watch was removed. */
export function placeOf({ sqlite }: WatchFile, { key }: Watch): Place | undefined {
  const row = sqlite
    .query<{ feed_seq: number | null; feed_id: string | null; checked_at: number }, [number]>(
      "select feed_seq, feed_id, checked_at from watches where key = ?",
    )
    .get(key);
  if (row === null) return undefined;
  const ids = sqlite.query<{ id: string }, [number]>("select id from members where watch = ?").all(key);
  return { position: positionOf(row), members: new Set(ids.map(({ id }) => id)), checked_at: row.checked_at };
}

function positionOf({ feed_seq, feed_id }: { feed_seq: number | null; feed_id: string | null }): FeedPosition {
  return feed_seq === null || feed_id === null ? null : { seq: feed_seq, id: feed_id };
}

/** Moves a watch on, over events that do not concern it. */
export function moveOn({ sqlite }: WatchFile, { key }: Watch, position: FeedPosition, now: EpochMs): void {
  sqlite
    .query("update watches set feed_seq = $seq, feed_id = $id, checked_at = $now where key = $key")
    .run({ seq: position?.seq ?? null, id: position?.id ?? null, now, key });
}

// ---- Messages on their way.

type PendingRow = Omit<Pending, "attempts"> & Attempts;

export function pendingOf({ sqlite }: WatchFile, { key }: Watch): Pending | undefined {
  const row = sqlite
    .query<PendingRow, [number]>(
      "select id, created_at, oldest_at, body, count, at, wait_ms, failing_ms, error from pending where watch = ?",
    )
    .get(key);
  if (row === null) return undefined;
  const { count, at, wait_ms, failing_ms, error, ...message } = row;
  return { ...message, attempts: { count, at, wait_ms, failing_ms, error } };
}

/** Stores a message that is to be sent. Returns false if the watch was removed. */
export function storePlan({ sqlite }: WatchFile, { key }: Watch, plan: Plan): boolean {
  return sqlite
    .transaction(() => {
      if (sqlite.query("select 1 from watches where key = ?").get(key) === null) return false;
      sqlite
        .query("insert into pending values ($key, $id, $created_at, $oldest_at, $body, $counts, $seq, $feed_id, 0, null, 0, 0, null)")
        .run({
          key,
          id: plan.id,
          created_at: plan.created_at,
          oldest_at: plan.oldest_at,
          body: plan.body,
          counts: JSON.stringify(plan.counts),
          seq: plan.position?.seq ?? null,
          feed_id: plan.position?.id ?? null,
        });
      const insert = sqlite.query("insert into pending_members values (?, ?, ?)");
      for (const id of plan.joining) insert.run(key, id, 1);
      for (const id of plan.leaving) insert.run(key, id, 0);
      return true;
    })
    .immediate();
}

/** Stores the attempts of a message, and why its watch is paused if it is. Does nothing if it is not pending any more. */
export function storeAttempts({ sqlite }: WatchFile, id: string, attempts: Attempts, paused: string | null): void {
  sqlite
    .transaction(() => {
      const key = watchOfMessage(sqlite, id);
      if (key === undefined) return;
      sqlite
        .query(
          "update pending set count = $count, at = $at, wait_ms = $wait_ms, failing_ms = $failing_ms, error = $error where watch = $key",
        )
        .run({ ...attempts, key });
      sqlite.query("update watches set failed_total = failed_total + 1, paused = coalesce(?, paused) where key = ?").run(paused, key);
    })
    .immediate();
}

/** The present key of the watch that a message is pending of. */
function watchOfMessage(sqlite: Database, id: string): number | undefined {
  return sqlite.query<{ watch: number }, [string]>("select watch from pending where id = ?").get(id)?.watch;
}

/** Applies an accepted message: from here on, its watch continues after it. Does nothing if it is not pending any more. */
export function accept({ sqlite }: WatchFile, id: string, now: EpochMs): void {
  sqlite
    .transaction(() => {
      const key = watchOfMessage(sqlite, id);
      if (key === undefined) return;
      for (const sql of ACCEPT) sqlite.query(sql).run(sql.includes("$now") ? { key, now } : { key });
    })
    .immediate();
}

const ACCEPT = [
  "delete from members where watch = $key and id in (select id from pending_members where watch = $key and joins = 0)",
  "insert or ignore into members select watch, id from pending_members where watch = $key and joins = 1",
  `update watches set feed_seq = pending.feed_seq, feed_id = pending.feed_id, checked_at = pending.created_at, delivered_at = $now,
     delivered_total = delivered_total + 1 from pending where watch = $key and key = $key`,
  `insert into deliveries (watch, id, created_at, delivered_at, attempts, counts)
     select watch, id, created_at, $now, count + 1, counts from pending where watch = $key`,
  "delete from pending where watch = $key",
  `delete from deliveries where watch = $key and seq not in
     (select seq from deliveries where watch = $key order by seq desc limit ${DELIVERIES_KEPT})`,
];

/** Makes the message on its way due, whatever failed before. */
const DUE_AT_ONCE = "update pending set at = null, wait_ms = 0, failing_ms = 0 where watch = ?";

/** Pauses a watch until `resume`. */
export function pause({ sqlite }: WatchFile, { key }: Watch, reason: string): void {
  sqlite.query("update watches set paused = ? where key = ?").run(reason, key);
}

/** Ends a pause. The message on its way is due at once. */
export function resume({ sqlite }: WatchFile, { key }: Watch): void {
  sqlite
    .transaction(() => {
      sqlite.query("update watches set paused = null where key = ?").run(key);
      sqlite.query(DUE_AT_ONCE).run(key);
    })
    .immediate();
}

/**
 * Starts again: at a place in the feed, with these members, and without the message on its way. Returns false if the watch was removed or
 * changed since it was read.
 */
export function beginAt(file: WatchFile, watch: Watch, position: FeedPosition, members: readonly string[], now: EpochMs): boolean {
  const { sqlite } = file;
  return sqlite
    .transaction(() => {
      const key = renewKey(sqlite, watch.key);
      if (key === undefined) return false;
      sqlite.query("delete from pending where watch = ?").run(key);
      sqlite.query("delete from members where watch = ?").run(key);
      addMembers(sqlite, key, members);
      moveOn(file, { ...watch, key }, position, now);
      sqlite.query("update watches set paused = null where key = ?").run(key);
      return true;
    })
    .immediate();
}

/**
 * Gives a watch another definition. It keeps its place, and its receiver is not told what the change of its filter adds or removes. With
 * "all", its receiver gets everything that matches once more. Returns false if the watch was removed or changed since it was read.
 */
export function changeWatch(
  { sqlite }: WatchFile,
  { key: former, definition }: Watch,
  difference: { joining: readonly string[]; leaving: readonly string[] } | "all",
): boolean {
  return sqlite
    .transaction(() => {
      const row = sqlite.query<WatchRow, [number]>("select key, name, created_at, definition from watches where key = ?").get(former);
      const key = renewKey(sqlite, former);
      if (row === null || key === undefined) return false;
      const before = watchOf(row).definition;
      sqlite.query("update watches set definition = ? where key = ?").run(JSON.stringify(definition), key);
      if (difference === "all") sqlite.query("delete from members where watch = ?").run(key);
      else {
        addMembers(sqlite, key, difference.joining);
        removeMembers(sqlite, key, difference.leaving);
      }
      // A digest lacks what it only counts, so a receiver of every item gets other messages from the same place.
      if (difference === "all" || (isDigest(before) && !isDigest(definition))) sqlite.query("delete from pending where watch = ?").run(key);
      else if (!Bun.deepEquals(before.receiver, definition.receiver)) sqlite.query(DUE_AT_ONCE).run(key);
      return true;
    })
    .immediate();
}

/** The columns that hold the key of a watch. */
const KEYS = [
  ["watches", "key"],
  ["members", "watch"],
  ["pending", "watch"],
  ["pending_members", "watch"],
  ["deliveries", "watch"],
] as const;

/**
 * Gives a watch another key, so that a run under way only stores the result of the message that it is sending, and does nothing else to the
 * watch. Call it in a transaction. Returns undefined if the watch was removed, or got another key, since it was read.
 */
function renewKey(sqlite: Database, former: number): number | undefined {
  if (sqlite.query("select 1 from watches where key = ?").get(former) === null) return undefined;
  sqlite.run("pragma defer_foreign_keys = on"); // Until the end of the transaction.
  sqlite.run("update sqlite_sequence set seq = seq + 1 where name = 'watches'");
  const key = sqlite.query<{ seq: number }, []>("select seq from sqlite_sequence where name = 'watches'").get()?.seq ?? former;
  for (const [table, column] of KEYS) sqlite.query(`update ${table} set ${column} = ? where ${column} = ?`).run(key, former);
  return key;
}

function addMembers(sqlite: Database, key: number, ids: readonly string[]): void {
  const insert = sqlite.query("insert or ignore into members values (?, ?)");
  for (const id of ids) insert.run(key, id);
}

/** If the message on its way says that an opportunity left, it keeps saying so. */
function removeMembers(sqlite: Database, key: number, ids: readonly string[]): void {
  for (const condition of ["members where watch = ? and id = ?", "pending_members where watch = ? and id = ? and joins = 1"]) {
    const remove = sqlite.query(`delete from ${condition}`);
    for (const id of ids) remove.run(key, id);
  }
}

// ---- What there is to tell.

export function progressOf(file: WatchFile, watch: Watch): Progress {
  const row = file.sqlite
    .query<Omit<Progress, "pending">, [number]>(
      "select checked_at, delivered_at, delivered_total, failed_total, paused from watches where key = ?",
    )
    .get(watch.key);
  const { checked_at = watch.created_at, delivered_at = null, delivered_total = 0, failed_total = 0, paused = null } = row ?? {};
  return { checked_at, delivered_at, delivered_total, failed_total, paused, pending: pendingOf(file, watch) ?? null };
}

/** How many opportunities match, as far as the receiver knows. */
export function countMembers({ sqlite }: WatchFile, { key }: Watch): number {
  return sqlite.query<{ members: number }, [number]>("select count(*) as members from members where watch = ?").get(key)?.members ?? 0;
}

/** Accepted messages, the newest first; of one watch or of all. */
export function listDeliveries({ sqlite }: WatchFile, watch: Watch | undefined, limit: number): Delivery[] {
  const where = watch === undefined ? "" : `where watch = ${watch.key}`;
  return sqlite
    .query<Omit<Delivery, "counts"> & { counts: string }, [number]>(
      `select deliveries.id, watches.name as watch, deliveries.created_at, deliveries.delivered_at, attempts, counts
       from deliveries join watches on watches.key = watch ${where} order by seq desc limit ?`,
    )
    .all(limit)
    .map(({ counts, ...row }) => ({ ...row, counts: JSON.parse(counts) as Counts }));
}
