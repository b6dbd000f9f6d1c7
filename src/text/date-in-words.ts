/** Dates and times for people: "Mar 3, 2026, 5:00 PM ET". */

import { easternAt } from "./eastern.ts";
import { DAY_MS, type EpochMs, HOUR_MS, isDate, MINUTE_MS, MONTHS, parseStoredMs } from "./instant.ts";
import { EASTERN, zoneName } from "./zone-name.ts";

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** A timestamp as a clock and a calendar show it. Days are numbered, so that they can be counted. */
type ClockTime = { ms: EpochMs; dayNumber: number; day: string; clock: string; zone: string };

/** "Mar 3, 2026" of a date, or of an RFC 3339 date-time in `zone` (IANA) or its own offset. Other text is returned as it is. */
export function dateInWords(text: string, zone?: string): string {
  const ms = isDate(text) ? Date.parse(text) : wallClock(text, zone);
  return ms === undefined || Number.isNaN(ms) ? text : dayOf(ms);
}

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
  const ms = parseStoredMs(text);
  const wall = wallClock(text, zone);
  if (ms === undefined || wall === undefined) return undefined;
  const name = zone === undefined ? offsetInWords(ms, wall - ms) : nameIn(zone, ms);
  return { ms, dayNumber: Math.floor(wall / DAY_MS), day: dayOf(wall), clock: clockOf(wall), zone: name };
}

/** What a clock on the wall shows, as if it showed UTC. */
function wallClock(text: string, zone: string | undefined): EpochMs | undefined {
  const ms = parseStoredMs(text);
  return ms === undefined ? undefined : ms + (zone === undefined ? offsetOf(text) : offsetIn(zone, ms));
}

function dayOf(wall: EpochMs): string {
  const date = new Date(wall);
  return `${MONTHS[date.getUTCMonth()]} ${date.getUTCDate()}, ${date.getUTCFullYear()}`;
}

function clockOf(wall: EpochMs): string {
  const date = new Date(wall);
  const hour = date.getUTCHours();
  return `${hour % 12 === 0 ? 12 : hour % 12}:${String(date.getUTCMinutes()).padStart(2, "0")} ${hour < 12 ? "AM" : "PM"}`;
}

function offsetOf(text: string): number {
  const [, sign, hours = 0, minutes = 0] = /([+-])(\d\d):(\d\d)$/.exec(text) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS);
}

/** Federal sources publish Eastern time. Another offset is named by its hours: "UTC-7". */
function offsetInWords(ms: EpochMs, offset: number): string {
  if (offset === 0) return "UTC";
  if (offset === offsetIn(EASTERN, ms)) return "ET";
  const minutes = Math.abs(offset / MINUTE_MS);
  const rest = minutes % 60 === 0 ? "" : `:${String(minutes % 60).padStart(2, "0")}`;
  return `UTC${offset < 0 ? "-" : "+"}${Math.floor(minutes / 60)}${rest}`;
}

function offsetIn(zone: string, ms: EpochMs): number {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).offsetNanoseconds / 1e6;
}

/** "ET" for both EST and EDT, and "UTC+1" for GMT+1. */
function nameIn(zone: string, ms: EpochMs): string {
  return zoneName(zone, ms)
    .replace(/^(E|C|M|P|AK)[SD]T$/, "$1T")
    .replace(/^GMT/, "UTC");
}
