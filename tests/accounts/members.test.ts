/** Who may sign in, once for each link, and what ends a member. */
import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { StateDb } from "../../db/engine.ts";
import { createAccess, findHeir, findUsableKey, updateAccess } from "../../src/accounts/access.ts";
import { setAccount } from "../../src/accounts/account.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "../../src/accounts/key.ts";
import {
  addressOfMember,
  allowMembers,
  endMembers,
  listMembers,
  plainAddress,
  removedAmong,
  signInMember,
  signInsOf,
} from "../../src/accounts/members.ts";
import { locations } from "../support/engines.ts";
import { dropScratch } from "../support/imports.ts";

afterAll(dropScratch);
setDefaultTimeout(300_000);

const NOW = Date.UTC(2026, 2, 1);
const DAY = 86_400_000;
const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));

test.each([
  [" Ann@Uni.Example ", "ann@uni.example"],
  ["u\u0308ber@uni.example", "\u00fcber@uni.example"],
  ["ann@localhost", "ann@localhost"],
  ["ann@uni", undefined],
  ["ann", undefined],
  ["@uni.example", undefined],
  ['"ann"@uni.example', undefined],
  ["ann b@uni.example", undefined],
  ["ann@uni.example,bob@uni.example", undefined],
  [`${"a".repeat(64)}@${"b".repeat(240)}.example`, undefined],
])("plainAddress(%j) is %j", (text, expected) => {
  expect(plainAddress(text)).toBe(expected);
});

describe.each(locations)("on %s,", (_, isThere, newLocation) => {
  const testIf = test.if(isThere);

  let db: StateDb;
  beforeEach(async () => {
    if (isThere) db = await (await newLocation()).state(NOW);
  });
  afterEach(async () => {
    if (isThere) await db.close();
  });

  const allow = (...entries: string[]) => allowMembers(db, entries, NOW);
  const signIn = async (address: string) =>
    signInMember(db, address, (await signInsOf(db, address)) ?? -1, { randomBytes, now: () => NOW });

  testIf("an address, a domain and a denial say who may sign in, and a denial ends who did", async () => {
    await allow("a@uni.example", "@lab.example");
    const ids = [await signIn("a@uni.example"), await signIn("b@lab.example")];
    expect(ids).toEqual([expect.stringMatching(/^key_/), expect.stringMatching(/^key_/)]);
    for (const other of ["b@uni.example", "a@sub.lab.example", "a@uni.example.evil.example"])
      expect(await signInsOf(db, other)).toBeUndefined();
    expect(await allow("!b@lab.example")).toEqual({ entries: ["!b@lab.example"], ended: [ids[1] ?? ""] });
    expect(await signInsOf(db, "b@lab.example")).toBeUndefined();
    expect(await signInsOf(db, "c@lab.example")).toBe(0);
    await endMembers(db, ["!b@lab.example"], NOW);
    expect(await signInsOf(db, "b@lab.example")).toBe(0);
    await expect(endMembers(db, ["nobody@else.example"], NOW)).rejects.toThrow("Cannot remove nobody@else.example: it is not there");
    await expect(allow("@lab.example", "!@lab.example")).rejects.toThrow('Cannot take "!@lab.example": it must be an address');
  });

  testIf("of two sign-ins by the same count one succeeds, and it ends the other links", async () => {
    await allow("@lab.example");
    const both = await Promise.all([1, 2].map(() => signInMember(db, "a@lab.example", 0, { randomBytes, now: () => NOW })));
    expect(both.filter((id) => id !== undefined)).toHaveLength(1);
    expect(await signInMember(db, "a@lab.example", 0, { randomBytes, now: () => NOW })).toBeUndefined();
    expect(await signInMember(db, "a@lab.example", 1, { randomBytes, now: () => NOW })).toBe(both.find((id) => id !== undefined));
    expect((await listMembers(db)).members).toHaveLength(1);
  });

  testIf("a member is no key that is listed or rotated, and what ends her erases her address", async () => {
    await allow("@lab.example");
    const id = (await signIn("a@lab.example")) ?? "";
    expect(await listKeys(db, NOW)).toEqual([]);
    await expect(rotateKey(db, id, { graceMs: 0 }, randomBytes, NOW)).rejects.toThrow("it is a member, who has no key");
    expect(await addressOfMember(db, id)).toBe("a@lab.example");
    await setAccount(db, "members", { subscription: "inactive" });
    expect([await addressOfMember(db, id), await signInsOf(db, "a@lab.example")]).toEqual([undefined, undefined]);
    expect(await removedAmong(db, [id])).toEqual([]);
    await setAccount(db, "members", { subscription: "active" });
    await revokeKey(db, id, NOW);
    expect([await addressOfMember(db, id), await removedAmong(db, [id, "key_none"])]).toEqual([undefined, [id, "key_none"]]);
    const again = await signIn("a@lab.example");
    expect(again).not.toBe(id);
    expect((await endMembers(db, ["a@lab.example"], NOW)).stillAllowed).toEqual(["a@lab.example"]);
    expect((await endMembers(db, ["@lab.example"], NOW)).ended).toEqual([]);
  });

  testIf("servers know who signed in and who ended from the next request on", async () => {
    const access = await createAccess(db);
    await allow("@lab.example");
    const id = (await signIn("a@lab.example")) ?? "";
    await updateAccess(access);
    expect(findUsableKey(access, id, NOW)).toMatchObject({ id, member: "a@lab.example", account: "members" });
    await endMembers(db, ["@lab.example"], NOW);
    await updateAccess(access);
    expect(findUsableKey(access, id, NOW)).toBeUndefined();
  });

  testIf("the heir of a key is the one that replaced it, until it or that one is revoked", async () => {
    const access = await createAccess(db);
    const first = await createKey(db, { account: "Team" }, randomBytes, NOW);
    const second = await rotateKey(db, first.id, { graceMs: DAY }, randomBytes, NOW);
    const third = await rotateKey(db, second.id, { graceMs: 0 }, randomBytes, NOW);
    const heirOf = async (id: string, now: number) => {
      await updateAccess(access);
      return findHeir(access, id, now)?.id;
    };
    expect([await heirOf(first.id, NOW), await heirOf(first.id, NOW + DAY), await heirOf(second.id, NOW)]).toEqual([
      first.id,
      third.id,
      third.id,
    ]);
    await revokeKey(db, third.id, NOW);
    expect([await heirOf(first.id, NOW + DAY), await heirOf(third.id, NOW)]).toEqual([undefined, undefined]);
    const other = await createKey(db, { account: "Team" }, randomBytes, NOW);
    await rotateKey(db, other.id, { graceMs: 0 }, randomBytes, NOW);
    await revokeKey(db, other.id, NOW);
    expect(await heirOf(other.id, NOW)).toBeUndefined();
    expect(await heirOf("key_none", NOW)).toBeUndefined();
  });
});
