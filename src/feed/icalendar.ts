/** Deadlines as iCalendar (RFC 5545, with names and refreshing of RFC 7986). The same deadlines always give the same bytes. */
import { dayWithoutHour } from "../text/date-in-words.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";

/** One event of a calendar. `revision` never falls and rises when the date moves or the event is cancelled; `changed_at` is when it last changed. */
export type CalendarEntry = {
  uid: string;
  revision: number;
  changed_at: EpochMs;
  due_at: EpochMs;
  isTentative: boolean;
  isCancelled: boolean;
  title: string;
  description: readonly string[];
  url: string | undefined;
};

const REFRESH = "PT6H";
const OCTETS_MAX = 75;

export function calendarOf(name: string, entries: readonly CalendarEntry[]): string {
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//fundfeed//deadlines//EN",
    "CALSCALE:GREGORIAN",
    "METHOD:PUBLISH",
    `NAME:${textValue(name)}`,
    `X-WR-CALNAME:${textValue(name)}`, // Most calendars read this one.
    `REFRESH-INTERVAL;VALUE=DURATION:${REFRESH}`,
    `X-PUBLISHED-TTL:${REFRESH}`,
    ...entries.flatMap(eventLines),
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${folded(line)}\r\n`).join("");
}

function eventLines({ uid, revision, changed_at, due_at, isTentative, isCancelled, title, description, url }: CalendarEntry): string[] {
  const day = dayWithoutHour(formatInstant(due_at)); // A whole day, which no zone moves; an instant is shown in its reader's zone.
  return [
    "BEGIN:VEVENT",
    `UID:${uid}`,
    `DTSTAMP:${utc(changed_at)}`,
    `LAST-MODIFIED:${utc(changed_at)}`,
    `SEQUENCE:${revision}`,
    day === null ? `DTSTART:${utc(due_at)}` : `DTSTART;VALUE=DATE:${day.replaceAll("-", "")}`,
    `SUMMARY:${textValue(isCancelled ? `Cancelled: ${title}` : title)}`,
    `DESCRIPTION:${textValue(description.join("\n"))}`,
    ...(url === undefined ? [] : [`URL:${uriValue(url)}`]),
    `STATUS:${isCancelled ? "CANCELLED" : isTentative ? "TENTATIVE" : "CONFIRMED"}`,
    "TRANSP:TRANSPARENT", // A deadline makes nobody busy.
    "END:VEVENT",
  ];
}

function utc(instant: EpochMs): string {
  return formatInstant(instant).replace(/[-:]|\.\d+/g, "");
}

/** A value of type TEXT (RFC 5545 §3.3.11). Control characters cannot be written in one, and those that reorder text have no place here. */
function textValue(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\\;,]/g, "\\$&")
    .replace(/\r\n?|\n/g, "\\n")
    .replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, " ");
}

/** A value of type URI. An address in its normal form has no line ends; all else is percent-encoded here. */
function uriValue(url: string): string {
  return url.replace(/[^!-~]/gu, (character) => encodeURIComponent(character.toWellFormed()));
}

/** A line in pieces of at most 75 octets (RFC 5545 §3.1). No character is split. */
function folded(line: string): string {
  if (Buffer.byteLength(line) <= OCTETS_MAX) return line;
  let [result, octets] = ["", 0];
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > OCTETS_MAX) {
      result += "\r\n ";
      octets = 1;
    }
    result += character;
    octets += size;
  }
  return result;
}
