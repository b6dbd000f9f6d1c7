/** Both limits of a key as one: a request takes from the daily window and from the minute's bucket, or from neither (D-23). */
import { type DailyWindow, resetOf, windowAt } from "./daily-window.ts";
import { fullBucket, refill, secondsUntilToken, type TokenBucket, takeToken } from "./token-bucket.ts";

export type Quota = { daily: number; per_minute: number };

export type Use = { window: DailyWindow; bucket: TokenBucket };

export const unused: Use = { window: { day: 0, used: 0 }, bucket: fullBucket };

/** What a request is told about its key's limits; `retryAfterSeconds` is 0 when the request was granted. */
export type Allowance = { limit: number; remaining: number; reset: number; retryAfterSeconds: number };

/** What became of a request: its key's use after it, and what it is told. */
export type Taken = { use: Use; allowance: Allowance };

/** A key's limits, and its use as this server knows it. */
export type Limited = Quota & { id: string; use: Use };

/** Where requests are counted: by this server alone, or in a store that several servers share, which takes time. */
export type Quotas = { take: (key: Limited, now: number) => Taken | Promise<Taken> };

export const ownQuotas: Quotas = { take: (key, now) => takeRequest(key.use, key, now) };

/** Takes one request from both limits, when both have one. */
export function takeRequest(use: Use, quota: Quota, now: number): Taken {
  const window = windowAt(use.window, now);
  const bucket = refill(use.bucket, quota.per_minute, now);
  const retryAfterSeconds = Math.max(
    secondsUntilToken(bucket, quota.per_minute),
    window.used < quota.daily ? 0 : Math.max(1, Math.ceil(resetOf(window) - now / 1000)),
  );
  const granted = retryAfterSeconds === 0;
  const after = granted ? { day: window.day, used: window.used + 1 } : window;
  return {
    use: { window: after, bucket: granted ? takeToken(bucket) : bucket },
    allowance: allowanceOf(after, quota, retryAfterSeconds),
  };
}

/** What a request is told, given the window after it. */
export function allowanceOf(window: DailyWindow, { daily }: Quota, retryAfterSeconds: number): Allowance {
  return { limit: daily, remaining: Math.max(0, daily - window.used), reset: resetOf(window), retryAfterSeconds };
}
