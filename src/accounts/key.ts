/** API keys: made once, shown once, stored as their SHA-256. */
import { crc32 } from "node:zlib";
import { and, asc, desc, eq, gt, isNull } from "drizzle-orm";
import type { StateDb, StateSql } from "../../db/engine.ts";
import { exists, insertInto, pick, query, select, update } from "../../db/query.ts";
import { accounts, keys, use } from "../../db/schema/sqlite/state.ts";
import { dateOf, dayOf } from "../quota/daily-window.ts";
import { formatInstant } from "../text/instant.ts";
import { type Account, changeAccount, createAccount, findAccount } from "./account.ts";
import { readName } from "./name.ts";
import { nextRevision } from "./revisions.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

/** The fixed live-key prefix. */
export const KEY_PREFIX = "ffk_live_";

type RandomBytes = (count: number) => Uint8Array;

const insertKey = insertInto(keys);
const keyExists = query({ id: keys.id }, ({ id }) => select(exists).from(keys).where(eq(keys.id, id)));
const keyWithAccount = query({ id: keys.id }, ({ id }) =>
  select({ ...pick(keys, "account_id", "label", "expires_at", "revoked_at"), account: accounts.name, plan: accounts.plan })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.account_id))
    .where(eq(keys.id, id)),
);
const expireKey = query({ id: keys.id, expires_at: keys.expires_at, revision: keys.revision }, ({ id, expires_at, revision }) =>
  update(keys).set({ expires_at, revision }).where(eq(keys.id, id)),
);
const revokeLiveKey = query({ id: keys.id, revoked_at: keys.revoked_at, revision: keys.revision }, ({ id, revoked_at, revision }) =>
  update(keys)
    .set({ revoked_at, revision })
    .where(and(eq(keys.id, id), isNull(keys.revoked_at))),
);
const keyListings = query({ today: use.day }, ({ today }) =>
  select({
    ...pick(keys, "id", "label", "last_four", "created_at", "expires_at", "revoked_at", "last_used_at"),
    account: accounts.name,
    used_today: use.count,
  })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.account_id))
    .leftJoin(use, and(eq(use.key_id, keys.id), eq(use.day, today)))
    .orderBy(asc(keys.created_at), asc(keys.id)),
);
const useByDay = () =>
  select({ day: use.day, id: keys.id, account: accounts.name, label: keys.label, requests: use.count })
    .from(use)
    .innerJoin(keys, eq(keys.id, use.key_id))
    .innerJoin(accounts, eq(accounts.id, keys.account_id))
    .orderBy(desc(use.day), asc(accounts.name), asc(keys.created_at), asc(keys.id));
const useOfAllKeys = query({ after: use.day }, ({ after }) => useByDay().where(gt(use.day, after)));
const useOfKey = query({ after: use.day, id: keys.id }, ({ after, id }) => useByDay().where(and(gt(use.day, after), eq(keys.id, id))));

/** A key as an operator sees it: never the key itself. Instants are milliseconds since 1970 UTC. */
export type KeyListing = {
  id: string;
  account: string;
  label: string | null;
  last_four: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  used_today: number;
};

export type NewKey = { id: string; key: string; account: string; plan: string };

/** Requests of one key on one UTC day, such as 2026-03-01. */
export type KeyUse = { day: string; id: string; account: string; label: string | null; requests: number };

/** 190 bits of entropy, then a checksum by which a scanner for leaked keys can tell a real one. */
export function newKey(randomBytes: RandomBytes): string {
  const key = KEY_PREFIX + randomText(RANDOM_LENGTH, randomBytes);
  return key + checksum(key);
}

/** Whether a text is built like a key: what is not one is refused without a look at what is stored. */
export function isWellFormedKey(text: string): boolean {
  return (
    text.length === KEY_PREFIX.length + RANDOM_LENGTH + CHECKSUM_LENGTH &&
    text.startsWith(KEY_PREFIX) &&
    checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
  );
}

/** SHA-256 in hexadecimal. No salt or stretching: a key is random, there is nothing to guess. */
export function hashOfKey(key: string): string {
  return Bun.CryptoHasher.hash("sha256", key, "hex");
}

/** A new key for an account, which is created where it is missing and moved to `plan` where one is named. The key is in the answer alone. */
export async function createKey(
  db: StateDb,
  { account: name, plan, label, expires_at }: { account: string; plan?: string; label?: string; expires_at?: number },
  randomBytes: RandomBytes,
  now: number,
): Promise<NewKey> {
  const readLabel = label === undefined ? null : readName(label, "Cannot create key", "label");
  refusePast(expires_at, "Cannot create key", now);
  return db.transaction(async (sql) => {
    const account = await accountFor(sql, name, plan, now);
    const terms = { account_id: account.id, label: readLabel, expires_at: expires_at ?? null, revision: await nextRevision(sql, "keys") };
    const { key, row } = madeKey(terms, randomBytes, now);
    await sql.run(insertKey, row);
    return { id: row.id, key, account: account.name, plan: account.plan };
  });
}

/**
 * A new key in place of an old one, for the same account under the same label. The old one stays valid for `graceMs`, and never longer
 * than it would have been.
 */
export async function rotateKey(
  db: StateDb,
  id: string,
  { graceMs, expires_at }: { graceMs: number; expires_at?: number },
  randomBytes: RandomBytes,
  now: number,
): Promise<NewKey & { replaced: { id: string; expires_at: number } }> {
  const action = `Cannot rotate key "${id}"`;
  return db.transaction(async (sql) => {
    const old = await sql.get(keyWithAccount, { id });
    if (old === undefined) throw new Error(`${action}: there is no key of that id`);
    if (old.revoked_at !== null) throw new Error(`${action}: it is revoked`);
    if (old.expires_at !== null && old.expires_at <= now) throw new Error(`${action}: it has expired`);
    // Neither a key without end in place of one that ends, nor one that ends with a grace, by oversight.
    if (old.expires_at !== null && expires_at === undefined)
      throw new Error(`${action}: it expires at ${formatInstant(old.expires_at)}; say with --expires when the new one does`);
    refusePast(expires_at, action, now);

    const { account_id, label } = old;
    const revision = await nextRevision(sql, "keys");
    const { key, row } = madeKey({ account_id, label, expires_at: expires_at ?? null, revision }, randomBytes, now);
    const ends = Math.min(old.expires_at ?? Number.POSITIVE_INFINITY, now + graceMs);
    await sql.run(insertKey, row);
    await sql.run(expireKey, { id, expires_at: ends, revision });
    return { id: row.id, key, account: old.account, plan: old.plan, replaced: { id, expires_at: ends } };
  });
}

/** All keys, the oldest first. */
export async function listKeys(db: StateDb, now: number): Promise<KeyListing[]> {
  const rows = await db.all(keyListings, { today: dayOf(now) });
  return rows.map(({ used_today, ...key }) => ({ ...key, used_today: used_today ?? 0 }));
}

/** What all keys, or one, were used for in the last `days` UTC days, the newest day first. Days without requests are left out. */
export async function listUse(db: StateDb, days: number, id: string | undefined, now: number): Promise<KeyUse[]> {
  const after = dayOf(now) - days;
  const rows = id === undefined ? await db.all(useOfAllKeys, { after }) : await db.all(useOfKey, { after, id });
  if (rows.length === 0 && id !== undefined) await requireKey(db, id, "Cannot show the use of key");
  return rows.map(({ day, ...rest }) => ({ day: dateOf(day), ...rest }));
}

/** Ends a key for good; a running server refuses it from the next request on. Revoking it again changes nothing. */
export async function revokeKey(db: StateDb, id: string, now: number): Promise<void> {
  await db.transaction(async (sql) => {
    await requireKey(sql, id, "Cannot revoke key");
    await sql.run(revokeLiveKey, { id, revoked_at: now, revision: await nextRevision(sql, "keys") });
  });
}

async function requireKey(sql: StateSql, id: string, action: string): Promise<void> {
  const key = await sql.get(keyExists, { id });
  if (key === undefined) throw new Error(`${action} "${id}": there is no key of that id`);
}

function refusePast(expires_at: number | undefined, action: string, now: number): void {
  if (expires_at !== undefined && expires_at <= now) throw new Error(`${action}: it would have expired already`);
}

type KeyTerms = { account_id: number; label: string | null; expires_at: number | null; revision: number };

/** A new key, and its row, which knows it by its hash. */
function madeKey(terms: KeyTerms, randomBytes: RandomBytes, now: number): { key: string; row: typeof keys.$inferSelect } {
  const key = newKey(randomBytes);
  const id = `key_${randomText(12, randomBytes)}`;
  const hash = Buffer.from(hashOfKey(key), "hex");
  return { key, row: { ...terms, id, hash, last_four: key.slice(-4), created_at: now, revoked_at: null, last_used_at: null } };
}

async function accountFor(sql: StateSql, name: string, plan: string | undefined, now: number): Promise<Account> {
  const change = plan === undefined ? {} : { plan };
  const account = await findAccount(sql, name);
  if (account === undefined) return createAccount(sql, { name, ...change }, now);
  return plan === undefined ? account : changeAccount(sql, name, change);
}

/** Base 62 of random bytes; those beyond the last full turn of the alphabet are passed over, so that no letter is likelier. */
function randomText(length: number, randomBytes: RandomBytes): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let sum = "";
  while (sum.length < CHECKSUM_LENGTH) {
    sum += ALPHABET.charAt(rest % 62);
    rest = Math.floor(rest / 62);
  }
  return sum;
}
