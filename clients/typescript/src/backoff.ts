/** How long to wait before something that failed is tried again. */

type Backoff = {
  /** After the first failure. */
  firstMs?: number;
  maxMs?: number;
  /** Returns a number from 0 to 1, which shortens the delay by up to half, so that clients that failed together do not return together. */
  random?: () => number;
};

const FIRST_MS = 1000;

/** The delay in milliseconds before the next attempt, doubled by each failure after the first. `failures` counts from 1. */
export function backoffMs(failures: number, { firstMs = FIRST_MS, maxMs = Number.POSITIVE_INFINITY, random = () => 1 }: Backoff): number {
  return Math.min(firstMs * 2 ** (failures - 1), maxMs) * (0.5 + random() / 2);
}

/** The delay in milliseconds before a request is sent again: the server's Retry-After plus up to a second, else the backoff. */
export function retryDelayMs(retryAfterMs: number | undefined, failures: number, random: () => number): number {
  return retryAfterMs === undefined ? backoffMs(failures, { random }) : retryAfterMs + random() * FIRST_MS;
}

/** The Retry-After header (RFC 9110 §10.2.3) in milliseconds from `now`, or `undefined` if it is missing or neither seconds nor a date. */
export function readRetryAfterMs(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Z][a-z]{2}/.test(text)) return undefined; // An HTTP date begins with a weekday. `Date.parse` also takes "1.5" and "-5" for dates.
  const ms = Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
