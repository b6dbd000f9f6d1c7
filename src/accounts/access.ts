/**
 * Access: every key with its account, plan and use in memory, as a server needs it at each request.
 *
 * What another process commits to `state.db` (a revoked key, another plan) is seen at the very next request; what requests use up
 * is counted here and written by `saveUse`, so that no request waits for a write (D-24, D-25).
 */
import { and, eq } from "drizzle-orm";
import { commitMark } from "../../db/commits.ts";
import type { StateDb } from "../../db/open.ts";
import * as schema from "../../db/state.ts";
import { type Allowance, ownQuotas, type Quotas, type Taken, type Use } from "../quota/allowance.ts";
import { dayOf } from "../quota/daily-window.ts";
import { fullBucket } from "../quota/token-bucket.ts";
import { hashOfKey, isWellFormedKey } from "./key.ts";

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

/** Requests of a window that ended before they were written. */
type Overdue = { key_id: string; day: number; count: number };

export type Access = {
  db: StateDb;
  keys: Map<string, KnownKey>;
  quotas: Quotas;
  dirty: Set<KnownKey>;
  overdue: Overdue[];
  commits: () => number;
  /** As of the last look: of all commits, of those of other connections, and changes by this one. */
  seen: { commits: number; version: number; changes: number };
};

export async function createAccess(db: StateDb, now: number): Promise<Access> {
  const access: Access = {
    db,
    keys: new Map(),
    quotas: ownQuotas,
    dirty: new Set(),
    overdue: [],
    commits: commitMark(db.sqlite),
    seen: { commits: -1, version: -1, changes: -1 },
  };
  await keepUp(access, now);
  return access;
}

/** Takes in what was committed since the last time, if anything was: to be called at each request, before `findKey`. */
export async function keepUp(access: Access, now: number): Promise<void> {
  if (hasMoved(access)) await readKeys(access, now);
}

/** The key that a text is, or `undefined` when it is none, is revoked or has expired. Looks into memory alone. */
export function findKey(access: Access, text: string, now: number): KnownKey | undefined {
  if (!isWellFormedKey(text)) return undefined;
  const key = access.keys.get(hashOfKey(text));
  return key === undefined || key.revoked || (key.expires_at !== null && key.expires_at <= now) ? undefined : key;
}

/** Counts one request against both limits of a key, unless one of them refuses it. A promise where servers share the count. */
export function useKey(access: Access, key: KnownKey, now: number): Allowance | Promise<Allowance> {
  const taken = access.quotas.take(key, now);
  return taken instanceof Promise ? taken.then((later) => keepUse(access, key, later, now)) : keepUse(access, key, taken, now);
}

/** What this server granted is what it writes: where several share the count, their sum is the day's. */
function keepUse(access: Access, key: KnownKey, { use, allowance }: Taken, now: number): Allowance {
  if (use.window.day !== key.use.window.day && key.unsaved > 0) {
    access.overdue.push({ key_id: key.id, day: key.use.window.day, count: key.unsaved });
    key.unsaved = 0;
  }
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
export async function saveUse(access: Access, now: number): Promise<void> {
  await keepUp(access, now);
  if (access.dirty.size === 0 && access.overdue.length === 0) return;
  const { sqlite } = access.db;
  const known = new Set(Array.from(access.keys.values(), ({ id }) => id)); // A restored database may lack a key that was used.
  const add = sqlite.query<{ count: number }, [string, number, number]>(
    "insert into use (key_id, day, count) values (?, ?, ?) on conflict do update set count = count + excluded.count returning count",
  );
  const touch = sqlite.query("update keys set last_used_at = max(coalesce(last_used_at, 0), ?) where id = ?");

  const totals = sqlite
    .transaction(() => {
      for (const { key_id, day, count } of access.overdue) if (known.has(key_id)) add.get(key_id, day, count);
      return Array.from(access.dirty, (key) => {
        if (!known.has(key.id)) return 0;
        touch.run(key.last_used_at, key.id);
        return add.get(key.id, key.use.window.day, key.unsaved)?.count ?? 0;
      });
    })
    .immediate();

  for (const [index, key] of [...access.dirty].entries()) {
    key.use = { ...key.use, window: { day: key.use.window.day, used: totals[index] ?? 0 } };
    key.unsaved = 0;
  }
  access.dirty.clear();
  access.overdue = [];
  access.seen.changes = changesOf(access.db);
}

/** Whether anything was committed but by `saveUse`. */
function hasMoved({ db, commits, seen }: Access): boolean {
  const present = commits();
  if (present === seen.commits) return false;
  if (versionOf(db) !== seen.version || changesOf(db) !== seen.changes) return true;
  seen.commits = present;
  return false;
}

function versionOf({ sqlite }: StateDb): number {
  return sqlite.query<{ data_version: number }, []>("pragma data_version").get()?.data_version ?? 0;
}

function changesOf({ sqlite }: StateDb): number {
  return sqlite.query<{ changes: number }, []>("select total_changes() as changes").get()?.changes ?? 0;
}

async function readKeys(access: Access, now: number): Promise<void> {
  const seen = { commits: access.commits(), version: versionOf(access.db), changes: changesOf(access.db) }; // Before the rows: a later commit moves them again.
  const { keys, accounts, plans, use } = schema;
  const day = dayOf(now);
  const rows = await access.db.drizzle
    .select({ key: keys, account: accounts, plan: plans, used: use.count })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.account_id))
    .innerJoin(plans, eq(plans.name, accounts.plan))
    .leftJoin(use, and(eq(use.key_id, keys.id), eq(use.day, day)));

  const before = new Map(Array.from(access.keys.values(), (key) => [key.id, key]));
  access.keys = new Map(
    rows.map(({ key, account, plan, used }) => {
      const old = before.get(key.id) ?? { use: { window: { day, used: 0 }, bucket: fullBucket }, unsaved: 0, last_used_at: 0 };
      const present: KnownKey = {
        ...old,
        id: key.id,
        account: account.name,
        subscribed: account.subscription === "active",
        revoked: key.revoked_at !== null,
        expires_at: key.expires_at,
        daily: plan.daily,
        per_minute: plan.per_minute,
        use: old.use.window.day === day ? { ...old.use, window: { day, used: (used ?? 0) + old.unsaved } } : old.use,
      };
      return [key.hash.toString("hex"), Object.assign(old, present)]; // The same object: `dirty` and requests under way hold it.
    }),
  );
  access.seen = seen;
}
