/**
 * The per-minute limit: a token bucket that holds one minute's number and refills steadily (D-23).
 *
 * It remembers the tokens taken, not those left, so that a change of the rate holds at once; and it counts in 60,000ths of a token,
 * so that `rate` tokens a minute are exactly `rate` of those a millisecond, without rounding.
 */

const TOKEN = 60_000;

/** What was taken and has not come back yet, as of `refilledAtMs`. */
export type TokenBucket = { taken: number; refilledAtMs: number };

export const fullBucket: TokenBucket = { taken: 0, refilledAtMs: 0 };

/** The bucket as it stands at `now`. A clock that was set back refills nothing. */
export function refill(bucket: TokenBucket, rate: number, now: number): TokenBucket {
  const back = Math.max(0, now - bucket.refilledAtMs) * rate;
  return { taken: Math.min(rate * TOKEN, Math.max(0, bucket.taken - back)), refilledAtMs: now };
}

/** Whole seconds until a refilled bucket has a token: 0 when it has one. */
export function secondsUntilToken(bucket: TokenBucket, rate: number): number {
  const missing = bucket.taken + TOKEN - rate * TOKEN;
  return missing <= 0 ? 0 : Math.ceil(missing / rate / 1000);
}

export function takeToken(bucket: TokenBucket): TokenBucket {
  return { taken: bucket.taken + TOKEN, refilledAtMs: bucket.refilledAtMs };
}
