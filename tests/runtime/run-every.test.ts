import { describe, expect, test } from "bun:test";
import { runEvery } from "../../src/runtime/run-every.ts";

const HOUR = 3_600_000;
const startedAt = Date.UTC(2030, 0, 1);

/** How long `runEvery()` waits after one run in which the clock goes from `startedAt` to `ended`. */
async function waitAfterRun(everyMs: number, ended: number): Promise<number | undefined> {
  const clock = { now: startedAt };
  const stop = new AbortController();
  let waited: number | undefined;
  const wait = async (ms: number) => {
    waited = ms;
    stop.abort();
  };
  await runEvery(everyMs, { now: () => clock.now, wait, stop: stop.signal }, async () => {
    clock.now = ended;
  });
  return waited;
}

describe("runEvery()", () => {
  test.each([
    ["the rest of the interval after a run that took part of it", startedAt + 2 * HOUR, 4 * HOUR],
    ["not at all after a run that took longer than the interval", startedAt + 7 * HOUR, 0],
    ["one interval when the clock was set back by an hour", startedAt - HOUR, 6 * HOUR],
    ["one interval when the clock was set back by years", Date.UTC(2026, 0, 1), 6 * HOUR],
    ["not at all when the clock was set ahead by years", Date.UTC(2034, 0, 1), 0],
  ])("waits %s", async (_, ended, expected) => {
    expect(await waitAfterRun(6 * HOUR, ended)).toBe(expected);
  });
});
