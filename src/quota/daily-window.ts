/** The daily quota window: a fixed window of one UTC day (D-23). Instants are milliseconds since 1970 UTC. */
import { formatInstant } from "../text/instant.ts";

const DAY_MS = 86_400_000;

/** How many requests were counted on one day; `day` counts days since 1970. */
export type DailyWindow = { day: number; used: number };

export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

/** A day's date, such as 2026-03-01. */
export function dateOf(day: number): string {
  return formatInstant(day * DAY_MS).slice(0, 10);
}

/** The window of `now`: the given one while its day lasts, then an empty one. */
export function windowAt(window: DailyWindow, now: number): DailyWindow {
  const day = dayOf(now);
  return window.day === day ? window : { day, used: 0 };
}

/** The next 00:00 UTC as a Unix timestamp. */
export function resetOf(window: DailyWindow): number {
  return ((window.day + 1) * DAY_MS) / 1000;
}
