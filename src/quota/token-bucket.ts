/**
 * The per-minute limit: a token bucket that holds as many tokens as its rate, and refills steadily (D-23).
 *
 * It stores the tokens taken instead of those left, so that a new rate applies at once. It counts in units of 1/60,000 token: a rate of
 * `rate` tokens a minute then refills exactly `rate` units a millisecond, and nothing is ever rounded.
 */
import type { EpochMs } from "../text/instant.ts";

/** Units in a token. */
const TOKEN = 60_000;

/** The units taken and not yet refilled at `refilledAtMs`. */
export type TokenBucket = { taken: number; refilledAtMs: EpochMs };

export const fullBucket: TokenBucket = { taken: 0, refilledAtMs: 0 };

/** The bucket at `now`, with `rate` tokens a minute. If the clock was set back, nothing is refilled. */
export function refill(bucket: TokenBucket, rate: number, now: EpochMs): TokenBucket {
  const refilled = Math.max(0, now - bucket.refilledAtMs) * rate;
  return { taken: Math.min(rate * TOKEN, Math.max(0, bucket.taken - refilled)), refilledAtMs: now };
}

/** Whole seconds until a refilled bucket has a token; 0 if it has one. */
export function secondsUntilToken(bucket: TokenBucket, rate: number): number {
  const missing = bucket.taken + TOKEN - rate * TOKEN;
  return missing <= 0 ? 0 : Math.ceil(missing / rate / 1000);
}

/** The bucket without one token. Call `refill` first. */
export function takeToken(bucket: TokenBucket): TokenBucket {
  return { taken: bucket.taken + TOKEN, refilledAtMs: bucket.refilledAtMs };
}
