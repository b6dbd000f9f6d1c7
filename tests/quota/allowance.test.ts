import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { takeRequest, unused } from "../../src/quota/allowance.ts";

const DAY = 86_400_000;
const MIDNIGHT = Date.UTC(2026, 2, 2);

describe("takeRequest()", () => {
  test("takes as many uses as a request costs, or none", () => {
    const quota = { daily: 10, per_minute: 7 };
    const first = takeRequest(unused, quota, MIDNIGHT, 5);
    expect([first.taken, first.allowance.remaining]).toEqual([5, 5]);
    const refused = takeRequest(first.use, quota, MIDNIGHT, 5);
    expect([refused.taken, refused.allowance.remaining, refused.allowance.retryAfterSeconds]).toEqual([0, 5, 26]);
    expect(takeRequest(first.use, quota, MIDNIGHT, 2).taken).toBe(2);
  });

  test("takes the whole of a limit that is smaller than what a request costs", () => {
    expect(takeRequest(unused, { daily: 100, per_minute: 3 }, MIDNIGHT, 5)).toMatchObject({ taken: 3, allowance: { remaining: 97 } });
  });

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

  test("counts a request that comes late on the day that has begun, and a clock that is set back on the day before", () => {
    const quota = { daily: 2, per_minute: 100 };
    const first = takeRequest({ ...unused, window: { day: MIDNIGHT / DAY - 1, used: 2 } }, quota, MIDNIGHT);
    const late = takeRequest(first.use, quota, MIDNIGHT - 60_000);
    expect(late.allowance).toEqual({ limit: 2, remaining: 0, reset: (MIDNIGHT + DAY) / 1000, retryAfterSeconds: 0 });
    expect(takeRequest(late.use, quota, MIDNIGHT - 1).allowance).toMatchObject({ remaining: 0, retryAfterSeconds: 86_401 });
    expect(takeRequest(late.use, quota, MIDNIGHT - 60_001).allowance).toMatchObject({ remaining: 1, reset: MIDNIGHT / 1000 });
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

const { bucket: fullBucket } = unused;

/** Takes a token at `now` if there is one, on a day that has enough requests. */
function tryTake(bucket: typeof fullBucket, rate: number, now: number) {
  const { use, allowance } = takeRequest({ ...unused, bucket }, { daily: 1_000_000, per_minute: rate }, now);
  return { bucket: use.bucket, wait: allowance.retryAfterSeconds };
}

describe("a token bucket", () => {
  test("holds one minute's tokens, and refills six a minute one every ten seconds", () => {
    let bucket = fullBucket;
    const waits: number[] = [];
    for (const now of [0, 0, 0, 0, 0, 0, 0, 1, 9_999, 10_000, 10_000, 19_999, 20_000, 80_000]) {
      const taken = tryTake(bucket, 6, 1_000_000 + now);
      bucket = taken.bucket;
      waits.push(taken.wait);
    }
    expect(waits).toEqual([0, 0, 0, 0, 0, 0, 10, 10, 1, 0, 10, 1, 0, 0]);
  });

  test("a new rate applies at once, up and down", () => {
    let bucket = fullBucket;
    for (let n = 0; n < 6; n++) bucket = tryTake(bucket, 6, 0).bucket;
    expect(tryTake(bucket, 6, 0).wait).toBe(10);
    expect(tryTake(bucket, 7, 0).wait).toBe(0);
    expect(tryTake(bucket, 1, 0).wait).toBe(60);
  });

  test("refills nothing if the clock is set back, and the wait is at most a minute", () => {
    const emptied = tryTake(fullBucket, 1, 100_000).bucket;
    expect(tryTake(emptied, 1, 0).wait).toBe(60);
    expect(tryTake(tryTake(emptied, 1, 0).bucket, 1, 60_000).wait).toBe(0);
  });

  test("has a token after the wait it returned, and no minute yields more than twice the rate", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), steps, (rate, pauses) => {
        let [bucket, now] = [fullBucket, 1_700_000_000_000];
        const taken: number[] = [];
        for (const pause of pauses) {
          now += pause;
          const { bucket: next, wait } = tryTake(bucket, rate, now);
          bucket = next;
          if (wait === 0) taken.push(now);
          else expect(tryTake(bucket, rate, now + wait * 1000).wait).toBe(0);
        }
        for (const [index, from] of taken.entries()) {
          const within = taken.slice(index).filter((at) => at < from + 60_000).length;
          expect(within).toBeLessThanOrEqual(2 * rate);
        }
      }),
    );
  });
});
