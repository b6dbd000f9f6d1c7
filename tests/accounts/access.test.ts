import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import type { StateDb } from "../../db/engine.ts";
import { type Access, addUse, createAccess, findKey, saveUse, takeBackUse, updateAccess } from "../../src/accounts/access.ts";
import { setAccount, setPlan } from "../../src/accounts/account.ts";
import { createKey, isWellFormedKey, KEY_PREFIX, listKeys, newKey, revokeKey, rotateKey } from "../../src/accounts/key.ts";
import { type TestApi, testApi } from "../support/api.ts";
import { locations } from "../support/engines.ts";
import { dropScratch, NOON } from "../support/imports.ts";
import { expectProblem } from "../support/problem.ts";
import { rawSql } from "../support/sql.ts";
import { knownKey, usedToday } from "./known-key.ts";

afterAll(dropScratch);
setDefaultTimeout(300_000); // PostgreSQL starts with the first test that needs it.

const MINUTE = 60_000;
const DAY = 86_400_000;

const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const remaining = ({ headers }: Response) => Number(headers.get("ratelimit-remaining"));

/** A well-formed key whose first `right` random characters are those of `key`. */
function guessOf(key: string, right: number): string {
  const shared = key.slice(KEY_PREFIX.length, KEY_PREFIX.length + right);
  return newKey((count) => Uint8Array.from({ length: count }, (_, at) => (at < right ? letters.indexOf(shared.charAt(at)) : 61)));
}

describe.each(locations)("on %s,", (engine, isThere, newLocation) => {
  const testIf = test.if(isThere);

  /** The service, and a second connection to its state, as another process has one. */
  let api: TestApi;
  let other: StateDb;

  beforeEach(async () => {
    if (!isThere) return;
    const location = await newLocation();
    api = await testApi({ location });
    other = await location.state(NOON);
  });
  afterEach(async () => {
    if (isThere) await Promise.all([other.close(), api.state.close()]);
  });

  describe("what another process commits", () => {
    testIf("a revoked key is refused from the next request on", async () => {
      const { id, key } = await api.newKey();
      expect((await api.get("/sources", { key })).status).toBe(200);
      await revokeKey(other, id, NOON);
      await expectProblem(await api.get("/sources", { key }), { code: "authentication_required" });
    });

    testIf("a new key is known at once", async () => {
      const { key } = await createKey(other, { account: "New" }, api.randomBytes, NOON);
      expect((await api.get("/sources", { key })).headers.get("ratelimit-limit")).toBe("1000");
    });

    testIf("a change of plan, quota or subscription applies at once", async () => {
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

    testIf("the use of a key by two servers adds up with each save", async () => {
      const { key, id } = await api.newKey({ daily: 100, per_minute: 100 });
      const second = await createAccess(other);
      const known = knownKey(second, key);
      for (let n = 0; n < 5; n++) await addUse(second, known, NOON);
      for (let n = 0; n < 3; n++) await api.get("/sources", { key });
      await saveUse(second);
      expect(remaining(await api.get("/sources", { key }))).toBe(100 - 5 - 4);
      await api.saveUse();
      expect((await addUse(second, known, NOON)).remaining).toBe(100 - 6); // It has not refreshed since.
      await saveUse(second);
      expect(await usedToday(other, id)).toBe(10);
      expect((await addUse(second, known, NOON)).remaining).toBe(100 - 11);
    });

    testIf("a request that is taken back leaves its day again, also if it is stored, but not its minute", async () => {
      const { key, id } = await api.newKey({ daily: 100, per_minute: 3 });
      const access = await createAccess(other);
      const known = knownKey(access, key);
      const stored = () => usedToday(other, id);
      await addUse(access, known, NOON);
      takeBackUse(access, known, await addUse(access, known, NOON));
      await saveUse(access);
      expect([known.use.window.used, await stored()]).toEqual([1, 1]);

      const third = await addUse(access, known, NOON);
      await saveUse(access);
      takeBackUse(access, known, third);
      expect([known.use.window.used, await stored()]).toEqual([1, 2]);
      await saveUse(access);
      expect([known.use.window.used, await stored()]).toEqual([1, 1]);

      const refused = await addUse(access, known, NOON); // The minute is used up.
      expect(refused.retryAfterSeconds).toBeGreaterThan(0);
      takeBackUse(access, known, refused);
      const tomorrow = await addUse(access, known, NOON + DAY);
      takeBackUse(access, known, third); // Its day has ended.
      await saveUse(access);
      expect([tomorrow.remaining, known.use.window.used, await stored()]).toEqual([99, 1, 1]);
    });

    testIf("a stored count that arrives after later requests were saved is not used", async () => {
      const { key } = await api.newKey({ daily: 100, per_minute: 100 });
      const late = Promise.withResolvers<void>();
      let reads = 0;
      const get: StateDb["get"] = async (...asked) => {
        const isFirst = "day" in Object(asked[1]) && reads++ === 0;
        const row = await other.get(...asked);
        if (isFirst) await late.promise;
        return row;
      };
      const access = await createAccess({ ...other, get });
      const known = knownKey(access, key);
      const first = addUse(access, known, NOON);
      for (const left of [99, 98]) expect((await addUse(access, known, NOON)).remaining).toBe(left);
      await saveUse(access);
      late.resolve();
      expect((await first).remaining).toBe(97);
    });

    testIf("what arrives, and what another server stores, while requests are saved counts", async () => {
      const [mine, others] = [await api.newKey({ daily: 100, per_minute: 100 }), await api.newKey({ daily: 100, per_minute: 100 })];
      const second = await createAccess(api.state);
      const known = (access: Access, { key }: { key: string }) => knownKey(access, key);
      let meanwhile: (() => Promise<unknown>) | undefined;
      const transaction: StateDb["transaction"] = async (work) => {
        const now = meanwhile;
        meanwhile = undefined;
        await now?.();
        return other.transaction(work);
      };
      const first = await createAccess({ ...other, transaction });
      for (const key of [mine, others]) await addUse(first, known(first, key), NOON);
      await saveUse(first);
      await addUse(first, known(first, mine), NOON);
      await addUse(second, known(second, others), NOON);
      await addUse(second, known(second, others), NOON);
      meanwhile = async () => {
        await saveUse(second); // Its use is stored after this server has read what is new, and before it stores its own.
        await addUse(first, known(first, mine), NOON);
      };
      await saveUse(first);
      expect(meanwhile).toBeUndefined();
      expect((await addUse(first, known(first, mine), NOON)).remaining).toBe(100 - 4);
      await updateAccess(first);
      expect((await addUse(first, known(first, others), NOON)).remaining).toBe(100 - 4);
    });

    testIf("a key that another server used up is refused here, too", async () => {
      const { key } = await api.newKey({ daily: 4, per_minute: 100 });
      const second = await createAccess(other);
      const known = knownKey(second, key);
      for (let n = 0; n < 2; n++) await addUse(second, known, NOON);
      await saveUse(second);
      expect(remaining(await api.get("/sources", { key }))).toBe(1); // Its first request here.
      await api.saveUse();
      await saveUse(second);
      await api.saveUse();
      expect((await addUse(second, known, NOON)).remaining).toBe(0);
      await saveUse(second);
      await expectProblem(await api.get("/sources", { key }), { code: "rate_limit_exceeded" });
    });

    testIf("a rotated key is refused, and the new one known, at once", async () => {
      const { id, key } = await api.newKey();
      expect((await api.get("/sources", { key })).status).toBe(200);
      const rotated = await rotateKey(other, id, { graceMs: 0 }, api.randomBytes, NOON);
      const statuses = [key, rotated.key].map(async (sent) => (await api.get("/sources", { key: sent })).status);
      expect(await Promise.all(statuses)).toEqual([401, 200]);
    });

    testIf("only changed keys are read again, and none when only use changed", async () => {
      const [{ key }, { id }] = [await api.newKey(), await api.newKey()];
      const second = await createAccess(other);
      const known = knownKey(second, key);
      await api.get("/sources", { key });
      using reads = spyOn(api.state, "each");
      await addUse(second, known, NOON);
      await saveUse(second);
      await api.get("/sources", { key });
      await api.saveUse();
      await api.get("/sources", { key });
      expect(reads).not.toHaveBeenCalled();

      const before = api.access.keys.size;
      const { keys: generation } = api.access.lastSeen;
      await revokeKey(other, id, NOON);
      await api.get("/sources", { key });
      expect(reads.mock.calls.map(([, values]) => values)).toEqual([{ generation }]);
      expect([api.access.keys.size, api.access.lastSeen.keys]).toEqual([before, generation + 1]);
    });

    testIf("concurrent requests share one read of the generations, and SQLite needs none", async () => {
      await api.get("/sources");
      await api.get("/sources");
      using reads = spyOn(api.state, "all");
      await Promise.all(Array.from({ length: 50 }, () => api.get("/sources")));
      expect(reads.mock.calls.length).toBeLessThanOrEqual(engine === "SQLite" ? 0 : 5);
    });
  });

  describe("quotas", () => {
    testIf("313: a request over the minute's limit returns 429 with Retry-After, and consumes nothing", async () => {
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

    testIf("a request over the day's limit returns 429 until midnight UTC", async () => {
      const { key } = await api.newKey({ daily: 2, per_minute: 100 });
      for (const left of [1, 0]) expect(remaining(await api.get("/sources", { key }))).toBe(left);
      const refused = await api.get("/sources", { key });
      await expectProblem(refused.clone() as Response, { code: "rate_limit_exceeded" });
      expect(refused.headers.get("retry-after")).toBe(String(12 * 3600));
      expect(refused.headers.get("ratelimit-reset")).toBe(String((NOON + 12 * 3_600_000) / 1000));
      api.clock.now += 12 * 3_600_000;
      expect(remaining(await api.get("/sources", { key }))).toBe(1);
    });

    testIf("400 and 404 consume one request; OPTIONS, public paths and refused methods consume none", async () => {
      const { key } = await api.newKey({ daily: 100, per_minute: 100 });
      const counted = ["/opportunities?limit=0", "/opportunities?q=x", "/opportunities/zz", `/opportunities/${crypto.randomUUID()}`];
      for (const [index, path] of counted.entries()) expect(remaining(await api.get(path, { key }))).toBe(99 - index);
      for (const path of ["/meta", "/docs", "/openapi.json", "/nope"]) await api.get(path, { key });
      await api.get("/sources", { key, method: "OPTIONS" });
      await api.get("/sources", { key, method: "POST" });
      expect(remaining(await api.get("/sources", { key }))).toBe(95);
    });

    testIf("317: RateLimit-Remaining falls by one with each request, and RateLimit-Reset is in the future", async () => {
      const { key } = await api.newKey({ daily: 100, per_minute: 100 });
      const [first, second] = [await api.get("/opportunities?limit=1", { key }), await api.get("/opportunities?limit=1", { key })];
      expect(remaining(first) - remaining(second)).toBe(1);
      expect(Number(second.headers.get("ratelimit-reset"))).toBeGreaterThan(NOON / 1000);
    });

    testIf("each key has its own", async () => {
      const one = await api.newKey({ daily: 100, per_minute: 1 });
      const two = await createKey(api.state, { account: one.account }, api.randomBytes, NOON);
      expect((await api.get("/sources", { key: one.key })).status).toBe(200);
      expect((await api.get("/sources", { key: two.key })).status).toBe(200);
      expect((await api.get("/sources", { key: one.key })).status).toBe(429);
    });
  });

  describe("saveUse()", () => {
    const restarted = async () => createAccess(other);

    testIf("a restarted server continues the day's count", async () => {
      const { key, id } = await api.newKey({ daily: 10, per_minute: 10 });
      for (let n = 0; n < 4; n++) await api.get("/sources", { key });
      await api.saveUse();
      const access = await restarted();
      const known = knownKey(access, key);
      expect((await addUse(access, known, NOON)).remaining).toBe(5);
      const listed = (await listKeys(other, NOON)).find((candidate) => candidate.id === id);
      expect([listed?.used_today, listed?.last_used_at]).toEqual([4, NOON]);
    });

    testIf("use before and after midnight is stored on its own day", async () => {
      const { key, id } = await api.newKey({ daily: 10, per_minute: 1000 });
      for (let n = 0; n < 3; n++) await api.get("/sources", { key });
      api.clock.now += DAY;
      for (let n = 0; n < 2; n++) await api.get("/sources", { key });
      await api.saveUse();
      const today = (now: number) => usedToday(other, id, now);
      expect([await today(NOON), await today(NOON + DAY)]).toEqual([3, 2]);
    });

    testIf("counting goes on after a failed save, and the next save stores it", async () => {
      const { key, id } = await api.newKey({ daily: 10, per_minute: 1000 });
      await api.get("/sources", { key });
      await other.run(rawSql("alter table use rename to elsewhere"));
      await expect(api.saveUse()).rejects.toThrow();
      expect(remaining(await api.get("/sources", { key }))).toBe(8);
      await other.run(rawSql("alter table elsewhere rename to use"));
      await api.saveUse();
      await api.saveUse();
      expect(await usedToday(other, id)).toBe(2);
      expect(remaining(await api.get("/sources", { key }))).toBe(7);
    });

    testIf("writes nothing if no request was counted", async () => {
      const { key } = await api.newKey();
      await api.get("/sources", { key });
      await api.saveUse();
      using writes = spyOn(api.state, "transaction");
      await api.saveUse();
      expect(writes).not.toHaveBeenCalled();
    });

    testIf("counts requests that arrive while it writes, and waits for a save under way", async () => {
      const { key, id } = await api.newKey({ daily: 1000, per_minute: 1000 });
      for (let round = 0; round < 5; round++) {
        const requests = Array.from({ length: 20 }, () => api.get("/sources", { key }));
        await Promise.all([...requests, api.saveUse(), api.saveUse()]);
      }
      expect(remaining(await api.get("/sources", { key }))).toBe(1000 - 101);
      await Promise.all([api.saveUse(), api.saveUse()]);
      expect(await usedToday(other, id)).toBe(101);
      expect(remaining(await api.get("/sources", { key }))).toBe(1000 - 102);
    });

    testIf("skips a key that is missing in a restored database", async () => {
      const { key, id } = await api.newKey();
      await api.get("/sources", { key });
      await api.get("/sources");
      await other.run(rawSql("delete from keys where id = ?", id));
      await other.run(rawSql("update generations set number = number - 1 where name = 'keys'")); // As it was before the key.
      await api.saveUse();
      await expectProblem(await api.get("/sources", { key }), { code: "authentication_required" });
      expect((await listKeys(other, NOON)).map(({ used_today }) => used_today)).toEqual([1]);
    });
  });

  describe("findKey()", () => {
    testIf("returns no key that was never created, even if it is well formed", async () => {
      expect(findKey(api.access, newKey(api.randomBytes))).toBeUndefined();
      expect(findKey(api.access, "x".repeat(4000))).toBeUndefined();
    });

    testIf("does the same work for every well-formed key, however much of it is right, and almost none for any other text", async () => {
      const [{ key }, revoked, expired] = [
        await api.newKey(),
        await createKey(other, { account: "Acme" }, api.randomBytes, NOON),
        await createKey(other, { account: "Acme", expires_at: NOON + 1 }, api.randomBytes, NOON),
      ];
      await revokeKey(other, revoked.id, NOON);
      await updateAccess(api.access);
      const guesses = Array.from({ length: 33 }, (_, right) => guessOf(key, right)); // Right from no character to all of them.
      expect([guesses.at(0) === key, guesses.at(-1) === key, guesses.every(isWellFormedKey)]).toEqual([false, true, true]);

      const [hashes, lookUps] = [spyOn(Bun.CryptoHasher, "hash"), spyOn(api.access.keys, "get")];
      const workOf = (text: string) => {
        for (const spy of [hashes, lookUps]) spy.mockClear();
        findKey(api.access, text);
        return [hashes.mock.calls.length, lookUps.mock.calls.length];
      };
      try {
        for (const text of [...guesses, revoked.key, expired.key]) expect(workOf(text)).toEqual([1, 1]);
        for (const text of ["", key.slice(0, -1), `${key}0`, key.toLowerCase(), `${key.slice(0, -1)}~`])
          expect(workOf(text)).toEqual([0, 0]);
      } finally {
        for (const spy of [hashes, lookUps]) spy.mockRestore();
      }
    });

    testIf("requests under way are counted while keys are read again", async () => {
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
});
