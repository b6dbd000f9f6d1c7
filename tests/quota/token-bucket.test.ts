import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fullBucket, refill, secondsUntilToken, takeToken } from "../../src/quota/token-bucket.ts";

/** Takes a token at `now` if there is one. */
function tryTake(bucket: typeof fullBucket, rate: number, now: number) {
  const refilled = refill(bucket, rate, now);
  const wait = secondsUntilToken(refilled, rate);
  return { bucket: wait === 0 ? takeToken(refilled) : refilled, wait };
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
