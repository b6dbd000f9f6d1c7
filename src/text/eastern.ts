/** US Eastern dates: federal dates without a zone are Eastern, with daylight saving time. */
import { DAY_MS, dateAt, type EpochMs, isDate, parseStoredMs } from "./instant.ts";
import { memoize, memoizeLast } from "./memoize.ts";
import { EASTERN } from "./zone-name.ts";

/** The RFC 3339 date-time of an Eastern date and time (`2026-07-01`, `23:59:59`). Undefined if the date does not exist. */
export function easternInstant(date: string, time: string): string | undefined {
  return instantOf(`${date}T${time}`);
}

/** The first instant of an Eastern date (`2026-07-01`). Undefined if the text is none. */
export function startOfEasternDate(date: string): EpochMs | undefined {
  return isDate(date) ? parseStoredMs(easternInstant(date, "00:00:00")) : undefined;
}

/** The first instant after an Eastern date (`2026-07-01`). Undefined if the date does not exist. */
export const endOfEasternDate = memoize(5000, (date) => {
  if (easternInstant(date, "00:00:00") === undefined) return undefined;
  return easternInstant(dateAt(Date.parse(date) + DAY_MS), "00:00:00");
});

/** Like `easternInstant` of a date as an upstream writes it; null if none is stated. Warns of a text that is not such a date. */
export function dateInstant(text: string, time: string, warn: (message: string) => void): string | null {
  if (text === "") return null;
  const date = writtenDate(text);
  const instant = isDate(date) ? easternInstant(date, time) : undefined;
  if (instant === undefined) warn(`unreadable date "${text}" is left out`);
  return instant ?? null;
}

/**
 * `2026-07-01` of a date as upstreams write it, whatever time follows: `2026/07/01`, `7/1/2026`, `07012026`, `Jul 1, 2026`, `July 1, 2026`.
 * Any other text stays. Memoized because an extract repeats a few thousand dates.
 */
export const writtenDate = memoize(5000, (text): string => {
  const { year = "", month = "", day = "" } = WRITTEN.exec(text)?.groups ?? {};
  const number = Number(month) || MONTH_NAMES.findIndex((name) => month !== "" && name.startsWith(month)) + 1;
  return number === 0 ? text : `${year}-${String(number).padStart(2, "0")}-${day.padStart(2, "0")}`;
}) as (text: string) => string;

const MONTH_NAMES = "January February March April May June July August September October November December".split(" ");
const WRITTEN =
  /^(?:(?<year>\d{4})[-/](?<month>\d\d)[-/](?<day>\d\d)|(?<month>\d\d?)\/(?<day>\d\d?)\/(?<year>\d{4})|(?<month>\d\d)(?<day>\d\d)(?<year>\d{4})|(?<month>[A-Z][a-z]{2,8}) (?<day>\d\d?), (?<year>\d{4}))(?!\d)/;

/** Memoized because an extract repeats a few thousand dates. */
const instantOf = memoize(50_000, (wallClock) => {
  const utc = Date.parse(`${wallClock}Z`);
  const date = wallClock.slice(0, wallClock.lastIndexOf("T"));
  if (!/^\d{4}-\d\d-\d\dT/.test(wallClock) || Number.isNaN(utc) || !new Date(utc).toISOString().startsWith(date)) return undefined;
  // An hour that occurs twice is the second one, and one that is skipped moves forward.
  const wholeMs = new Date(utc).toISOString().slice(0, -1); // Temporal takes nine digits of a fraction at most.
  const { epochMilliseconds } = Temporal.PlainDateTime.from(wholeMs).toZonedDateTime(EASTERN, { disambiguation: "later" });
  return wallClock + offsetText(utc - epochMilliseconds);
});

/** The RFC 3339 date-time in Eastern time of an instant: `2026-07-01T20:10:23.206-04:00`. */
export function easternAt(ms: EpochMs): string {
  const zoned = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(EASTERN);
  return zoned.toString({ timeZoneName: "never", fractionalSecondDigits: ms % 1000 === 0 ? 0 : 3 });
}

export const easternDate = memoizeLast((ms: EpochMs) => easternAt(ms).slice(0, 10));

/** The Eastern date a number of days before the one at an instant. Two days are 47 hours apart when daylight saving time begins. */
export function easternDateBefore(ms: EpochMs, days: number): string {
  return dateAt(Date.parse(easternDate(ms)) - days * DAY_MS);
}

function offsetText(ms: number): string {
  return `${ms < 0 ? "-" : "+"}${new Date(Math.abs(ms)).toISOString().slice(11, 16)}`;
}
