/**
 * Access: every key with its account, plan and use in memory, as a server needs it at each request.
 *
 * What another process commits (a revoked key, another plan, use) is seen at the very next request; what requests use up is counted here
 * and written by `saveUse`, so that no request waits for a write (D-24, D-25).
 */
import { eq, gt } from "drizzle-orm";
import type { StateDb } from "../../db/engine.ts";
import { pick, query, select } from "../../db/query.ts";
import { accounts, keys, plans } from "../../db/schema/sqlite/state.ts";
import { type Allowance, ownQuotas, type Quotas, type Taken, type Use, unused } from "../quota/allowance.ts";
import { dayOf } from "../quota/daily-window.ts";
import { singleFlight } from "../runtime/single-flight.ts";
import { hashOfKey, isWellFormedKey } from "./key.ts";
import { findRevisions, type Revisions } from "./revisions.ts";
import { addUse, findUse, type Sums } from "./use.ts";

/** A key that is known, with what its next request depends on. */
export type KnownKey = {
  id: string;
  account: string;
  subscribed: boolean;
  revoked: boolean;
  expires_at: number | null;
  daily: number;
  per_minute: number;
  use: Use;
  /** Requests of the present window that are not yet written. */
  unsaved: number;
  last_used_at: number;
};

/** Requests of a key on one day that are to be written. */
type Unwritten = { key: KnownKey; day: number; count: number };

export type Access = {
  db: StateDb;
  /** By the SHA-256 of the key. */
  keys: Map<string, KnownKey>;
  quotas: Quotas;
  /** Keys whose stored count is known as of the last look. */
  counted: Set<KnownKey>;
  /** Keys with unsaved requests. */
  dirty: Set<KnownKey>;
  /** Of windows that ended before they were written. */
  overdue: Unwritten[];
  /** On their way to the database. */
  leaving: Unwritten[];
  /** As of the last look. */
  seen: Revisions & { commits: number };
  look: () => Promise<void>;
  save: () => Promise<void>;
};

export async function createAccess(db: StateDb): Promise<Access> {
  const access: Access = {
    db,
    keys: new Map(),
    quotas: ownQuotas,
    counted: new Set(),
    dirty: new Set(),
    overdue: [],
    leaving: [],
    seen: { commits: Number.NaN, keys: -1, use: -1 },
    look: singleFlight(() => takeInChanges(access)),
    save: singleFlight(() => writeUse(access)),
  };
  await keepUp(access);
  return access;
}

/** Takes in what was committed since the last time, if anything was: to be awaited at each request, before `findKey`. */
export function keepUp(access: Access): Promise<void> | undefined {
  return access.db.commits() === access.seen.commits ? undefined : access.look();
}

/** The key that a text is, or `undefined` when it is none, is revoked or has expired. Looks into memory alone. */
export function findKey(access: Access, text: string, now: number): KnownKey | undefined {
  if (!isWellFormedKey(text)) return undefined;
  const key = access.keys.get(hashOfKey(text));
  return key === undefined || key.revoked || (key.expires_at !== null && key.expires_at <= now) ? undefined : key;
}

/** Counts one request against both limits of a key, unless one of them refuses it. A promise where the count has to be asked for. */
export function useKey(access: Access, key: KnownKey, now: number): Allowance | Promise<Allowance> {
  if (!access.counted.has(key)) return learnUse(access, key, now).then(() => useKey(access, key, now));
  const taken = access.quotas.take(key, now);
  return taken instanceof Promise ? taken.then((later) => keepUse(access, key, later, now)) : keepUse(access, key, taken, now);
}

async function learnUse(access: Access, key: KnownKey, now: number): Promise<void> {
  const day = dayOf(now);
  const stored = await findUse(access.db, key.id, day);
  if (access.counted.has(key)) return; // Another request was faster, or the key's use has left meanwhile and its sum will come back.
  leaveDay(access, key, day);
  key.use = { ...key.use, window: { day, used: stored + key.unsaved } };
  access.counted.add(key);
}

/** Before a key's window moves to `day`: what is unwritten of the day that it leaves is still to be written as that day's. */
function leaveDay(access: Access, key: KnownKey, day: number): void {
  if (day === key.use.window.day || key.unsaved === 0) return;
  access.overdue.push({ key, day: key.use.window.day, count: key.unsaved });
  access.dirty.delete(key);
  key.unsaved = 0;
}

/** What this server granted is what it writes: where several share the count, their sum is the day's. */
function keepUse(access: Access, key: KnownKey, { use, allowance }: Taken, now: number): Allowance {
  leaveDay(access, key, use.window.day);
  key.use = use;
  if (allowance.retryAfterSeconds === 0) {
    key.unsaved++;
    key.last_used_at = now;
    access.dirty.add(key);
  }
  return allowance;
}

/**
 * Writes what was used since the last call, and takes in what other processes wrote for the same keys. Throws when the database
 * cannot be written: nothing is lost then, the next call writes it.
 */
export async function saveUse(access: Access): Promise<void> {
  await keepUp(access); // Also without requests, so that the next one has little to take in.
  await access.save();
}

async function writeUse(access: Access): Promise<void> {
  takeOut(access);
  const { leaving } = access;
  if (leaving.length === 0) return;
  try {
    takeInSums(
      access,
      await addUse(
        access.db,
        leaving.map(({ key, day, count }) => ({ key_id: key.id, day, count, last_used_at: key.last_used_at })),
      ),
    );
  } catch (error) {
    putBack(access);
    throw error;
  } finally {
    access.leaving = [];
  }
}

/** Requests go on meanwhile: what they use from here on is the next save's. */
function takeOut(access: Access): void {
  const present = Array.from(access.dirty, (key) => ({ key, day: key.use.window.day, count: key.unsaved }));
  access.leaving = [...access.overdue, ...present];
  access.overdue = [];
  for (const { key } of present) {
    key.unsaved = 0;
    access.counted.add(key); // Nobody is to ask for its count now: whether that has these requests in it would be open.
  }
  access.dirty.clear();
}

function putBack(access: Access): void {
  for (const { key, day, count } of access.leaving) {
    if (day !== key.use.window.day) access.overdue.push({ key, day, count });
    else {
      key.unsaved += count;
      access.dirty.add(key);
    }
  }
}

function takeInSums(access: Access, { revision, sums }: Sums): void {
  const keys = new Map(access.leaving.map(({ key }) => [key.id, key]));
  for (const { key_id, day, count } of sums) {
    const key = keys.get(key_id);
    if (key?.use.window.day === day) key.use = { ...key.use, window: { day, used: count + key.unsaved } };
  }
  if (revision === access.seen.use + 1) access.seen.use = revision; // Nobody else has written since the last look.
}

async function takeInChanges(access: Access): Promise<void> {
  const commits = access.db.commits(); // Before the rows: a later commit moves it again.
  const { keys, use } = await findRevisions(access.db);
  if (keys !== access.seen.keys) await readChangedKeys(access, keys);
  if (use !== access.seen.use) access.counted = new Set(access.leaving.map(({ key }) => key));
  access.seen = { commits, keys, use };
}

const keysAfter = query({ revision: keys.revision }, ({ revision }) =>
  select({
    ...pick(keys, "id", "hash", "revoked_at", "expires_at"),
    account: accounts.name,
    ...pick(accounts, "subscription"),
    ...pick(plans, "daily", "per_minute"),
  })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.account_id))
    .innerJoin(plans, eq(plans.name, accounts.plan))
    .where(gt(keys.revision, revision)),
);

/** Those of later revisions than the last one seen; all of them where the newest is older than that, as after a restore. */
async function readChangedKeys(access: Access, newest: number): Promise<void> {
  const isOlder = newest < access.seen.keys;
  const keysByHash = isOlder ? new Map<string, KnownKey>() : access.keys;
  await access.db.each(keysAfter, { revision: isOlder ? -1 : access.seen.keys }, (rows) => {
    for (const { hash, subscription, revoked_at, ...row } of rows) {
      const name = hash.toHex();
      const known = access.keys.get(name) ?? { use: unused, unsaved: 0, last_used_at: 0 };
      const present = { ...row, subscribed: subscription === "active", revoked: revoked_at !== null };
      keysByHash.set(name, Object.assign(known, present)); // The same object: `dirty` and requests in progress hold it.
    }
  });
  access.keys = keysByHash;
}
