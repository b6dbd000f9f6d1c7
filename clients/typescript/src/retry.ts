/** How long to wait before a failed request is sent again. */

const BACKOFF_MS = 1000;

/**
 * The delay in milliseconds before the next attempt: the server's Retry-After plus up to a second, else exponential backoff with up to half
 * of it random. The random part keeps clients that failed together from returning together. `failures` counts from 1; `random` returns a
 * number from 0 to 1.
 */
export function retryDelayMs(retryAfterMs: number | undefined, failures: number, random: () => number): number {
  return retryAfterMs === undefined ? BACKOFF_MS * 2 ** (failures - 1) * (0.5 + random() / 2) : retryAfterMs + random() * BACKOFF_MS;
}

/** The Retry-After header (RFC 9110 §10.2.3) in milliseconds from `now`, or `undefined` if it is missing or neither seconds nor a date. */
export function readRetryAfterMs(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Z][a-z]{2}/.test(text)) return undefined; // An HTTP date begins with a weekday. `Date.parse` also takes "1.5" and "-5" for dates.
  const ms = Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
