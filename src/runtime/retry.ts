/** When to ask again what was refused for the moment. */

const BACKOFF_MS = 1000;

/**
 * As long as told, and up to a second more; else twice as long each time, up to half of it by chance, so that many who were refused
 * together do not come back together. `failures` counts from 1.
 */
export function delayMs(retryAfterMs: number | undefined, failures: number, random: () => number): number {
  return retryAfterMs === undefined ? BACKOFF_MS * 2 ** (failures - 1) * (0.5 + random() / 2) : retryAfterMs + random() * BACKOFF_MS;
}

/** Milliseconds of a Retry-After (RFC 9110 §10.2.3), which gives seconds, or a date; that is read by the clock `now`. */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const text = headers.get("retry-after") ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
