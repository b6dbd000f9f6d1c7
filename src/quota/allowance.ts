/** Both limits of a key as one: a request takes from the daily window and from the minute's bucket, or from neither (D-23). */
import { type DailyWindow, resetOf, windowAt } from "./daily-window.ts";
import { refill, secondsUntilToken, type TokenBucket, takeToken } from "./token-bucket.ts";

export type Quota = { daily: number; per_minute: number };

export type Use = { window: DailyWindow; bucket: TokenBucket };

/** What a request is told about its key's limits; `retryAfterSeconds` is 0 when the request was granted. */
export type Allowance = { limit: number; remaining: number; reset: number; retryAfterSeconds: number };

/** Takes one request from both limits, when both have one. */
export function takeRequest(use: Use, quota: Quota, now: number): { use: Use; allowance: Allowance } {
  const window = windowAt(use.window, now);
  const bucket = refill(use.bucket, quota.per_minute, now);
  const reset = resetOf(window);
  const retryAfterSeconds = Math.max(
    secondsUntilToken(bucket, quota.per_minute),
    window.used < quota.daily ? 0 : Math.max(1, Math.ceil(reset - now / 1000)),
  );
  const granted = retryAfterSeconds === 0;
  const used = granted ? window.used + 1 : window.used;
  return {
    use: granted ? { window: { day: window.day, used }, bucket: takeToken(bucket) } : { window, bucket },
    allowance: { limit: quota.daily, remaining: Math.max(0, quota.daily - used), reset, retryAfterSeconds },
  };
}
