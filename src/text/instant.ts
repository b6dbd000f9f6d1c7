/** RFC 3339 date-times in and out (D-10, D-28): strict where `Date.parse` is not, exact to any number of fractional digits. */
import { memoize, memoizeLast } from "../runtime/memoize.ts";

/** Milliseconds since 1970-01-01T00:00:00Z, as `Date.now()` returns them. */
export type EpochMs = number;

/** A point in time: whole milliseconds since 1970 UTC, and the digits beyond them (without trailing zeros). */
export type Instant = Readonly<{ ms: number; beyond: string }>;

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/**
 * The instant that an RFC 3339 date-time with an offset names, or `undefined`. A leap second counts as the second after it. Kept, since an
 * import repeats a few thousand dates and asks for each of a record's several times.
 */
export const parseInstant = memoize(20_000, readInstant);

function readInstant(text: string): Instant | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const part = (group: number) => Number(match[group] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const fraction = match[7] ?? "";
  const [offsetHour, offsetMinute] = [part(9), part(10)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return undefined;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  const offset = (match[8] === "-" ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  const leap = second === 60;
  if (leap && (hour * 60 + minute - offset + 2880) % 1440 !== 1439) return undefined; // Leap seconds end a UTC day.

  const milliseconds = leap || fraction === "" ? 0 : Number(fraction.slice(0, 3).padEnd(3, "0"));
  // A cycle of the calendar later, since `Date.UTC` reads the years 0 to 99 as 1900 to 1999.
  const ms = Date.UTC(year + 400, month - 1, day, hour, minute - offset, second, milliseconds) - CYCLE_MS;
  return { ms, beyond: leap ? "" : withoutTrailingZeros(fraction.slice(3)) };
}

/** A regular expression would look through each run of zeros from each of its zeros. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}

/** Whole milliseconds since 1970 UTC of an RFC 3339 date-time, or `undefined`. */
export function parseInstantMs(text: string): number | undefined {
  return parseInstant(text)?.ms;
}

/** The same, and `undefined` where UTC has no four-digit year for it: what `formatInstant` cannot write is not stored. */
export function parseStoredMs(text: string): number | undefined {
  const ms = parseInstantMs(text);
  return ms !== undefined && ms >= FIRST_MS && ms <= LAST_MS ? ms : undefined;
}

const FIRST_MS = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Clocks of two machines may be so far apart that what one of them wrote seems still to come. */
const CLOCKS_APART_MS = 60_000;

/** Whether an instant (ms) is later than any machine's clock can say now. */
export function isFuture(ms: number, now: number): boolean {
  return ms > now + CLOCKS_APART_MS;
}

/** Negative when `left` is earlier, 0 when both are the same instant. */
export function compareInstants(left: Instant, right: Instant): number {
  if (left.ms !== right.ms) return left.ms - right.ms;
  return left.beyond < right.beyond ? -1 : left.beyond > right.beyond ? 1 : 0;
}

/** UTC with milliseconds and `Z` (D-28). A transaction writes its one instant into every document and event. */
export const formatInstant = memoizeLast((ms: number) => new Date(ms).toISOString());

/** 400 years, after which the calendar repeats itself. */
const CYCLE_MS = 146_097 * 24 * 60 * 60 * 1000;

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
