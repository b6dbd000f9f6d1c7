import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { StateDb } from "../../db/engine.ts";
import { addUse, createAccess, saveUse } from "../../src/accounts/access.ts";
import { createAccount, findAccount, listAccounts, listPlans, setAccount, setPlan } from "../../src/accounts/account.ts";
import { createKey, isWellFormedKey, KEY_PREFIX, listKeys, listUse, newKey, revokeKey, rotateKey } from "../../src/accounts/key.ts";
import { locations } from "../support/engines.ts";
import { dropScratch } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";
import { knownKey } from "./known-key.ts";

afterAll(dropScratch);
setDefaultTimeout(300_000); // PostgreSQL starts with the first test that needs it.

const NOW = Date.UTC(2026, 2, 1);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));

describe("newKey()", () => {
  test("returns keys that are well formed and all different", () => {
    const keys = Array.from({ length: 2000 }, () => newKey(randomBytes));
    expect(new Set(keys).size).toBe(2000);
    for (const key of keys) expect([/^ffk_live_[0-9A-Za-z]{38}$/.test(key), isWellFormedKey(key)]).toEqual([true, true]);
  });

  test("detects any one changed character by the checksum", () => {
    const key = newKey(randomBytes);
    for (let at = 0; at < key.length; at++) {
      const changed = key.slice(0, at) + (key[at] === "a" ? "b" : "a") + key.slice(at + 1);
      expect(isWellFormedKey(changed)).toBe(false);
    }
    expect(["", KEY_PREFIX, `${key}a`, key.slice(1)].some(isWellFormedKey)).toBe(false);
  });
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

  describe("createKey()", () => {
    testIf("creates a missing account, and stores only the hash of the key", async () => {
      const created = await createKey(db, { account: "Acme", label: "sync job" }, randomBytes, NOW);
      expect(created).toEqual({
        id: expect.stringMatching(/^key_\w{12}$/),
        key: expect.stringMatching(/^ffk_live_/),
        account: "Acme",
        plan: "trial",
      });
      expect(await listKeys(db, NOW)).toEqual([
        {
          id: created.id,
          state: "active",
          account: "Acme",
          label: "sync job",
          last_four: created.key.slice(-4),
          created_at: NOW,
          expires_at: null,
          revoked_at: null,
          last_used_at: null,
          used_today: 0,
        },
      ]);
      const stored = await Promise.all(["accounts", "keys"].map((table) => db.all(rawSql<object>(`select * from ${table}`))));
      const texts = stored
        .flat()
        .flatMap((row) =>
          Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value))),
        );
      expect(texts.filter((text) => text.includes(created.key.slice(9, 20)))).toEqual([]);
    });

    testIf("moves the account to the named plan, or leaves its plan unchanged", async () => {
      await createKey(db, { account: "Acme", plan: "paid" }, randomBytes, NOW);
      expect((await createKey(db, { account: "Acme" }, randomBytes, NOW)).plan).toBe("paid");
      expect((await createKey(db, { account: "Acme", plan: "starter" }, randomBytes, NOW)).plan).toBe("starter");
      expect(await findAccount(db, "Acme")).toMatchObject({ plan: "starter", subscription: "active" });
    });

    testIf("changes nothing if a name or plan is refused", async () => {
      await expect(createKey(db, { account: "Acme", plan: "gold" }, randomBytes, NOW)).rejects.toThrow(
        'Cannot create account "Acme": there is no plan "gold" (there are: trial, starter, paid)',
      );
      await expect(createKey(db, { account: "Acme", label: " " }, randomBytes, NOW)).rejects.toThrow(
        "Cannot create key: its label is blank",
      );
      expect([await listAccounts(db), await listKeys(db, NOW)]).toEqual([[], []]);
    });
  });

  describe("a key with an expiry", () => {
    testIf("stops working at that instant", async () => {
      const { id } = await createKey(db, { account: "Acme", expires_at: NOW + DAY }, randomBytes, NOW);
      const statesAt = async (now: number) => (await listKeys(db, now)).map(({ state }) => state);
      expect([await statesAt(NOW), await statesAt(NOW + DAY - 1), await statesAt(NOW + DAY)]).toEqual([
        ["active"],
        ["active"],
        ["expired"],
      ]);
      await revokeKey(db, id, NOW + 1);
      expect(await statesAt(NOW + DAY)).toEqual(["revoked"]);
    });

    testIf("is not created if that instant has passed", async () => {
      const made = createKey(db, { account: "Acme", expires_at: NOW }, randomBytes, NOW);
      await expect(made).rejects.toThrow("Cannot create key: its expiry is in the past");
      expect([await listAccounts(db), await listKeys(db, NOW)]).toEqual([[], []]);
    });
  });

  describe("rotateKey()", () => {
    const rotate = (id: string, expires_at?: number) =>
      rotateKey(db, id, { graceMs: HOUR, ...(expires_at === undefined ? {} : { expires_at }) }, randomBytes, NOW);

    testIf("creates a key for the same account and label, and keeps the old one valid for the grace period", async () => {
      const old = await createKey(db, { account: "Acme", plan: "paid", label: "sync job" }, randomBytes, NOW - DAY);
      const { replaced, ...made } = await rotate(old.id);
      expect([made.account, made.plan, replaced]).toEqual(["Acme", "paid", { id: old.id, expires_at: NOW + HOUR }]);
      const listed = (await listKeys(db, NOW)).map(({ id, account, label, expires_at }) => ({ id, account, label, expires_at }));
      expect(listed).toEqual([
        { id: old.id, account: "Acme", label: "sync job", expires_at: NOW + HOUR },
        { id: made.id, account: "Acme", label: "sync job", expires_at: null },
      ]);
      const statesAt = async (now: number) => (await listKeys(db, now)).map(({ state }) => state);
      expect([await statesAt(NOW), await statesAt(NOW + HOUR)]).toEqual([
        ["active", "active"],
        ["expired", "active"],
      ]);
    });

    testIf("never extends the old key, and needs an expiry for the new one", async () => {
      const old = await createKey(db, { account: "Acme", expires_at: NOW + 1000 }, randomBytes, NOW - DAY);
      await expect(rotate(old.id)).rejects.toThrow(
        `Cannot rotate key "${old.id}": it expires at 2026-03-01T00:00:01.000Z; give --expires for the new key`,
      );
      expect((await rotate(old.id, NOW + DAY)).replaced.expires_at).toBe(NOW + 1000);
      expect((await listKeys(db, NOW)).map(({ expires_at }) => expires_at)).toEqual([NOW + 1000, NOW + DAY]);
    });

    testIf("replaces no key that is unknown, revoked or expired", async () => {
      const [revoked, expired] = [
        await createKey(db, { account: "Acme" }, randomBytes, NOW - DAY),
        await createKey(db, { account: "Acme", expires_at: NOW }, randomBytes, NOW - DAY),
      ];
      await revokeKey(db, revoked.id, NOW - 1);
      await expect(rotate("key_x")).rejects.toThrow('Cannot rotate key "key_x": there is no key with that id');
      await expect(rotate(revoked.id)).rejects.toThrow(`Cannot rotate key "${revoked.id}": it is revoked`);
      await expect(rotate(expired.id)).rejects.toThrow(`Cannot rotate key "${expired.id}": it has expired`);
      expect(await listKeys(db, NOW)).toHaveLength(2);
    });
  });

  describe("listUse()", () => {
    testIf("returns every key and day with requests, newest day first", async () => {
      const first = await createKey(db, { account: "Acme", label: "sync" }, randomBytes, NOW - 40 * DAY);
      const second = await createKey(db, { account: "Bell" }, randomBytes, NOW - 40 * DAY);
      const access = await createAccess(db);
      const request = async (key: string, now: number) => {
        const known = knownKey(access, key);
        await addUse(access, known, now);
        await saveUse(access);
      };
      for (const now of [NOW - 30 * DAY, NOW - 29 * DAY, NOW, NOW + 1]) await request(first.key, now);
      await request(second.key, NOW);
      const acme = { id: first.id, account: "Acme", label: "sync" };
      const all = [
        { day: "2026-03-01", ...acme, requests: 2 },
        { day: "2026-03-01", id: second.id, account: "Bell", label: null, requests: 1 },
        { day: "2026-01-31", ...acme, requests: 1 },
      ];
      expect(await listUse(db, 30, undefined, NOW)).toEqual(all);
      expect(await listUse(db, 1, second.id, NOW)).toEqual(all.slice(1, 2));
      expect(await listUse(db, 1, second.id, NOW + DAY)).toEqual([]);
      await expect(listUse(db, 1, "key_x", NOW)).rejects.toThrow('Cannot show the use of key "key_x": there is no key with that id');
    });
  });

  describe("revokeKey()", () => {
    testIf("keeps the first instant, and refuses an unknown id", async () => {
      const { id } = await createKey(db, { account: "Acme" }, randomBytes, NOW);
      await revokeKey(db, id, NOW + 1);
      await revokeKey(db, id, NOW + 2);
      expect((await listKeys(db, NOW))[0]?.revoked_at).toBe(NOW + 1);
      await expect(revokeKey(db, "key_x", NOW)).rejects.toThrow('Cannot revoke key "key_x": there is no key with that id');
    });
  });

  describe("accounts", () => {
    testIf("are created once, with any name that is not blank", async () => {
      expect(await createAccount(db, { name: "  Åsa & Söhne  " }, NOW)).toMatchObject({
        name: "Åsa & Söhne",
        plan: "trial",
        subscription: "active",
      });
      await expect(createAccount(db, { name: "Åsa & Söhne" }, NOW)).rejects.toThrow("an account with that name exists");
      await expect(createAccount(db, { name: " \t" }, NOW)).rejects.toThrow("its name is blank");
      await expect(createAccount(db, { name: "x".repeat(201) }, NOW)).rejects.toThrow("its name is longer than 200 characters");
      await expect(createAccount(db, { name: "a\u0000b" }, NOW)).rejects.toThrow("its name contains control characters or invalid Unicode");
    });

    testIf("change plan and subscription independently", async () => {
      await createAccount(db, { name: "Acme" }, NOW);
      await setAccount(db, "Acme", { subscription: "inactive" });
      expect(await setAccount(db, "Acme", { plan: "paid" })).toMatchObject({ plan: "paid", subscription: "inactive" });
      expect(await listAccounts(db)).toMatchObject([{ plan: "paid", subscription: "inactive" }]);
      await expect(setAccount(db, "Acme", { subscription: "paused" })).rejects.toThrow(
        'a subscription is active or inactive, not "paused"',
      );
      await expect(setAccount(db, "Acme", { plan: "gold" })).rejects.toThrow('Cannot set account "Acme": there is no plan "gold"');
      await expect(setAccount(db, "Nobody", { plan: "paid" })).rejects.toThrow('Cannot set account "Nobody": there is no such account');
    });
  });

  describe("plans", () => {
    testIf("are three at first, and a new name adds one", async () => {
      await setPlan(db, { name: "tiny", daily: 5, per_minute: 2 });
      await setPlan(db, { name: "trial", daily: 2000, per_minute: 60 });
      expect(await listPlans(db)).toEqual([
        { name: "tiny", daily: 5, per_minute: 2 },
        { name: "trial", daily: 2000, per_minute: 60 },
        { name: "starter", daily: 10_000, per_minute: 120 },
        { name: "paid", daily: 100_000, per_minute: 600 },
      ]);
    });

    testIf("keep a quota that is left out, and a new plan needs both", async () => {
      expect(await setPlan(db, { name: "trial", daily: 2500 })).toEqual({ name: "trial", daily: 2500, per_minute: 60 });
      expect(await setPlan(db, { name: " trial ", per_minute: 70 })).toEqual({ name: "trial", daily: 2500, per_minute: 70 });
      expect((await listPlans(db)).find(({ name }) => name === "trial")).toEqual({ name: "trial", daily: 2500, per_minute: 70 });
      const refused = (change: Parameters<typeof setPlan>[1], reason: string) => expect(setPlan(db, change)).rejects.toThrow(reason);
      await refused({ name: "new", daily: 5 }, 'Cannot set plan "new": it is new, and needs --per-minute, too');
      await refused({ name: "new", per_minute: 5 }, 'Cannot set plan "new": it is new, and needs --daily, too');
      await refused({ name: "starte", daily: 5 }, 'it is new, and needs --per-minute, too (did you mean "starter"?)');
      expect((await listPlans(db)).map(({ name }) => name)).not.toContain("new");
    });

    testIf.each([0, -1, 1.5, Number.NaN, 1e10])("a quota of %p is refused", async (daily) => {
      await expect(setPlan(db, { name: "odd", daily, per_minute: 1 })).rejects.toThrow(
        'Cannot set plan "odd": its quotas must be integers from 1',
      );
    });
  });
});
