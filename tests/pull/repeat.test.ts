import { describe, expect, test } from "bun:test";
import { repeat } from "../../src/pull/repeat.ts";

const HOUR = 3_600_000;
const begun = Date.UTC(2030, 0, 1);

/** How long `repeat()` waits after one turn in which the clock goes from `begun` to `ended`. */
async function waitAfterTurn(everyMs: number, ended: number): Promise<number | undefined> {
  const clock = { now: begun };
  const stop = new AbortController();
  let waited: number | undefined;
  const wait = async (ms: number) => {
    waited = ms;
    stop.abort();
  };
  await repeat(everyMs, { now: () => clock.now, wait, stop: stop.signal }, async () => {
    clock.now = ended;
  });
  return waited;
}

describe("repeat()", () => {
  test.each([
    ["the rest of the interval after a turn that took part of it", begun + 2 * HOUR, 4 * HOUR],
    ["not at all after a turn that took longer than the interval", begun + 7 * HOUR, 0],
    ["one interval when the clock was set back by an hour", begun - HOUR, 6 * HOUR],
    ["one interval when the clock was set back by years", Date.UTC(2026, 0, 1), 6 * HOUR],
    ["not at all when the clock was set ahead by years", Date.UTC(2034, 0, 1), 0],
  ])("waits %s", async (_, ended, expected) => {
    expect(await waitAfterTurn(6 * HOUR, ended)).toBe(expected);
  });
});
