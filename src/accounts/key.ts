/** API keys: created, shown once, and stored as their SHA-256. */
import { crc32 } from "node:zlib";
import { and, asc, desc, eq, gt, isNull, ne } from "drizzle-orm";
import type { StateDb, StateSql } from "../../db/engine.ts";
import { insertInto, pick, query, type RowsOf, select, update, updateBy } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { accounts, keys, use } from "../../db/schema/sqlite/state.ts";
import { dayOf } from "../quota/allowance.ts";
import { DAY_MS, dateAt, type EpochMs, formatInstant } from "../text/instant.ts";
import { type Account, changeAccount, createAccount, findAccount } from "./account.ts";
import { nextGeneration } from "./generations.ts";
import { readName } from "./name.ts";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

export const KEY_PREFIX = "ffk_live_";

/** A key as its caller holds it: nothing stores or logs it. */
type PlainKey = string & { readonly kind: "plain key" };

export type KeyHash = string & { readonly kind: "key hash" };

type RandomBytes = (count: number) => Uint8Array;

/** The account is created if it is missing, and moved to `plan` if there is one. */
type WantedKey = { account: string; plan?: string | undefined; label?: string | undefined; expires_at?: EpochMs | undefined };

const insertKey = insertInto(keys);
const keyWithAccount = query({ id: keys.id }, ({ id }) =>
  select({ ...pick(keys, "account_id", "label", "expires_at", "revoked_at", "member"), account: accounts.name, plan: accounts.plan })
    .from(keys)
    .innerJoin(accounts, eq(accounts.id, keys.account_id))
    .where(eq(keys.id, id)),
);
const expireKey = updateBy(keys, ["expires_at", "successor", "generation"], "id");
const revokeLiveKey = query(pick(keys, "id", "revoked_at", "generation"), ({ id, revoked_at, generation }) =>
  update(keys)
    .set({ revoked_at, generation, member: null }) // The address may sign in again, and gets another id.
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
    .where(ne(keys.last_four, ""))
    .orderBy(asc(keys.created_at), asc(keys.id)),
);
const useByDay = query({ after: use.day }, ({ after }) =>
  select({ day: use.day, id: keys.id, account: accounts.name, label: keys.label, requests: use.count })
    .from(use)
    .innerJoin(keys, eq(keys.id, use.key_id))
    .innerJoin(accounts, eq(accounts.id, keys.account_id))
    .where(gt(use.day, after))
    .orderBy(desc(use.day), asc(accounts.name), asc(keys.created_at), asc(keys.id)),
);

export type KeyListing = RowsOf<typeof keyListings> & { state: "active" | "expired" | "revoked"; used_today: number };

export type NewKey = { id: string; key: PlainKey; account: string; plan: string };

/** Whether a key has expired. It works until just before that instant. */
export function isExpired(expires_at: EpochMs | null, now: EpochMs): expires_at is EpochMs {
  return expires_at !== null && expires_at <= now;
}

function stateOf({ expires_at, revoked_at }: Pick<KeyListing, "expires_at" | "revoked_at">, now: EpochMs): KeyListing["state"] {
  if (revoked_at !== null) return "revoked";
  return isExpired(expires_at, now) ? "expired" : "active";
}

/** A random key: 190 bits of entropy, and a checksum by which a scanner for leaked keys recognizes it. */
export function newKey(randomBytes: RandomBytes): PlainKey {
  const text = KEY_PREFIX + randomText(RANDOM_LENGTH, randomBytes);
  return (text + checksum(text)) as PlainKey;
}

/** Whether a text has the length, the prefix and the checksum of a key. Any other text is refused without a hash. */
export function isWellFormedKey(text: string): text is PlainKey {
  return (
    text.length === KEY_PREFIX.length + RANDOM_LENGTH + CHECKSUM_LENGTH &&
    text.startsWith(KEY_PREFIX) &&
    checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
  );
}

/** The hash under which a key is stored. It needs no salt and no stretching, because a key is random. */
export function hashOfKey(key: PlainKey): KeyHash {
  return Bun.CryptoHasher.hash("sha256", key, "hex") as KeyHash;
}

/** A hash from the bytes in which the database stores it. */
export function hashFromBytes(bytes: Uint8Array): KeyHash {
  return bytes.toHex() as KeyHash;
}

/** Creates a key. Only the result contains it. Throws if a name, the plan or the expiry is refused; nothing is stored then. */
export async function createKey(
  db: StateDb,
  { account: name, plan, label: given, expires_at }: WantedKey,
  randomBytes: RandomBytes,
  now: EpochMs,
): Promise<NewKey> {
  const label = given === undefined ? null : readName(given, "Cannot create key", "label");
  refusePast(expires_at, "Cannot create key", now);
  return db.transaction(async (sql) => {
    const account = await accountFor(sql, name, plan, now);
    const generation = await nextGeneration(sql, "keys");
    const added = await addKey(sql, { account_id: account.id, label, expires_at: expires_at ?? null, generation }, randomBytes, now);
    return { ...added, account: account.name, plan: account.plan };
  });
}

/** Replaces a key, which stays valid for `graceMs`. Throws if it cannot be used, or expires while the new one would not. */
export async function rotateKey(
  db: StateDb,
  id: string,
  { graceMs, expires_at }: { graceMs: number; expires_at?: EpochMs | undefined },
  randomBytes: RandomBytes,
  now: EpochMs,
): Promise<NewKey & { replaced: { id: string; expires_at: EpochMs } }> {
  const action = `Cannot rotate key "${id}"`;
  return db.transaction(async (sql) => {
    const { account_id, label, account, plan, ...old } = await requireKey(sql, id, action);
    if (old.member !== null) throw new Failure(`${action}: it is a member, who has no key; fundfeed members remove ends it`);
    if (old.revoked_at !== null) throw new Failure(`${action}: it is revoked`);
    if (isExpired(old.expires_at, now)) throw new Failure(`${action}: it has expired`);
    // A rotation must not extend access by oversight.
    if (old.expires_at !== null && expires_at === undefined)
      throw new Failure(`${action}: it expires at ${formatInstant(old.expires_at)}; give --expires for the new key`);
    refusePast(expires_at, action, now);

    const generation = await nextGeneration(sql, "keys");
    const added = await addKey(sql, { account_id, label, expires_at: expires_at ?? null, generation }, randomBytes, now);
    const ends = Math.min(old.expires_at ?? Number.POSITIVE_INFINITY, now + graceMs);
    await sql.run(expireKey, { id, expires_at: ends, successor: added.id, generation });
    return { ...added, account, plan, replaced: { id, expires_at: ends } };
  });
}

/** All keys, oldest first, with their requests of today. */
export async function listKeys(db: StateDb, now: EpochMs): Promise<KeyListing[]> {
  const rows = await db.all(keyListings, { today: dayOf(now) });
  return rows.map(({ id, used_today, ...key }) => ({ id, state: stateOf(key, now), ...key, used_today: used_today ?? 0 }));
}

/** The requests of all keys, or of one, in the last `days` UTC days, newest first. Days without any are left out. */
export async function listUse(db: StateDb, days: number, id: string | undefined, now: EpochMs) {
  const rows = (await db.all(useByDay, { after: dayOf(now) - days })).filter((row) => id === undefined || row.id === id);
  if (rows.length === 0 && id !== undefined) await requireKey(db, id, `Cannot show the use of key "${id}"`);
  return rows.map(({ day, ...rest }) => ({ day: dateAt(day * DAY_MS), ...rest }));
}

/** Revokes a key for good: a server refuses it from the next request on. Revoking it again changes nothing. Throws if it is unknown. */
export async function revokeKey(db: StateDb, id: string, now: EpochMs): Promise<void> {
  await db.transaction(async (sql) => {
    await requireKey(sql, id, `Cannot revoke key "${id}"`);
    await sql.run(revokeLiveKey, { id, revoked_at: now, generation: await nextGeneration(sql, "keys") });
  });
}

async function requireKey(sql: StateSql, id: string, action: string) {
  const key = await sql.get(keyWithAccount, { id });
  if (key === undefined) throw new Failure(`${action}: there is no key with that id; fundfeed keys list shows the ids`);
  return key;
}

function refusePast(expires_at: EpochMs | undefined, action: string, now: EpochMs): void {
  if (expires_at !== undefined && expires_at <= now) throw new Failure(`${action}: its expiry is in the past`);
}

type KeyRow = typeof keys.$inferSelect;
type KeyTerms = Pick<KeyRow, "account_id" | "label" | "expires_at" | "generation">;

async function addKey(sql: StateSql, terms: KeyTerms, randomBytes: RandomBytes, now: EpochMs): Promise<Pick<NewKey, "id" | "key">> {
  const key = newKey(randomBytes);
  const row = { ...terms, hash: Buffer.from(hashOfKey(key), "hex"), last_four: key.slice(-4) };
  return { id: await storeKey(sql, row, randomBytes, now), key };
}

/** Stores a key, or a member, and returns the id. Columns that are not given are empty. */
export async function storeKey(
  sql: StateSql,
  row: Partial<KeyRow> & Pick<KeyRow, "account_id" | "hash" | "generation">,
  randomBytes: RandomBytes,
  now: EpochMs,
): Promise<string> {
  const id = `key_${randomText(12, randomBytes)}`;
  const nothing = { label: null, expires_at: null, revoked_at: null, last_used_at: null, member: null, successor: null };
  await sql.run(insertKey, { ...nothing, last_four: "", sign_ins: 0, ...row, id, created_at: now });
  return id;
}

async function accountFor(sql: StateSql, name: string, plan: string | undefined, now: EpochMs): Promise<Account> {
  const account = await findAccount(sql, name);
  if (account === undefined) return createAccount(sql, { name, plan }, now);
  return plan === undefined ? account : changeAccount(sql, name, { plan });
}

/** Random text in base 62. Bytes from 248 (4 × 62) on are skipped, so that every letter is equally likely. */
export function randomText(length: number, randomBytes: RandomBytes): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}

function checksum(text: string): string {
  const sum = crc32(text);
  return Array.from({ length: CHECKSUM_LENGTH }, (_, n) => ALPHABET.charAt(Math.floor(sum / 62 ** n) % 62)).join("");
}
