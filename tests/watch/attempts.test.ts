import { describe, expect, test } from "bun:test";
import { FAILING_MAX_MS, failedOnce, nextAttemptAt } from "../../src/watch/attempts.ts";
import type { Attempts } from "../../src/watch/watch.ts";

const NONE: Attempts = { count: 0, at: null, wait_ms: 0, failing_ms: 0, error: null };
const [HOUR, DAY] = [3_600_000, 86_400_000];
const NOW = Date.UTC(2026, 2, 1);
const failed = (attempts: Attempts, now: number, retryAfterMs?: number, random = 1) =>
  failedOnce(attempts, now, { message: "why", retryAfterMs }, () => random);

/** The seconds to wait after each of twenty failures. */
function delays(retryAfterMs?: number): number[] {
  let attempts = NONE;
  return Array.from({ length: 20 }, () => {
    attempts = failed(attempts, NOW, retryAfterMs);
    return attempts.wait_ms / 1000;
  });
}

test("the delay doubles from a second to six hours, half of it random", () => {
  expect(delays()).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, ...Array(5).fill(21_600)]);
  expect(failed(NONE, NOW, undefined, 0).wait_ms).toBe(500);
  expect(failed({ ...NONE, count: 5000 }, NOW, undefined, 0).wait_ms).toBe(3 * HOUR);
});

test("a receiver's Retry-After is kept, up to a day", () => {
  expect(failed(NONE, NOW, 2 * HOUR, 0).wait_ms).toBe(2 * HOUR);
  expect(failed(NONE, NOW, 30 * DAY, 0).wait_ms).toBe(DAY);
});

test.each([0, 1, 999])("a receiver that asks for %d ms is not called more often than one that asks for nothing", (retryAfterMs) => {
  expect(delays(retryAfterMs)).toEqual(delays());
});

describe("a clock that is set", () => {
  const waiting: Attempts = { ...NONE, count: 5, at: NOW, wait_ms: HOUR };

  test("back makes the next attempt due at once, and only that one", () => {
    expect(nextAttemptAt(waiting, NOW + HOUR - 1)).toBe(NOW + HOUR);
    expect(nextAttemptAt(waiting, NOW + HOUR)).toBe(NOW + HOUR);
    const back = NOW - 400 * DAY;
    expect(nextAttemptAt(waiting, back)).toBe(back);
    expect(nextAttemptAt(failed(waiting, back), back + 1)).toBeGreaterThan(back + 1);
  });

  test("ahead by a year counts as a day of failing, and back as none", () => {
    expect(failed(waiting, NOW + 365 * DAY).failing_ms).toBe(DAY);
    expect(failed(waiting, NOW + 365 * DAY).failing_ms).toBeLessThan(FAILING_MAX_MS);
    expect(failed(waiting, NOW - 365 * DAY).failing_ms).toBe(0);
    expect(failed(waiting, NOW + 2 * HOUR).failing_ms).toBe(2 * HOUR);
  });
});
