/** Reads and writes RFC 3339 date-times (D-10, D-28). Stricter than `Date.parse`, and exact to any number of fractional digits. */
import { memoize, memoizeLast } from "./memoize.ts";

export const [SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS] = [1000, 60_000, 3_600_000, 86_400_000];

export const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Milliseconds since 1970-01-01T00:00:00Z, as `Date.now()` returns them. */
export type EpochMs = number;

/** A point in time: whole milliseconds, and the fractional digits beyond them, without trailing zeros. */
export type Instant = Readonly<{ ms: EpochMs; beyond: string }>;

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** The instant of an RFC 3339 date-time; a leap second is the second after it. Memoized, because imports repeat a few thousand dates. */
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
  // Computed 400 years later, because `Date.UTC` reads the years 0 to 99 as 1900 to 1999.
  const ms = Date.UTC(year + 400, month - 1, day, hour, minute - offset, second, milliseconds) - CYCLE_MS;
  return { ms, beyond: leap ? "" : withoutTrailingZeros(fraction.slice(3)) };
}

/** Without a regular expression: /0+$/ takes quadratic time on a long run of zeros. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}

/** The instant of an RFC 3339 date-time without its digits beyond milliseconds, or `undefined` if `text` is missing or is none. */
export function parseInstantMs(text: string | null | undefined): EpochMs | undefined {
  return text == null ? undefined : parseInstant(text)?.ms;
}

/** Like `parseInstantMs`, but `undefined` also outside the years 0000 to 9999 UTC, which `formatInstant` could not write as RFC 3339. */
export function parseStoredMs(text: string | null | undefined): EpochMs | undefined {
  const ms = parseInstantMs(text);
  return ms !== undefined && ms >= FIRST_MS && ms <= LAST_MS ? ms : undefined;
}

const FIRST_MS = Date.parse("0000-01-01T00:00:00.000Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** How far the clocks of two machines may differ. */
export const CLOCK_SKEW_MAX_MS = MINUTE_MS;

/** Whether `instant` lies further in the future than a difference between two machines' clocks explains. */
export function isFuture(instant: EpochMs, now: EpochMs): boolean {
  return instant > now + CLOCK_SKEW_MAX_MS;
}

/** Whole seconds since an instant; null without one, or if it lies in the future: then a clock was wrong. */
export function secondsSince(instant: EpochMs | null, now: EpochMs): number | null {
  return instant === null || isFuture(instant, now) ? null : Math.max(0, Math.floor((now - instant) / 1000));
}

/** The last whole minute until an instant. Clocks for people show no more. */
export function minuteOf(instant: EpochMs): EpochMs {
  return Math.floor(instant / MINUTE_MS) * MINUTE_MS;
}

/** Negative if `left` is earlier, positive if it is later, 0 if both are the same instant. */
export function compareInstants(left: Instant, right: Instant): number {
  if (left.ms !== right.ms) return left.ms - right.ms;
  return left.beyond < right.beyond ? -1 : left.beyond > right.beyond ? 1 : 0;
}

/** UTC with milliseconds and `Z` (D-28). Throws a RangeError on NaN. Memoized: a transaction writes one instant again and again. */
export const formatInstant = memoizeLast((instant: EpochMs) => new Date(instant).toISOString());

export function dateAt(instant: EpochMs): string {
  return formatInstant(instant).slice(0, 10);
}

export function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}

export function dateOf(text: string): string {
  return text.slice(0, 10);
}

export function clockOf(text: string): string {
  return text.slice(11, 16);
}

/** 400 years: the Gregorian calendar repeats after them. */
const CYCLE_MS = 146_097 * DAY_MS;

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
