/** @jsxImportSource hono/jsx */
/** Dates and times for people: as they were published, and how far away they are. */
import { easternInstant } from "../text/eastern.ts";
import { type EpochMs, formatInstant, parseStoredMs } from "../text/instant.ts";
import { relativeTime } from "../text/relative-time.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
export const DAY_MS = 86_400_000;

/** "Dec 4, 2026" for a text that begins with 2026-12-04. */
export function dateInWords(text: string): string {
  const [year, month, day] = text.slice(0, 10).split("-").map(Number);
  return `${MONTHS[(month ?? 1) - 1]} ${day}, ${year}`;
}

/** "Fri" */
export function weekdayOf(date: string): string {
  return WEEKDAYS[new Date(`${date.slice(0, 10)}T00:00:00Z`).getUTCDay()] ?? "";
}

/** "Dec 4, 2026, 5:00 PM ET" for an RFC 3339 date-time, in its own offset. Other text is returned as it is. */
export function timeInWords(text: string): string {
  if (parseStoredMs(text) === undefined) return text;
  const hour = Number(text.slice(11, 13));
  const clock = `${hour % 12 === 0 ? 12 : hour % 12}:${text.slice(14, 16)} ${hour < 12 ? "AM" : "PM"}`;
  return `${dateInWords(text)}, ${clock} ${zoneOf(text)}`;
}

/** Federal sources publish Eastern time. */
function zoneOf(text: string): string {
  const [offset = "Z"] = /(?:[+-]\d\d:\d\d|[Zz])$/.exec(text) ?? [];
  if (/^(z|[+-]00:00)$/i.test(offset)) return "UTC";
  const isEastern = easternInstant(text.slice(0, 10), text.slice(11, 19))?.endsWith(offset) ?? false;
  return isEastern ? "ET" : `UTC${offset.replace("-", "−")}`;
}

/** The date in UTC, "2026-12-04". */
export function utcDate(at: EpochMs): string {
  return formatInstant(at).slice(0, 10);
}

/** "in 12 days"; the exact time is shown when the pointer rests on it. */
export function Relative({ at, now }: { at: string; now: EpochMs }) {
  const ms = parseStoredMs(at);
  return (
    <time dateTime={at} title={timeInWords(at)}>
      {ms === undefined ? at : relativeTime(ms, now)}
    </time>
  );
}

/** "today", or "12 days ago" for a date, of which no time is known. */
export function DaysAgo({ date, now }: { date: string; now: EpochMs }) {
  const today = Date.parse(utcDate(now));
  const midnight = Date.parse(date);
  return (
    <time dateTime={date} title={dateInWords(date)}>
      {midnight >= today ? "today" : midnight === today - DAY_MS ? "yesterday" : relativeTime(midnight, today)}
    </time>
  );
}

/** "Dec 4, 2026, 5:00 PM ET" */
export function Exact({ at }: { at: string }) {
  return <time dateTime={at}>{timeInWords(at)}</time>;
}

/** How soon a deadline is, in words and as a class: a deadline within two weeks is soon. */
export function urgencyOf(closesAt: string, now: EpochMs): "past" | "soon" | "later" {
  const ms = parseStoredMs(closesAt);
  if (ms === undefined) return "later";
  return ms < now ? "past" : ms < now + 14 * DAY_MS ? "soon" : "later";
}

/** A deadline, relative and exact. */
export function Due({ at, now }: { at: string | null; now: EpochMs }) {
  if (at === null) return <span class="quiet">No deadline stated</span>;
  const urgency = urgencyOf(at, now);
  return (
    <span class={`due ${urgency}`}>
      <strong>
        {urgency === "past" ? "Closed " : "Due "}
        <Relative at={at} now={now} />
      </strong>{" "}
      <span class="quiet">
        <Exact at={at} />
      </span>
    </span>
  );
}
