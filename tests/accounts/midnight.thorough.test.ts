/** Requests are stored on the day on which they were granted, even if they were unsaved at midnight or another server saves first. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { StateDb } from "../../db/engine.ts";
import { type Access, addUse, createAccess, saveUse, updateAccess } from "../../src/accounts/access.ts";
import { setPlan } from "../../src/accounts/account.ts";
import { createKey } from "../../src/accounts/key.ts";
import { type Allowance, dayOf, type Quotas, type Taken, takeRequest, unused, windowAt } from "../../src/quota/allowance.ts";
import type { TestLocation } from "../support/database-locations.ts";
import { locations } from "../support/engines.ts";
import { dropScratch, NOON } from "../support/imports.ts";
import { randomIntegers } from "../support/random-numbers.ts";
import { rawSql } from "../support/sql.ts";
import { knownKey } from "./known-key.ts";

afterAll(dropScratch);
setDefaultTimeout(300_000); // PostgreSQL starts with the first test that needs it.

const MIDNIGHT = NOON + 12 * 3_600_000;
const DAILY = 10_000;
/** How many random orders of requests and saves are tried. */
const ORDERS: Record<string, number> = { SQLite: 15, PostgreSQL: 5 };

/** Servers on one database, each with its own connection. */
async function servers(location: TestLocation, count: number) {
  const states: StateDb[] = [];
  for (let n = 0; n < count; n++) states.push(await location.state(NOON));
  const state = states[0] as StateDb;
  await setPlan(state, { name: "test", daily: DAILY, per_minute: 1_000_000 });
  const newKey = () => createKey(state, { account: "Acme", plan: "test" }, (bytes) => crypto.getRandomValues(new Uint8Array(bytes)), NOON);
  const accesses = await Promise.all(states.map((each) => createAccess(each)));
  return { state, accesses, newKey, close: () => Promise.all(states.map((each) => each.close())) };
}

/** Counts one request as a server does. */
async function request(access: Access, key: string, now: number): Promise<Allowance> {
  await updateAccess(access);
  const known = knownKey(access, key);
  return addUse(access, known, now);
}

async function useByDay(state: StateDb, id: string): Promise<Record<number, number>> {
  const rows = await state.all(rawSql<{ day: number; count: number }>("select day, count from use where key_id = ? order by day", id));
  return Object.fromEntries(rows.map(({ day, count }) => [Number(day), Number(count)]));
}

/** Models quotas shared through a Redis whose clock is ahead: one count for all servers, raised to what the server knows. */
function sharedQuotas(aheadMs: number): Quotas {
  const uses = new Map<string, typeof unused>();
  return {
    take: async (key, now) => {
      const { window: stored, bucket } = uses.get(key.id) ?? unused;
      const { day, used } = windowAt(stored, now + aheadMs);
      const known = key.use.window.day === day ? key.use.window.used : 0;
      const taken = takeRequest({ window: { day, used: Math.max(used, known) }, bucket }, key, now + aheadMs);
      uses.set(key.id, taken.use);
      await Bun.sleep(0);
      return () => taken;
    },
  };
}

/** The same quotas of one server. `granted` counts what they granted, by key and day. They never report less use than that. */
function counting(quotas: Quotas, granted: Map<string, Record<number, number>>): Quotas {
  const own: Record<string, number> = {};
  const count = (id: string, taken: Taken): Taken => {
    const { day, used } = taken.use.window;
    if (taken.allowance.retryAfterSeconds === 0) {
      const days = granted.get(id) ?? {};
      granted.set(id, { ...days, [day]: (days[day] ?? 0) + 1 });
      own[`${id} ${day}`] = (own[`${id} ${day}`] ?? 0) + 1;
    }
    expect(used).toBeGreaterThanOrEqual(own[`${id} ${day}`] ?? 0);
    return taken;
  };
  return {
    take: (key, now) => {
      const taken = quotas.take(key, now);
      return taken instanceof Promise ? taken.then((later) => () => count(key.id, later())) : count(key.id, taken);
    },
  };
}

describe.each(locations)("use at midnight on %s", (engine, isThere, newLocation) => {
  test.if(isThere)("is counted on its own day, although another server saves before the first request of the next", async () => {
    const { state, accesses, newKey, close } = await servers(await newLocation(), 2);
    const [one, two] = accesses as [Access, Access];
    const [{ id, key }, another] = [await newKey(), await newKey()];
    for (let n = 0; n < 50; n++) await request(one, key, MIDNIGHT - 200);
    await request(two, another.key, MIDNIGHT - 100);
    await saveUse(two);
    expect((await request(one, key, MIDNIGHT + 100)).remaining).toBe(DAILY - 1);
    await saveUse(one);
    expect(await useByDay(state, id)).toEqual({ [dayOf(MIDNIGHT) - 1]: 50, [dayOf(MIDNIGHT)]: 1 });
    expect((await request(two, key, MIDNIGHT + 200)).remaining).toBe(DAILY - 2);
    await close();
  });

  test.if(isThere).each([
    ["each server's own quotas", undefined],
    ["shared quotas", 0],
    ["shared quotas, clock ahead", 700],
    ["shared quotas, clock behind", -700],
  ])("adds up to what was granted, day by day, in any order of requests and saves: %s", async (_name, aheadMs) => {
    const { state, accesses, newKey, close } = await servers(await newLocation(), 3);
    const granted = new Map<string, Record<number, number>>();
    const quotas = aheadMs === undefined ? undefined : sharedQuotas(aheadMs);
    for (const access of accesses) access.quotas = counting(quotas ?? access.quotas, granted);
    /** A server never reports more use than all servers granted on that day. */
    const send = async (access: Access, { id, key }: { id: string; key: string }, now: number) => {
      const { limit, remaining, reset } = await request(access, key, now);
      expect(limit - remaining).toBeLessThanOrEqual(granted.get(id)?.[reset / 86_400 - 1] ?? 0);
    };
    for (let seed = 1; seed <= (ORDERS[engine] ?? 0); seed++) {
      const random = randomIntegers(seed);
      const keys = [await newKey(), await newKey()];
      const underWay: Promise<unknown>[] = [];
      let now = MIDNIGHT - 1500;
      for (let step = 0; step < 60; step++) {
        const access = accesses[random(3)] as Access;
        // A save can fail because another server writes at that moment. The next one stores it.
        const did =
          random(4) === 0 ? saveUse(access).catch(() => undefined) : send(access, keys[random(2)] as (typeof keys)[0], now - random(1000));
        if (random(3) === 0) underWay.push(did);
        else await did;
        now += random(100);
      }
      await Promise.all(underWay);
      for (const access of accesses) await saveUse(access);
      for (const { id } of keys) expect(await useByDay(state, id)).toEqual(granted.get(id) ?? {});
    }
    await close();
  });
});
