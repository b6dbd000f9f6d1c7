/**
 * Members: people with an allowed mail address and without a key. Who signs in by a link gets a row in `keys`, with a hash of which nobody has
 * the key: quotas, sessions, feeds and their end are then those of keys (E-80), and nobody stores anything by asking for links. (E-186)
 */
import { asc, isNotNull } from "drizzle-orm";
import type { StateDb, StateSql } from "../../db/engine.ts";
import { deleteBy, insertInto, orIgnore, pick, query, select, selectAll, selectAmong, selectSome, updateBy } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { allowed, keys } from "../../db/schema/sqlite/state.ts";
import type { Machine } from "../runtime/machine.ts";
import type { EpochMs } from "../text/instant.ts";
import { isMailAddress } from "../text/mail-address.ts";
import { oneLine } from "../text/terminal-text.ts";
import { createAccount, findAccount } from "./account.ts";
import { nextGeneration } from "./generations.ts";
import { storeKey } from "./key.ts";

/** The account of all members. `accounts set members --subscription inactive` shuts all of them out, and its plan is their quota. */
const ACCOUNT = { name: "members", plan: "starter" };

const allAllowed = query({}, () => selectAll(allowed).orderBy(asc(allowed.entry)));
const allowedAmong = selectAmong(allowed, ["entry"], "entry");
const insertAllowed = insertInto(allowed, { onConflict: orIgnore });
const removeAllowed = deleteBy(allowed, "entry");
const allMembers = query({}, () => {
  const fields = pick(keys, "id", "member", "created_at", "last_used_at");
  return select(fields).from(keys).where(isNotNull(keys.member)).orderBy(asc(keys.member));
});
const byAddress = selectSome(keys, ["id", "sign_ins"], "member");
const byId = selectSome(keys, ["member"], "id");
const setSignIns = updateBy(keys, ["sign_ins"], "id");
const end = updateBy(keys, ["revoked_at", "generation", "member"], "id");

const ADDRESS_MAX = 254;

/** An address as it is stored and compared: people write it in any letter case. Undefined if it is none. */
export function plainAddress(text: string): string | undefined {
  const address = text.trim().normalize("NFC").toLowerCase();
  if (address.length > ADDRESS_MAX || !isMailAddress(address)) return undefined;
  return /@([^@]*\.[^@]*|localhost)$/.test(address) ? address : undefined;
}

/** An address, a domain as `@lab.example`, or an address that is denied as `!a@lab.example`. Throws if a text is none of them. */
function readEntry(text: string): string {
  const [, denial = "", rest = ""] = /^\s*(!?)\s*(.*)$/s.exec(text) ?? [];
  const isDomain = denial === "" && rest.startsWith("@");
  const address = plainAddress(isDomain ? `a${rest}` : rest);
  if (address !== undefined) return isDomain ? address.slice(1) : denial + address;
  throw new Failure(
    `Cannot take "${oneLine(text)}": it must be an address such as a@uni.example, a domain such as @lab.example, or !b@lab.example to deny one address of a domain`,
  );
}

/** What is allowed, and who has signed in. */
export async function listMembers(db: StateSql) {
  const members = await db.all(allMembers);
  return { allowed: await db.all(allAllowed), members: members.map(({ member, ...row }) => ({ ...row, address: member ?? "" })) };
}

/** Allows addresses and domains, and denies addresses. Returns the entries, and the ids of the members who are denied now. */
export async function allowMembers(db: StateDb, texts: readonly string[], now: EpochMs) {
  const entries = texts.map(readEntry);
  return db.transaction(async (sql) => {
    if ((await findAccount(sql, ACCOUNT.name)) === undefined) await createAccount(sql, ACCOUNT, now);
    for (const entry of entries) await sql.run(insertAllowed, { entry, added_at: now });
    return { entries, ended: await endOthers(sql, [], now) };
  });
}

/**
 * Removes entries, and ends the members who then may not sign in, and those who are named. Returns the ids of the members who ended, and
 * those of the addresses that a domain still allows: they may come again.
 */
export async function endMembers(db: StateDb, texts: readonly string[], now: EpochMs) {
  const entries = texts.map(readEntry);
  return db.transaction(async (sql) => {
    const { allowed, members } = await listMembers(sql);
    const known = new Set([...allowed.map(({ entry }) => entry), ...members.map(({ address }) => address)]);
    for (const entry of entries) {
      if (!known.has(entry)) throw new Failure(`Cannot remove ${entry}: it is not there; fundfeed members list shows what is`);
      await sql.run(removeAllowed, { entry });
    }
    const ended = await endOthers(sql, entries, now);
    const stillAllowed: string[] = [];
    for (const entry of entries) if (/^[^!@]/.test(entry) && (await isAllowed(sql, entry))) stillAllowed.push(entry);
    return { entries, ended, stillAllowed };
  });
}

/** Ends these members, and those who may not sign in any more: their cookies and feeds end at once, and their addresses are erased. */
async function endOthers(sql: StateSql, named: readonly string[], now: EpochMs): Promise<string[]> {
  const ended: string[] = [];
  for (const { id, address } of (await listMembers(sql)).members)
    if (named.includes(address) || !(await isAllowed(sql, address))) ended.push(id);
  const generation = ended.length === 0 ? 0 : await nextGeneration(sql, "keys");
  for (const id of ended) await sql.run(end, { id, revoked_at: now, generation, member: null });
  return ended;
}

async function isAllowed(sql: StateSql, address: string): Promise<boolean> {
  const denial = `!${address}`;
  const found = await sql.all(allowedAmong, { entry: [denial, address, address.slice(address.lastIndexOf("@"))] });
  return found.length > 0 && found.every(({ entry }) => entry !== denial);
}

/** How often an address has signed in; undefined if it may not, or not now. */
export async function signInsOf(sql: StateSql, address: string): Promise<number | undefined> {
  if (!(await isAllowed(sql, address)) || (await findAccount(sql, ACCOUNT.name))?.subscription !== "active") return undefined;
  return (await sql.get(byAddress, { member: address }))?.sign_ins ?? 0;
}

/** Signs an address in for the nth time. Returns the id of the member; undefined if it has signed in since, or may not any more. */
export async function signInMember(db: StateDb, member: string, sign_ins: number, machine: Pick<Machine, "now" | "randomBytes">) {
  return db.transaction(async (sql) => {
    const account = await findAccount(sql, ACCOUNT.name);
    if (account === undefined || (await signInsOf(sql, member)) !== sign_ins) return undefined;
    const known = await sql.get(byAddress, { member });
    const hash = Buffer.from(machine.randomBytes(32)); // Of no key.
    const row = { account_id: account.id, generation: await nextGeneration(sql, "keys"), hash, member, sign_ins: 1 };
    if (known === undefined) return storeKey(sql, row, machine.randomBytes, machine.now());
    await sql.run(setSignIns, { id: known.id, sign_ins: sign_ins + 1 });
    return known.id;
  });
}

/** Where mails to a member go; undefined if the member was removed, or members are shut out. */
export async function addressOfMember(sql: StateSql, id: string): Promise<string | undefined> {
  const isOpen = (await findAccount(sql, ACCOUNT.name))?.subscription === "active";
  return (isOpen && (await sql.get(byId, { id }))?.member) || undefined;
}

/** Those of these members who were removed; not those who are only shut out. */
export async function removedAmong(sql: StateSql, ids: readonly string[]): Promise<string[]> {
  const present = new Set((await listMembers(sql)).members.map(({ id }) => id));
  return ids.filter((id) => !present.has(id));
}
