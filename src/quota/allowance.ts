/** Both limits of a key together: a request takes from the daily window and from the token bucket, or from neither (D-23). */
import type { EpochMs } from "../text/instant.ts";
import { type DailyWindow, resetOf, windowAt } from "./daily-window.ts";
import { fullBucket, refill, secondsUntilToken, type TokenBucket, takeToken } from "./token-bucket.ts";

/** The limits of a key, in requests. */
export type Quota = { daily: number; per_minute: number };

/** How much of both limits is used up. */
export type Use = { window: DailyWindow; bucket: TokenBucket };

export const unused: Use = { window: { day: 0, used: 0 }, bucket: fullBucket };

/** What the response says about the limits. `reset` is a Unix timestamp. `retryAfterSeconds` is 0 if the request was granted. */
export type Allowance = { limit: number; remaining: number; reset: number; retryAfterSeconds: number };

/** The use of a key after a request, and what the response says about it. */
export type Taken = { use: Use; allowance: Allowance };

/** A key with its limits, and its use as far as this server knows it. */
export type LimitedKey = Quota & { id: string; use: Use };

/** Where requests are counted: in this server, or in a Redis that several servers share. Only the latter returns a promise. */
export type Quotas = { take: (key: LimitedKey, now: EpochMs) => Taken | Promise<Taken> };

/** Counts in this server alone. */
export const ownQuotas: Quotas = { take: (key, now) => takeRequest(key.use, key, now) };

/** Takes one request from both limits if both have one left; otherwise from neither. */
export function takeRequest(use: Use, quota: Quota, now: EpochMs): Taken {
  const window = windowAt(use.window, now);
  const bucket = refill(use.bucket, quota.per_minute, now);
  const retryAfterSeconds = Math.max(
    secondsUntilToken(bucket, quota.per_minute),
    window.used < quota.daily ? 0 : Math.max(1, Math.ceil(resetOf(window) - now / 1000)),
  );
  const isGranted = retryAfterSeconds === 0;
  const after = isGranted ? { day: window.day, used: window.used + 1 } : window;
  return {
    use: { window: after, bucket: isGranted ? takeToken(bucket) : bucket },
    allowance: allowanceOf(after, quota, retryAfterSeconds),
  };
}

/** The allowance to send, given the window after the request. */
export function allowanceOf(window: DailyWindow, { daily }: Quota, retryAfterSeconds: number): Allowance {
  return { limit: daily, remaining: Math.max(0, daily - window.used), reset: resetOf(window), retryAfterSeconds };
}
