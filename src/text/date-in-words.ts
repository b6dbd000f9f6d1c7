/** Dates and times for people: "Mar 3, 2026, 5:00 PM ET". */

import { easternAt } from "./eastern.ts";
import { DAY_MS, type EpochMs, isDate, MONTHS, parseStoredMs } from "./instant.ts";
import { memoize } from "./memoize.ts";
import { EASTERN, zoneName } from "./zone-name.ts";

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

type ClockTime = { ms: EpochMs; dayNumber: number; day: string; clock: string; zone: string };

/** "Mar 3, 2026" of a date, or of an RFC 3339 date-time in `zone` (IANA) or its own offset. Other text is returned as it is. */
export function dateInWords(text: string, zone?: string): string {
  if (isDate(text)) return dateOfDay(text) ?? text;
  const zoned = zonedOf(text, zone);
  return zoned === undefined ? text : dayOf(zoned);
}

/** Memoized because Temporal takes 0.8 µs, and `/v1/sources` names the same ten days in each response. */
const dateOfDay = memoize(5000, (date) => {
  const zoned = zonedOf(`${date}T00:00:00Z`);
  return zoned && dayOf(zoned);
});

/** "Mar 3, 2026, 5:00 PM ET" for an RFC 3339 date-time. Other text is returned as it is. */
export function timeInWords(text: string, zone?: string): string {
  const time = clockTime(text, zone);
  return time === undefined ? text : `${time.day}, ${time.clock} ${time.zone}`;
}

/** The Eastern day of a date without an hour, which is stored as the last second of that day (D-36); null if there is an hour. */
export function dayWithoutHour(text: string): string | null {
  const ms = text.slice(16, 19) === ":59" ? parseStoredMs(text) : undefined;
  const eastern = ms === undefined ? "" : easternAt(ms);
  return eastern.slice(10, 19) === "T23:59:59" ? eastern.slice(0, 10) : null;
}

/** "Mar 3, 2026, 5:00 PM ET" in a zone, or "Mar 3, 2026" for a date without an hour, which no zone moves. */
export function whenInWords(text: string, zone?: string): string {
  const day = dayWithoutHour(text);
  return day === null ? timeInWords(text, zone) : dateInWords(day);
}

/** When something begins: like `whenInWords`, but the first second of a day stands for a date without an hour. */
export function startInWords(text: string): string {
  return text.slice(10, 19) === "T00:00:00" ? dateInWords(text) : timeInWords(text);
}

export function monthInWords(month: string): string {
  return `${MONTHS[Number(month.slice(5)) - 1]} ${month.slice(0, 4)}`;
}

export function weekdayInWords(date: string): string {
  return WEEKDAYS[new Date(`${date.slice(0, 10)}T00:00:00Z`).getUTCDay()] ?? "";
}

/** The parts of an RFC 3339 date-time; `undefined` if the text is none. Throws a RangeError for an unknown zone. */
export function clockTime(text: string, zone?: string): ClockTime | undefined {
  const zoned = zonedOf(text, zone);
  if (zoned === undefined) return undefined;
  const { epochMilliseconds: ms, hour, minute, offsetNanoseconds } = zoned;
  const clock = `${hour % 12 || 12}:${String(minute).padStart(2, "0")} ${hour < 12 ? "AM" : "PM"}`;
  const name = zone === undefined ? offsetInWords(zoned) : nameIn(zone, ms);
  return { ms, dayNumber: Math.floor((ms + offsetNanoseconds / 1e6) / DAY_MS), day: dayOf(zoned), clock, zone: name };
}

function zonedOf(text: string, zone?: string): Temporal.ZonedDateTime | undefined {
  const ms = parseStoredMs(text);
  const [own = "UTC"] = /[+-]\d\d:\d\d$/.exec(text) ?? [];
  return ms === undefined ? undefined : Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone ?? own);
}

function dayOf({ year, month, day }: Temporal.ZonedDateTime): string {
  return `${MONTHS[month - 1]} ${day}, ${year}`;
}

/** Federal sources publish Eastern time. Another offset is named by its hours: "UTC-7". */
function offsetInWords(zoned: Temporal.ZonedDateTime): string {
  if (zoned.offsetNanoseconds === 0) return "UTC";
  if (zoned.offset === zoned.withTimeZone(EASTERN).offset) return "ET";
  return `UTC${zoned.offset.replace(/(?<=^[+-])0/, "").replace(":00", "")}`;
}

/** "ET" for both EST and EDT, and "UTC+1" for GMT+1. */
function nameIn(zone: string, ms: EpochMs): string {
  return zoneName(zone, ms)
    .replace(/^(E|C|M|P|AK)[SD]T$/, "$1T")
    .replace(/^GMT/, "UTC");
}
