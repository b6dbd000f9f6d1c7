import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openState, type StateDb } from "../../db/open.ts";
import { type Access, createAccess, findKey, keepUp, saveUse, useKey } from "../../src/accounts/access.ts";
import { setAccount } from "../../src/accounts/account.ts";
import { createKey, isWellFormedKey, KEY_PREFIX, listKeys, newKey, revokeKey } from "../../src/accounts/key.ts";
import { setPlan } from "../../src/accounts/plan.ts";
import { NOON, type TestApi, testApi } from "../support/api.ts";
import { expectProblem } from "../support/problem.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;

/** An api whose accounts and use are in files, and a second connection to them as another process has one. */
let directory: string;
let api: TestApi;
let other: StateDb;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "fundfeed-"));
  api = await testApi({ stateDirectory: directory });
  other = openState(directory, NOON);
});
afterEach(() => {
  other.sqlite.close();
  api.state.sqlite.close();
  rmSync(directory, { recursive: true });
});

const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const remaining = ({ headers }: Response) => Number(headers.get("ratelimit-remaining"));

describe("what another process commits", () => {
  test("a revoked key is refused from the next request on", async () => {
    const { id, key } = await api.newKey();
    expect((await api.get("/sources", { key })).status).toBe(200);
    await revokeKey(other, id, NOON);
    await expectProblem(await api.get("/sources", { key }), { code: "authentication_required" });
  });

  test("a new key is known at once", async () => {
    const { key } = await createKey(other, { account: "New" }, api.randomBytes, NOON);
    expect((await api.get("/sources", { key })).headers.get("ratelimit-limit")).toBe("1000");
  });

  test("a change of plan, quota or subscription holds at once", async () => {
    const { key, account } = await api.newKey({ daily: 2, per_minute: 2 });
    for (const status of [200, 200, 429]) expect((await api.get("/sources", { key })).status).toBe(status);
    await setPlan(other, { name: account, daily: 3, per_minute: 5 });
    const raised = await api.get("/sources", { key });
    expect([raised.status, remaining(raised)]).toEqual([200, 0]);
    await setAccount(other, account, { plan: "paid" });
    expect(remaining(await api.get("/sources", { key }))).toBe(100_000 - 4);
    await setAccount(other, account, { subscription: "inactive" });
    await expectProblem(await api.get("/sources", { key }), { code: "insufficient_entitlement" });
    await setAccount(other, account, { subscription: "active" });
    expect((await api.get("/sources", { key })).status).toBe(200);
  });

  test("the use of a key by two servers adds up with each save", async () => {
    const { key, id } = await api.newKey({ daily: 100, per_minute: 100 });
    const second = await createAccess(other, NOON);
    const known = findKey(second, key, NOON);
    if (known === undefined) throw new Error("the key is not known");
    for (let n = 0; n < 5; n++) useKey(second, known, NOON);
    for (let n = 0; n < 3; n++) await api.get("/sources", { key });
    await saveUse(second, NOON);
    expect(remaining(await api.get("/sources", { key }))).toBe(100 - 5 - 4);
    await api.saveUse();
    expect((await useKey(second, known, NOON)).remaining).toBe(100 - 6); // It has not looked since.
    await saveUse(second, NOON);
    expect((await listKeys(other, NOON)).find((listed) => listed.id === id)?.used_today).toBe(10);
    expect((await useKey(second, known, NOON)).remaining).toBe(100 - 11);
  });
});

describe("quotas", () => {
  test("313: a request beyond the minute's number is 429, consumes nothing, and says when to come back", async () => {
    const { key } = await api.newKey({ daily: 10, per_minute: 2 });
    const statuses = [];
    for (let n = 0; n < 5; n++) statuses.push((await api.get("/sources", { key })).status);
    expect(statuses).toEqual([200, 200, 429, 429, 429]);
    const refused = await api.get("/sources", { key });
    await expectProblem(refused.clone() as Response, { code: "rate_limit_exceeded" });
    expect([refused.headers.get("retry-after"), remaining(refused)]).toEqual(["30", 8]);
    api.clock.now += 30_000;
    expect(remaining(await api.get("/sources", { key }))).toBe(7);
    expect((await api.get("/sources", { key })).status).toBe(429);
  });

  test("a request beyond the day's number is 429 until midnight UTC", async () => {
    const { key } = await api.newKey({ daily: 2, per_minute: 100 });
    for (const left of [1, 0]) expect(remaining(await api.get("/sources", { key }))).toBe(left);
    const refused = await api.get("/sources", { key });
    await expectProblem(refused.clone() as Response, { code: "rate_limit_exceeded" });
    expect(refused.headers.get("retry-after")).toBe(String(12 * 3600));
    expect(refused.headers.get("ratelimit-reset")).toBe(String((NOON + 12 * 3_600_000) / 1000));
    api.clock.now += 12 * 3_600_000;
    expect(remaining(await api.get("/sources", { key }))).toBe(1);
  });

  test("304, 400 and 404 consume one; OPTIONS, public and refused requests none", async () => {
    const { key } = await api.newKey({ daily: 100, per_minute: 100 });
    const counted = ["/opportunities?limit=0", "/opportunities?q=x", "/opportunities/zz", `/opportunities/${crypto.randomUUID()}`];
    for (const [index, path] of counted.entries()) expect(remaining(await api.get(path, { key }))).toBe(99 - index);
    for (const path of ["/meta", "/docs", "/openapi.json", "/nope"]) await api.get(path, { key });
    await api.get("/sources", { key, method: "OPTIONS" });
    await api.get("/sources", { key, method: "POST" });
    expect(remaining(await api.get("/sources", { key }))).toBe(95);
  });

  test("317: the remaining number falls by one with each request, and the reset lies ahead", async () => {
    const { key } = await api.newKey({ daily: 100, per_minute: 100 });
    const [first, second] = [await api.get("/opportunities?limit=1", { key }), await api.get("/opportunities?limit=1", { key })];
    expect(remaining(first) - remaining(second)).toBe(1);
    expect(Number(second.headers.get("ratelimit-reset"))).toBeGreaterThan(NOON / 1000);
  });

  test("each key has its own", async () => {
    const one = await api.newKey({ daily: 100, per_minute: 1 });
    const two = await createKey(api.state, { account: one.account }, api.randomBytes, NOON);
    expect((await api.get("/sources", { key: one.key })).status).toBe(200);
    expect((await api.get("/sources", { key: two.key })).status).toBe(200);
    expect((await api.get("/sources", { key: one.key })).status).toBe(429);
  });
});

describe("saveUse()", () => {
  const restarted = async (now: number): Promise<Access> => createAccess(other, now);

  test("a restart forgets nothing of the day", async () => {
    const { key, id } = await api.newKey({ daily: 10, per_minute: 10 });
    for (let n = 0; n < 4; n++) await api.get("/sources", { key });
    await api.saveUse();
    const access = await restarted(NOON);
    const known = findKey(access, key, NOON);
    if (known === undefined) throw new Error("the key is not known");
    expect((await useKey(access, known, NOON)).remaining).toBe(5);
    const listed = (await listKeys(other, NOON)).find((candidate) => candidate.id === id);
    expect([listed?.used_today, listed?.last_used_at]).toEqual([4, NOON]);
  });

  test("use on both sides of midnight is written to its own day", async () => {
    const { key, id } = await api.newKey({ daily: 10, per_minute: 1000 });
    for (let n = 0; n < 3; n++) await api.get("/sources", { key });
    api.clock.now += DAY;
    for (let n = 0; n < 2; n++) await api.get("/sources", { key });
    await api.saveUse();
    const today = async (now: number) => (await listKeys(other, now)).find((listed) => listed.id === id)?.used_today;
    expect([await today(NOON), await today(NOON + DAY)]).toEqual([3, 2]);
  });

  test("a write that fails keeps counting, and the next one catches up", async () => {
    const { key, id } = await api.newKey({ daily: 10, per_minute: 1000 });
    await api.get("/sources", { key });
    other.sqlite.run("begin immediate");
    await expect(api.saveUse()).rejects.toThrow();
    expect(remaining(await api.get("/sources", { key }))).toBe(8);
    other.sqlite.run("commit");
    await api.saveUse();
    await api.saveUse();
    expect((await listKeys(other, NOON)).find((listed) => listed.id === id)?.used_today).toBe(2);
    expect(remaining(await api.get("/sources", { key }))).toBe(7);
  });

  test("writes nothing when nothing was used, and does not read all keys anew because of itself", async () => {
    const { key } = await api.newKey();
    await api.get("/sources", { key });
    await api.saveUse();
    const { keys } = api.access;
    await api.get("/sources", { key });
    await api.saveUse();
    expect(api.access.keys).toBe(keys);
    const changes = () => api.state.sqlite.query<{ changes: number }, []>("select total_changes() as changes").get()?.changes;
    const before = changes();
    await api.saveUse();
    expect(changes()).toBe(before);
  });

  test("use of a key that a restored database lacks is passed over", async () => {
    const { key, id } = await api.newKey();
    await api.get("/sources", { key });
    await api.get("/sources");
    other.sqlite.query("delete from keys where id = ?").run(id);
    await api.saveUse();
    await expectProblem(await api.get("/sources", { key }), { code: "authentication_required" });
    expect((await listKeys(other, NOON)).map(({ used_today }) => used_today)).toEqual([1]);
  });
});

/** A well-formed key whose first `right` random characters are those of `key`. */
function guessOf(key: string, right: number): string {
  const shared = key.slice(KEY_PREFIX.length, KEY_PREFIX.length + right);
  return newKey((count) => Uint8Array.from({ length: count }, (_, at) => (at < right ? letters.indexOf(shared.charAt(at)) : 61)));
}

describe("findKey()", () => {
  test("knows no key that was never made, however well it is formed", async () => {
    expect(findKey(api.access, newKey(api.randomBytes), NOON)).toBeUndefined();
    expect(findKey(api.access, "x".repeat(4000), NOON)).toBeUndefined();
  });

  test("does the same for every well-formed key, however much of it is right, and next to nothing for any other text", async () => {
    const [{ key }, revoked, expired] = [
      await api.newKey(),
      await createKey(other, { account: "Acme" }, api.randomBytes, NOON),
      await createKey(other, { account: "Acme", expires_at: NOON + 1 }, api.randomBytes, NOON),
    ];
    await revokeKey(other, revoked.id, NOON);
    await keepUp(api.access, NOON + 1);
    const guesses = Array.from({ length: 33 }, (_, right) => guessOf(key, right)); // Right from no character to all of them.
    expect([guesses.at(0) === key, guesses.at(-1) === key, guesses.every(isWellFormedKey)]).toEqual([false, true, true]);

    const [hashes, lookUps] = [spyOn(Bun.CryptoHasher, "hash"), spyOn(api.access.keys, "get")];
    const workOf = (text: string) => {
      for (const spy of [hashes, lookUps]) spy.mockClear();
      findKey(api.access, text, NOON + 1);
      return [hashes.mock.calls.length, lookUps.mock.calls.length];
    };
    try {
      for (const text of [...guesses, revoked.key, expired.key]) expect(workOf(text)).toEqual([1, 1]);
      for (const text of ["", key.slice(0, -1), `${key}0`, key.toLowerCase(), `${key.slice(0, -1)}~`]) expect(workOf(text)).toEqual([0, 0]);
    } finally {
      for (const spy of [hashes, lookUps]) spy.mockRestore();
    }
  });

  test("a request under way keeps its count while keys are read anew", async () => {
    const { key } = await api.newKey({ daily: 100, per_minute: 100 });
    await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        if (n % 5 === 0) await setPlan(other, { name: "other", daily: n + 1, per_minute: 1 });
        return api.get("/sources", { key });
      }),
    );
    expect(remaining(await api.get("/sources", { key }))).toBe(79);
    api.clock.now += MINUTE;
    await api.saveUse();
    expect(remaining(await api.get("/sources", { key }))).toBe(78);
  });
});
