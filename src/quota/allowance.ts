/** Both limits of a key: a request takes from the daily window and from the minute's token bucket, or from neither (D-23). */
import { DAY_MS, type EpochMs, MINUTE_MS } from "../text/instant.ts";

type Quota = { daily: number; per_minute: number };

export type Use = { window: DailyWindow; bucket: TokenBucket };

/** The requests counted on one UTC day. `day` is a number of days since 1970. */
type DailyWindow = { day: number; used: number };

/** The units taken and not yet refilled at `refilledAtMs`. A token has `TOKEN` units. */
type TokenBucket = { taken: number; refilledAtMs: EpochMs };

export const unused: Use = { window: { day: 0, used: 0 }, bucket: { taken: 0, refilledAtMs: 0 } };

/** What the response says about the limits. `reset` is a Unix timestamp. `retryAfterSeconds` is 0 if the request was granted. */
export type Allowance = { limit: number; remaining: number; reset: number; retryAfterSeconds: number };

/** The use of a key after a request, what the response says about it, and how many uses it took: 0 if it was refused. */
export type Taken = { use: Use; allowance: Allowance; taken: number };

export type LimitedKey = Quota & { id: string; use: Use };

/** Where requests are counted. Only Redis gives a promise; its function is called and the result stored without a pause between. */
export type Quotas = {
  take: (key: LimitedKey, now: EpochMs, uses?: number) => Taken | Promise<() => Taken>;
  takeBack?: (key: LimitedKey, day: number) => void;
};

export const ownQuotas = { take: (key: LimitedKey, now: EpochMs, uses?: number) => takeRequest(key.use, key, now, uses) } satisfies Quotas;

/** Takes one request from both limits, or from neither. A costly one counts as several `uses`, at most as many as the smaller limit. */
export function takeRequest(use: Use, quota: Quota, now: EpochMs, uses = 1): Taken {
  const asked = usesTaken(uses, quota);
  const window = windowAt(use.window, now);
  const bucket = refill(use.bucket, quota.per_minute, now);
  const retryAfterSeconds = Math.max(
    secondsUntil(asked, bucket, quota.per_minute),
    window.used + asked <= quota.daily ? 0 : Math.max(1, Math.ceil(resetOf(window) - now / 1000)),
  );
  const isGranted = retryAfterSeconds === 0;
  const after = isGranted ? { day: window.day, used: window.used + asked } : window;
  return {
    use: { window: after, bucket: isGranted ? { ...bucket, taken: bucket.taken + asked * TOKEN } : bucket },
    allowance: allowanceOf(after, quota, retryAfterSeconds),
    taken: isGranted ? asked : 0,
  };
}

/** The uses that a request takes: at most as many as the smaller limit of its key. */
export function usesTaken(uses: number, { daily, per_minute }: Quota): number {
  return Math.min(uses, daily, per_minute);
}

/** The allowance to send, given the window after the request. */
export function allowanceOf(window: DailyWindow, { daily }: Quota, retryAfterSeconds: number): Allowance {
  return { limit: daily, remaining: Math.max(0, daily - window.used), reset: resetOf(window), retryAfterSeconds };
}

/** The UTC day of an instant, in days since 1970. */
export function dayOf(now: EpochMs): number {
  return Math.floor(now / DAY_MS);
}

const LATE_MAX_MS = MINUTE_MS;

/** The window at `now`. A late request must not open the old day again; a clock set back by more goes back, so that no key waits. */
export function windowAt(window: DailyWindow, now: EpochMs): DailyWindow {
  const day = dayOf(now);
  return window.day === day || window.day === dayOf(now + LATE_MAX_MS) ? window : { day, used: 0 };
}

/** When the window ends: the next 00:00 UTC, as a Unix timestamp in seconds. */
export function resetOf(window: DailyWindow): number {
  return ((window.day + 1) * DAY_MS) / 1000;
}

/** Units in a token: `rate` tokens a minute are `rate` units a millisecond, without rounding. What was taken is stored, so a new rate applies at once. */
const TOKEN = 60_000;

/** The bucket at `now`, with `rate` tokens a minute. If the clock was set back, nothing is refilled. */
function refill(bucket: TokenBucket, rate: number, now: EpochMs): TokenBucket {
  const refilled = Math.max(0, now - bucket.refilledAtMs) * rate;
  return { taken: Math.min(rate * TOKEN, Math.max(0, bucket.taken - refilled)), refilledAtMs: now };
}

function secondsUntil(tokens: number, bucket: TokenBucket, rate: number): number {
  const missing = bucket.taken + tokens * TOKEN - rate * TOKEN;
  return missing <= 0 ? 0 : Math.ceil(missing / rate / 1000);
}
