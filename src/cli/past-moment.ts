/** Moments of the past as people write them on the command line: 7d, yesterday, monday, 2026-12-31. */
import { InvalidArgumentError } from "commander";
import { momentOf } from "../filter/kinds.ts";
import { easternDate, easternDateBefore } from "../text/eastern.ts";
import type { EpochMs } from "../text/instant.ts";
import type { CliCommand } from "./command.ts";

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

/** Adds the option that shows the past. */
export function addAsOfOption(command: CliCommand): CliCommand {
  return command.option("--as-of <when>", "as it was stored then: 7d or 12h ago, yesterday, monday, a date, a timestamp", pastMomentText);
}

/** The moment that an option gives; `undefined` without it, and for "all". Ends the command, and names `what`, if it is still to come. */
export function givenPastMoment(command: CliCommand, text: string | undefined, now: EpochMs, what = "--as-of"): EpochMs | undefined {
  const asOf = text === undefined ? undefined : pastMoment(text, now);
  if (asOf !== undefined && asOf > now) command.error(`error: ${what} is for the past, and ${text} is still to come`);
  return asOf;
}

const DATES = "a weekday such as monday, a date such as 2026-12-31";

/** Parses an option that takes such a moment. Throws commander's error, with the forms, for anything else. */
export function pastMomentText(text: string): string {
  return momentText(text, `${DATES}, or an RFC 3339 timestamp`);
}

/** The same for an option that takes "all", too. */
export function pastMomentOrAll(text: string): string {
  return text === "all" ? text : momentText(text, `${DATES}, an RFC 3339 timestamp, or all`);
}

function momentText(text: string, forms: string): string {
  if (pastMoment(text, 0) !== undefined) return text;
  throw new InvalidArgumentError(`It must be a time ago such as 7d or 12h, yesterday, today, ${forms}.`);
}
