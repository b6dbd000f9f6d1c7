import { expect, test } from "bun:test";
import { sharedRun } from "../src/shared-run.ts";

test("whoever asks while a run is under way shares the next one, which begins after they asked", async () => {
  const log: string[] = [];
  const ends: (() => void)[] = [];
  const ask = sharedRun(async () => {
    log.push("begin");
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.push(resolve);
    await promise;
    log.push("end");
  });
  const first = ask().then(() => log.push("first"));
  const second = ask().then(() => log.push("second"));
  const third = ask().then(() => log.push("third"));
  ends[0]?.();
  await first;
  await Bun.sleep(0);
  expect(log.splice(0)).toEqual(["begin", "end", "first", "begin"]);
  const fourth = ask().then(() => log.push("fourth"));
  ends[1]?.();
  await Promise.all([second, third]);
  await Bun.sleep(0);
  ends[2]?.();
  await fourth;
  expect(log).toEqual(["end", "second", "third", "begin", "end", "fourth"]);
});

test("a failure reaches those who share the run, and nobody after them", async () => {
  let runs = 0;
  const ask = sharedRun(async () => {
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
  const ask = sharedRun(async () => {
    const before = at;
    at++;
    expect(at).toBe(before + 1);
  });
  await Promise.all([ask(), ask(), ask()]);
  expect(at).toBeGreaterThan(1);
});
