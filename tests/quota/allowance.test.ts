import { describe, expect, test } from "bun:test";
import { takeRequest, unused } from "../../src/quota/allowance.ts";

const DAY = 86_400_000;
const MIDNIGHT = Date.UTC(2026, 2, 2);

describe("takeRequest()", () => {
  test("takes from both limits and returns what is left of the day", () => {
    const { use, allowance } = takeRequest(unused, { daily: 10, per_minute: 6 }, MIDNIGHT - 1);
    expect(allowance).toEqual({ limit: 10, remaining: 9, reset: MIDNIGHT / 1000, retryAfterSeconds: 0 });
    expect(use).toEqual({ window: { day: MIDNIGHT / DAY - 1, used: 1 }, bucket: { taken: 60_000, refilledAtMs: MIDNIGHT - 1 } });
  });

  test("takes from neither if the minute is used up", () => {
    const quota = { daily: 10, per_minute: 1 };
    const { use } = takeRequest(unused, quota, MIDNIGHT);
    const refused = takeRequest(use, quota, MIDNIGHT + 500);
    expect(refused.allowance).toMatchObject({ remaining: 9, retryAfterSeconds: 60 });
    expect(takeRequest(refused.use, quota, MIDNIGHT + 60_000).allowance).toMatchObject({ remaining: 8, retryAfterSeconds: 0 });
  });

  test("waits until midnight UTC if the day is used up, and at least a second", () => {
    const quota = { daily: 1, per_minute: 100 };
    const { use } = takeRequest(unused, quota, MIDNIGHT - 90_500);
    expect(takeRequest(use, quota, MIDNIGHT - 90_500).allowance).toMatchObject({ remaining: 0, retryAfterSeconds: 91 });
    expect(takeRequest(use, quota, MIDNIGHT - 1).allowance).toMatchObject({ remaining: 0, retryAfterSeconds: 1 });
    expect(takeRequest(use, quota, MIDNIGHT).allowance).toMatchObject({
      remaining: 0,
      retryAfterSeconds: 0,
      reset: (MIDNIGHT + DAY) / 1000,
    });
  });

  test("leaves nothing if the plan's limit falls below the day's use", () => {
    const { use } = takeRequest({ ...unused, window: { day: MIDNIGHT / DAY, used: 50 } }, { daily: 100, per_minute: 9 }, MIDNIGHT);
    expect(takeRequest(use, { daily: 10, per_minute: 9 }, MIDNIGHT).allowance).toMatchObject({
      limit: 10,
      remaining: 0,
      retryAfterSeconds: 86_400,
    });
  });
});
