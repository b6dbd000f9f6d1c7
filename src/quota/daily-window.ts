/** The daily quota window: a fixed window of one UTC day (D-23). */
import { type EpochMs, formatInstant } from "../text/instant.ts";

const DAY_MS = 86_400_000;

/** The requests counted on one UTC day. `day` is a number of days since 1970. */
export type DailyWindow = { day: number; used: number };

/** The UTC day of an instant, in days since 1970. */
export function dayOf(now: EpochMs): number {
  return Math.floor(now / DAY_MS);
}

/** The date of a day, such as 2026-03-01. */
export function dateOf(day: number): string {
  return formatInstant(day * DAY_MS).slice(0, 10);
}

/** The window at `now`: the given one if its day is the same, otherwise an empty one. */
export function windowAt(window: DailyWindow, now: EpochMs): DailyWindow {
  const day = dayOf(now);
  return window.day === day ? window : { day, used: 0 };
}

/** When the window ends: the next 00:00 UTC, as a Unix timestamp in seconds. */
export function resetOf(window: DailyWindow): number {
  return ((window.day + 1) * DAY_MS) / 1000;
}
