/** Moments of the past as people write them on the command line: 7d, yesterday, monday, 2026-12-31. */
import { InvalidArgumentError } from "commander";
import { momentOf } from "../filter/kinds.ts";
import { easternDate, easternDateBefore } from "../text/eastern.ts";
import type { EpochMs } from "../text/instant.ts";

const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** The instant that is meant; `undefined` for "all", and for anything else. */
export function pastMoment(text: string, now: EpochMs): EpochMs | undefined {
  if (text === "all") return undefined;
  const weekday = WEEKDAYS.indexOf(text.toLowerCase());
  return momentOf(weekday === -1 ? text.replace(/^\d+[hdw]$/, "-$&") : latestDay(weekday, now), now);
}

/** The Eastern date of the latest such weekday, which may be today. */
function latestDay(weekday: number, now: EpochMs): string {
  const today = new Date(easternDate(now)).getUTCDay();
  return easternDateBefore(now, (today - weekday + 7) % 7);
}

/** Parses an option that takes such a moment or "all". Throws commander's error, with the forms, for anything else. */
export function pastMomentText(text: string): string {
  if (text !== "all" && pastMoment(text, 0) === undefined)
    throw new InvalidArgumentError(
      "It must be a time ago such as 7d or 12h, yesterday, today, a weekday such as monday, a date such as 2026-12-31, an RFC 3339 timestamp, or all.",
    );
  return text;
}
