/** @jsxImportSource hono/jsx */
/** Dates and times for people: as they were published, and how far away they are. */
import { type Due, dueParts, isDueSoon } from "../opportunities/due.ts";
import { dateInWords, timeInWords, whenInWords } from "../text/date-in-words.ts";
import { capitalized } from "../text/in-words.ts";
import { DAY_MS, dateAt, type EpochMs, parseStoredMs } from "../text/instant.ts";
import { relativeTime } from "../text/relative-time.ts";

/** "in 12 days"; the exact time is shown when the pointer rests on it. */
export function Relative({ at, now }: { at: string; now: EpochMs }) {
  const ms = parseStoredMs(at);
  return (
    <time dateTime={at} title={timeInWords(at)}>
      {ms === undefined ? at : relativeTime(ms, now)}
    </time>
  );
}

/** "today" or "12 days ago", for a date without a time. */
export function DaysAgo({ date, now }: { date: string; now: EpochMs }) {
  const today = Date.parse(dateAt(now));
  const midnight = Date.parse(date);
  return (
    <time dateTime={date} title={dateInWords(date)}>
      {midnight >= today ? "today" : midnight === today - DAY_MS ? "yesterday" : relativeTime(midnight, today)}
    </time>
  );
}

/** "Dec 4, 2026, 5:00 PM ET" */
export function Exact({ at }: { at: string }) {
  return <time dateTime={at}>{whenInWords(at)}</time>;
}

/** When it is due: the sentence of `dueInWords`, preceded by how far away that is. */
export function DueLine({ due, now }: { due: Due; now: EpochMs }) {
  const { first, verb, when, distance, more } = dueParts(due, now);
  const { kind, at } = due;
  const words = capitalized(first + verb);
  const rest = more.map((part) => (kind === "in_words" ? `: ${part}` : `; ${part}`)).join("");
  if (at === null) {
    return (
      <span class="quiet">
        {words}
        {rest}
      </span>
    );
  }
  // "Due in 12 days Dec 4, 2026", but "accepted anytime until Dec 31, 2026 in 86 days".
  const [main, besides] = distance === "" || kind === "anytime" ? [when, distance] : [distance, when];
  return (
    <span class={`due ${kind === "over" ? "past" : isDueSoon(due, now) ? "soon" : "later"}`}>
      <strong>
        {words}{" "}
        <time dateTime={at} title={when}>
          {main}
        </time>
      </strong>{" "}
      <span class="quiet">
        {besides}
        {rest}
      </span>
    </span>
  );
}
