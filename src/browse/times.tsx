/** @jsxImportSource hono/jsx */
/** Dates and times for people: as they were published, and how far away they are. */
import { dueDateOf, undatedInWords } from "../opportunities/clock.ts";
import type { Opportunity } from "../opportunities/opportunity.ts";
import { CLOSING_SOON_MS, passedInWords } from "../opportunities/status.ts";
import { capitalized } from "../text/capitalized.ts";
import { dateInWords, timeInWords } from "../text/date-in-words.ts";
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
  return <time dateTime={at}>{timeInWords(at)}</time>;
}

/** How soon a deadline is, in words and as a class. */
function urgencyOf(dueAt: string, now: EpochMs): "past" | "soon" | "later" {
  const ms = parseStoredMs(dueAt);
  if (ms === undefined) return "later";
  return ms < now ? "past" : ms < now + CLOSING_SOON_MS ? "soon" : "later";
}

/** What is due next, relative and exact. */
export function Due({ opportunity, now }: { opportunity: Pick<Opportunity, "dates" | "status">; now: EpochMs }) {
  const at = dueDateOf(opportunity.dates, now);
  if (at === null) return <span class="quiet">{capitalized(undatedInWords(opportunity))}</span>;
  const urgency = urgencyOf(at, now);
  return (
    <span class={`due ${urgency}`}>
      <strong>
        {urgency === "past" ? capitalized(passedInWords(opportunity.status)) : "Due"} <Relative at={at} now={now} />
      </strong>{" "}
      <span class="quiet">
        <Exact at={at} />
      </span>
    </span>
  );
}
