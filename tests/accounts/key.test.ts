import { beforeEach, describe, expect, test } from "bun:test";
import { openState, type StateDb } from "../../db/open.ts";
import { createAccount, findAccount, listAccounts, setAccount } from "../../src/accounts/account.ts";
import { createKey, isWellFormedKey, KEY_PREFIX, listKeys, newKey, revokeKey } from "../../src/accounts/key.ts";
import { listPlans, setPlan } from "../../src/accounts/plan.ts";

const NOW = Date.UTC(2026, 2, 1);
const randomBytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));

let db: StateDb;
beforeEach(() => {
  db = openState(":memory:", NOW);
});

describe("newKey()", () => {
  test("makes keys that are well formed and all different", () => {
    const keys = Array.from({ length: 2000 }, () => newKey(randomBytes));
    expect(new Set(keys).size).toBe(2000);
    for (const key of keys) expect([/^ffk_live_[0-9A-Za-z]{38}$/.test(key), isWellFormedKey(key)]).toEqual([true, true]);
  });

  test("its checksum shows any one changed character", () => {
    const key = newKey(randomBytes);
    for (let at = 0; at < key.length; at++) {
      const changed = key.slice(0, at) + (key[at] === "a" ? "b" : "a") + key.slice(at + 1);
      expect(isWellFormedKey(changed)).toBe(false);
    }
    expect(["", KEY_PREFIX, `${key}a`, key.slice(1)].some(isWellFormedKey)).toBe(false);
  });
});

describe("createKey()", () => {
  test("creates the account where it is missing, and stores the key as a hash alone", async () => {
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
    expect(Buffer.from(db.sqlite.serialize()).includes(created.key.slice(0, 40))).toBe(false);
  });

  test("moves the account to a plan that is named, and leaves it where none is", async () => {
    await createKey(db, { account: "Acme", plan: "paid" }, randomBytes, NOW);
    expect((await createKey(db, { account: "Acme" }, randomBytes, NOW)).plan).toBe("paid");
    expect((await createKey(db, { account: "Acme", plan: "starter" }, randomBytes, NOW)).plan).toBe("starter");
    expect(await findAccount(db, "Acme")).toMatchObject({ plan: "starter", subscription: "active" });
  });

  test("changes nothing when a name or plan is refused", async () => {
    await expect(createKey(db, { account: "Acme", plan: "gold" }, randomBytes, NOW)).rejects.toThrow(
      'Cannot create account "Acme": there is no plan "gold" (there are: trial, starter, paid)',
    );
    await expect(createKey(db, { account: "Acme", label: " " }, randomBytes, NOW)).rejects.toThrow("Cannot create key: its label is blank");
    expect([await listAccounts(db), await listKeys(db, NOW)]).toEqual([[], []]);
  });
});

describe("revokeKey()", () => {
  test("keeps the first instant, and refuses an id that is not there", async () => {
    const { id } = await createKey(db, { account: "Acme" }, randomBytes, NOW);
    await revokeKey(db, id, NOW + 1);
    await revokeKey(db, id, NOW + 2);
    expect((await listKeys(db, NOW))[0]?.revoked_at).toBe(NOW + 1);
    await expect(revokeKey(db, "key_x", NOW)).rejects.toThrow('Cannot revoke key "key_x": there is no key of that id');
  });
});

describe("accounts", () => {
  test("are created once, under any name that is not blank", async () => {
    expect(await createAccount(db, { name: "  Åsa & Söhne  " }, NOW)).toMatchObject({
      name: "Åsa & Söhne",
      plan: "trial",
      subscription: "active",
    });
    await expect(createAccount(db, { name: "Åsa & Söhne" }, NOW)).rejects.toThrow("there is one of that name");
    await expect(createAccount(db, { name: " \t" }, NOW)).rejects.toThrow("its name is blank");
    await expect(createAccount(db, { name: "x".repeat(201) }, NOW)).rejects.toThrow("its name is longer than 200 characters");
    await expect(createAccount(db, { name: "a\u0000b" }, NOW)).rejects.toThrow("its name holds characters that are not text");
  });

  test("change plan and subscription apart", async () => {
    await createAccount(db, { name: "Acme" }, NOW);
    await setAccount(db, "Acme", { subscription: "inactive" });
    expect(await setAccount(db, "Acme", { plan: "paid" })).toMatchObject({ plan: "paid", subscription: "inactive" });
    expect(await listAccounts(db)).toMatchObject([{ plan: "paid", subscription: "inactive" }]);
    await expect(setAccount(db, "Acme", { subscription: "paused" })).rejects.toThrow('a subscription is active or inactive, not "paused"');
    await expect(setAccount(db, "Acme", { plan: "gold" })).rejects.toThrow('Cannot set account "Acme": there is no plan "gold"');
    await expect(setAccount(db, "Nobody", { plan: "paid" })).rejects.toThrow('Cannot set account "Nobody": there is no such account');
  });
});

describe("plans", () => {
  test("begin with three, and a new name is a new plan", async () => {
    await setPlan(db, { name: "tiny", daily: 5, per_minute: 2 });
    await setPlan(db, { name: "trial", daily: 2000, per_minute: 60 });
    expect(await listPlans(db)).toEqual([
      { name: "tiny", daily: 5, per_minute: 2 },
      { name: "trial", daily: 2000, per_minute: 60 },
      { name: "starter", daily: 10_000, per_minute: 120 },
      { name: "paid", daily: 100_000, per_minute: 600 },
    ]);
  });

  test.each([0, -1, 1.5, Number.NaN, 1e10])("a quota of %p is refused", async (daily) => {
    await expect(setPlan(db, { name: "odd", daily, per_minute: 1 })).rejects.toThrow(
      'Cannot set plan "odd": its quotas must be integers from 1',
    );
  });
});
