import { expect, test } from "bun:test";
import { singleFlight } from "../../src/runtime/single-flight.ts";

test("whoever asks while a run is under way shares the next one, which begins after they asked", async () => {
  const ends: (() => void)[] = [];
  const ask = singleFlight(async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.push(resolve);
    await promise;
  });
  const answered: string[] = [];
  const asked = ["first", "second", "third"].map((name) => ask().then(() => answered.push(name)));
  expect(ends.length).toBe(1);
  ends[0]?.();
  await asked[0];
  await Bun.sleep(0);
  expect([answered, ends.length]).toEqual([["first"], 2]);
  asked.push(ask().then(() => answered.push("fourth")));
  ends[1]?.();
  await asked[2];
  await Bun.sleep(0);
  expect([answered, ends.length]).toEqual([["first", "second", "third"], 3]);
  ends[2]?.();
  await asked[3];
  expect([answered.at(-1), ends.length]).toEqual(["fourth", 3]);
});

test("a failure reaches those who share the run, and nobody after them", async () => {
  let runs = 0;
  const ask = singleFlight(async () => {
    await Bun.sleep(0);
    if (++runs === 2) throw new Error("disk I/O error");
  });
  const asked = [ask(), ask(), ask()];
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  await ask();
  expect(runs).toBe(3);
});

test("work that answers at once is done before another begins", async () => {
  let at = 0;
  const ask = singleFlight(async () => {
    const before = at;
    at++;
    expect(at).toBe(before + 1);
  });
  await Promise.all([ask(), ask(), ask()]);
  expect(at).toBeGreaterThan(1);
});
