import { expect, test } from "bun:test";
import { singleFlight } from "../../src/runtime/single-flight.ts";

test("callers during a run share the next run, which starts after all of them called", async () => {
  const endRun: (() => void)[] = [];
  const call = singleFlight(async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    endRun.push(resolve);
    await promise;
  });
  const resolved: string[] = [];
  const calls = ["first", "second", "third"].map((name) => call().then(() => resolved.push(name)));
  expect(endRun.length).toBe(1);
  endRun[0]?.();
  await calls[0];
  await Bun.sleep(0);
  expect([resolved, endRun.length]).toEqual([["first"], 2]);
  calls.push(call().then(() => resolved.push("fourth")));
  endRun[1]?.();
  await calls[2];
  await Bun.sleep(0);
  expect([resolved, endRun.length]).toEqual([["first", "second", "third"], 3]);
  endRun[2]?.();
  await calls[3];
  expect([resolved.at(-1), endRun.length]).toEqual(["fourth", 3]);
});

test("a failed run rejects for its callers, and not for later ones", async () => {
  let runs = 0;
  const call = singleFlight(async () => {
    await Bun.sleep(0);
    if (++runs === 2) throw new Error("disk I/O error");
  });
  const calls = [call(), call(), call()];
  expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  await call();
  expect(runs).toBe(3);
});

test("runs never overlap, even if the work does not wait for anything", async () => {
  let runs = 0;
  const call = singleFlight(async () => {
    const before = runs;
    runs++;
    expect(runs).toBe(before + 1);
  });
  await Promise.all([call(), call(), call()]);
  expect(runs).toBeGreaterThan(1);
});
