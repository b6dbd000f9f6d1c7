/**
 * Every key in memory, with its account, plan and use, so that no request waits for a write, and most for no read (D-24, D-25).
 *
 * `addUse` counts a request in `use` and `unsaved` of its key, which is then `dirty`; what is unsaved of a day that ends moves to `endedDays`.
 * `saveUse` adds both to the stored counts, and takes over the sums, which include what other servers stored. If that fails, the next save
 * writes them. A key whose stored count may be newer than memory is not in `counted`, and its next request reads it.
 */
import { eq, gt } from "drizzle-orm";
import type { StateDb } from "../../db/engine.ts";
import { pick, query, type RowsOf, select } from "../../db/query.ts";
import { accounts, keys, plans } from "../../db/schema/sqlite/state.ts";
import { type Allowance, ownQuotas, type Quotas, resetOf, type Taken, type Use, unused, windowAt } from "../quota/allowance.ts";
import { singleFlight } from "../runtime/single-flight.ts";
import type { EpochMs } from "../text/instant.ts";
import { findGenerations, type Generations } from "./generations.ts";
import { hashFromBytes, hashOfKey, isExpired, isWellFormedKey, type KeyHash } from "./key.ts";
import { findUse, type StoredSums, storeUse } from "./use.ts";

/** A stored key, with all that its next request depends on. Of a member it has the mail address: no log and no response to others has that. */
export type KnownKey = Omit<RowsOf<typeof keysAfter>, "hash" | "subscription"> & {
  subscribed: boolean;
  use: Use;
  /** Negative if stored ones were taken back. */
  unsaved: number;
  last_used_at: EpochMs;
};

type UnsavedDay = { key: KnownKey; day: number; count: number };

export type Access = {
  db: StateDb;
  keys: Map<KeyHash, KnownKey>;
  keysById: Map<string, KnownKey>;
  quotas: Quotas;
  counted: Set<KnownKey>;
  dirty: Set<KnownKey>;
  endedDays: UnsavedDay[];
  saving: UnsavedDay[];
  /** What `db.commits()` returned before the newest commit that is in memory was read. */
  lastSeenCommit: number;
  lastSeen: Generations;
  updateOnce: () => Promise<void>;
  saveOnce: () => Promise<void>;
};

/** Loads all keys. Throws if the database cannot be read. */
export async function createAccess(db: StateDb): Promise<Access> {
  const access: Access = {
    db,
    keys: new Map(),
    keysById: new Map(),
    quotas: ownQuotas,
    counted: new Set(),
    dirty: new Set(),
    endedDays: [],
    saving: [],
    lastSeenCommit: Number.NaN,
    lastSeen: { keys: -1, use: -1 },
    updateOnce: singleFlight(() => readNewer(access)),
    saveOnce: singleFlight(() => writeUse(access)),
  };
  await updateAccess(access);
  return access;
}

/** Reads what other processes committed; undefined if nothing. Each request calls it before `findKey`, so a revoked key is refused at once. */
export function updateAccess(access: Access): Promise<void> | undefined {
  return access.db.commits() === access.lastSeenCommit ? undefined : access.updateOnce();
}

/** The key that a text is, which may be revoked or expired; `undefined` if it is none. Reads memory only. */
export function findKey(access: Access, text: string): KnownKey | undefined {
  return isWellFormedKey(text) ? access.keys.get(hashOfKey(text)) : undefined;
}

/** The key with this id if it may be used now: it is not revoked or expired, and its account has a subscription. Reads memory only. */
export function findUsableKey({ keysById }: Access, id: string, now: EpochMs): KnownKey | undefined {
  const key = keysById.get(id);
  return key === undefined || !key.subscribed || key.revoked_at !== null || isExpired(key.expires_at, now) ? undefined : key;
}

/** The same key, or its successor, so that addresses outlive a rotation. A revoked key has none, because revoking is meant to end them. */
export function findHeir(access: Access, id: string, now: EpochMs): KnownKey | undefined {
  const seen = new Set<string>();
  for (let next: string | null = id; next !== null && !seen.has(next); ) {
    const key = access.keysById.get(next);
    if (key === undefined || key.revoked_at !== null) return undefined;
    if (findUsableKey(access, next, now) !== undefined) return key;
    seen.add(next);
    next = key.successor;
  }
  return undefined;
}

/** Counts a request as `uses` uses against both limits, unless one refuses it. A promise if the count must be read, or quotas are shared. */
export function addUse(access: Access, key: KnownKey, now: EpochMs, uses = 1): Allowance | Promise<Allowance> {
  if (!access.counted.has(key)) return readStoredUse(access, key, now).then(() => addUse(access, key, now, uses));
  const taken = access.quotas.take(key, now, uses);
  return taken instanceof Promise ? taken.then((later) => recordUse(access, key, later(), now)) : recordUse(access, key, taken, now);
}

async function readStoredUse(access: Access, key: KnownKey, now: EpochMs): Promise<void> {
  const { day } = windowAt(key.use.window, now);
  const stored = await findUse(access.db, key.id, day);
  if (access.counted.has(key)) return; // Another request was faster, or a save has begun and will return the sum.
  endDay(access, key, day);
  key.use = { ...key.use, window: { day, used: stored + key.unsaved } };
  access.counted.add(key);
}

function endDay(access: Access, key: KnownKey, day: number): void {
  if (day === key.use.window.day || key.unsaved === 0) return;
  access.endedDays.push({ key, day: key.use.window.day, count: key.unsaved });
  access.dirty.delete(key);
  key.unsaved = 0;
}

/** Only what this server granted is unsaved: each server stores its own requests. */
function recordUse(access: Access, key: KnownKey, { use, allowance, taken }: Taken, now: EpochMs): Allowance {
  endDay(access, key, use.window.day);
  key.use = use;
  if (allowance.retryAfterSeconds === 0) {
    key.unsaved += taken;
    key.last_used_at = now;
    access.dirty.add(key);
  }
  return allowance;
}

/** Takes back a request without response. The minute keeps it, so that nobody who closes connections early can ask without limit. */
export function takeBackUse({ quotas, dirty }: Access, key: KnownKey, { reset, retryAfterSeconds }: Allowance): void {
  const { window } = key.use;
  if (retryAfterSeconds > 0 || resetOf(window) !== reset) return;
  key.use = { ...key.use, window: { ...window, used: window.used - 1 } };
  key.unsaved--; // -1 if the request is stored already: the next save subtracts it.
  dirty.add(key);
  quotas.takeBack?.(key, window.day);
}

/** Stores what was counted since the last call, and reads the sums of all servers. If it throws, the next call writes it. */
export async function saveUse(access: Access): Promise<void> {
  await updateAccess(access); // Even without requests, so that the next one has little to read.
  await access.saveOnce();
}

async function writeUse(access: Access): Promise<void> {
  beginSave(access);
  const { saving } = access;
  if (saving.length === 0) return;
  try {
    const added = saving.map(({ key, day, count }) => ({ key_id: key.id, day, count, last_used_at: key.last_used_at }));
    takeSums(access, await storeUse(access.db, added));
  } catch (error) {
    undoSave(access);
    throw error;
  } finally {
    access.saving = [];
  }
}

/** Requests that arrive from here on belong to the next save. */
function beginSave(access: Access): void {
  const today = Array.from(access.dirty, (key) => ({ key, day: key.use.window.day, count: key.unsaved }));
  access.saving = [...access.endedDays, ...today];
  access.endedDays = [];
  for (const { key } of today) {
    key.unsaved = 0;
    access.counted.add(key); // During the save the stored count may or may not include these requests, so it must not be read.
  }
  access.dirty.clear();
}

function undoSave(access: Access): void {
  for (const { key, day, count } of access.saving) {
    if (day !== key.use.window.day) access.endedDays.push({ key, day, count });
    else {
      key.unsaved += count;
      access.dirty.add(key);
    }
  }
}

function takeSums(access: Access, { generation, sums }: StoredSums): void {
  const saved = new Map(access.saving.map(({ key }) => [key.id, key]));
  for (const { key_id, day, count } of sums) {
    const key = saved.get(key_id);
    if (key?.use.window.day === day) key.use = { ...key.use, window: { day, used: count + key.unsaved } };
  }
  if (generation === access.lastSeen.use + 1) access.lastSeen.use = generation; // No other server has stored use since the last update of memory.
}

async function readNewer(access: Access): Promise<void> {
  const lastSeenCommit = access.db.commits(); // Before reading: a later commit changes it.
  const { keys, use } = await findGenerations(access.db);
  if (keys !== access.lastSeen.keys) await readChangedKeys(access, keys);
  if (use !== access.lastSeen.use) access.counted = new Set(access.saving.map(({ key }) => key));
  Object.assign(access, { lastSeenCommit, lastSeen: { keys, use } });
}

const keysAfter = query({ generation: keys.generation }, ({ generation }) =>
  select({
    ...pick(keys, "id", "hash", "revoked_at", "expires_at", "member", "successor"),
    account: accounts.name,
    ...pick(accounts, "subscription"),
    ...pick(plans, "daily", "per_minute"),
  })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.account_id))
    .innerJoin(plans, eq(plans.name, accounts.plan))
    .where(gt(keys.generation, generation)),
);

async function readChangedKeys(access: Access, newest: number): Promise<void> {
  const isOlder = newest < access.lastSeen.keys;
  const keysByHash = isOlder ? new Map<KeyHash, KnownKey>() : access.keys;
  await access.db.each(keysAfter, { generation: isOlder ? -1 : access.lastSeen.keys }, (rows) => {
    for (const { hash, subscription, ...row } of rows) {
      const known = access.keys.get(hashFromBytes(hash)) ?? { use: unused, unsaved: 0, last_used_at: 0 };
      const stored = { ...row, subscribed: subscription === "active" };
      keysByHash.set(hashFromBytes(hash), Object.assign(known, stored)); // The same object: `dirty` and requests under way hold it.
    }
  });
  access.keys = keysByHash;
  access.keysById = new Map(Array.from(keysByHash.values(), (key) => [key.id, key]));
}
