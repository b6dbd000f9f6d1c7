/** When an opportunity is due: what somebody stated, what is only estimated, and what merely ends. Every door shows this. (E-125) */
import { type Static, Type } from "@sinclair/typebox";
import { noNewsInWords } from "../sources/freshness.ts";
import { dateInWords, dayWithoutHour, whenInWords } from "../text/date-in-words.ts";
import { DAY_MS, type EpochMs, formatInstant, parseInstantMs, parseStoredMs } from "../text/instant.ts";
import { ellipsized } from "../text/quoted.ts";
import { relativeShort, relativeTime } from "../text/relative-time.ts";
import { nullable, object } from "../text/schema.ts";
import { isLongUnseen } from "./last-seen.ts";
import { nextStandardDueDate, standardDueDates } from "./nih-due-dates.ts";
import type { WholeOpportunity } from "./opportunity.ts";
import { CLOSING_SOON_MS, cancellationIn, openStatuses, statusInWords, unendedStatuses } from "./status.ts";

const dueKinds = ["due", "expected", "expires", "anytime", "in_words", "none", "over"] as const;
type DueKind = (typeof dueKinds)[number];

const instant = (description: string) => nullable(Type.String({ format: "date-time" }), description);
const words = (description: string) => nullable(Type.String(), description);

export const Due = object(
  {
    kind: Type.Unsafe<DueKind>({
      type: "string",
      enum: [...dueKinds],
      description:
        "`due`: somebody stated the date. `expected`: an estimate. `expires`: the announcement ends then, and nobody stated a due date. `anytime`. `in_words`: only `note` says when. `none`: nothing is stated. `over`: the last date has passed.",
    }),
    at: instant("The date that `kind` is about. The last second of a day stands for a date without an hour."),
    verb: Type.String({ description: 'What happens at `at`: "due", "expires", "was due".' }),
    words: words("The upstream's words for that date."),
    dates: Type.Array(object({ at: Type.String({ format: "date-time" }), words: words("What is due.") }), {
      description: "All due dates, the earliest first.",
    }),
    expires_at: instant("When the announcement expires, if that is another date."),
    standard_at: instant("The next of NIH's standard due dates. It is only expected."),
    note: words("What the upstream says about the deadline."),
    elsewhere: words(
      'What speaks against the status: other records ("closed at SBIR.gov"), when it was last seen, the title ("its title says CANCELLED"), or a source that is silent ("no news since Jul 18, 2025 at NSF").',
    ),
  },
  "When it is due.",
);
export type Due = Static<typeof Due>;
type DueDate = Due["dates"][number];

/** The account at an instant. Of several records of one opportunity, the due dates of the one that lists them count. */
export function dueOf(opportunity: WholeOpportunity, now: EpochMs, duplicates: readonly WholeOpportunity[]): Due {
  const { dates, status } = opportunity;
  const { closes_at } = dates;
  const { due, expires_at } = statedDates(opportunity, duplicates);
  const note = [opportunity, ...duplicates].map(({ sidecar }) => sidecar.deadline_note).find((each) => each !== null) ?? null;
  const elsewhere = duplicates
    .filter((duplicate) => openStatuses.includes(duplicate.status) !== openStatuses.includes(status))
    .map((duplicate) => `${statusInWords(duplicate.status)} at ${duplicate.source.name}`);
  const against = [...new Set([...elsewhere, ...doubtsOf(opportunity, now)])].join(", ") || null;
  const account = { dates: due, expires_at, standard_at: null, note, words: null, elsewhere: against };
  const next = due.find(({ at }) => msOf(at) > now) ?? due.at(-1);
  if (next === undefined && expires_at !== null && msOf(expires_at) > now) {
    const standard_at = nextStandardDueDate(opportunity, now);
    return { ...account, kind: "expires", verb: "expires", at: expires_at, expires_at: null, standard_at };
  }
  const at = next?.at ?? expires_at ?? dates.response_at;
  const words = next?.words ?? null;
  if (at === null) return { ...account, ...undated(note, dates.posted_at), at };
  const isPast = msOf(at) <= now;
  if (status === "forecast") return { ...account, kind: "expected", verb: isPast ? "was expected" : "expected", at, words };
  if (!isPast) {
    const isAnytime = ANYTIME.test(words ?? "");
    return { ...account, kind: isAnytime ? "anytime" : "due", verb: isAnytime ? "accepted anytime until" : "due", at, words };
  }
  const verb = closes_at === null ? "responses were due" : unendedStatuses.includes(status) ? "was due" : "closed";
  return { ...account, kind: "over", verb, at, words, expires_at: expires_at !== null && msOf(expires_at) > now ? expires_at : null };
}

/** Doubts about its status beside its other records: "its title says CANCELLED", "no news since Jul 18, 2025 at NSF". None if it ended. */
export function doubtsOf({ status, title, source, last_seen, silent_since }: WholeOpportunity, now: EpochMs): string[] {
  if (!unendedStatuses.includes(status)) return [];
  const cancellation = cancellationIn(title);
  const isUnseen = last_seen !== undefined && isLongUnseen(last_seen, now);
  return [
    isUnseen ? `${statusInWords(status)} when last seen, ${dateInWords(formatInstant(last_seen.at).slice(0, 10))}` : "",
    cancellation === undefined ? "" : `its title says ${cancellation.toUpperCase()}`,
    silent_since === undefined ? "" : noNewsInWords(silent_since, source.name),
  ].filter((doubt) => doubt !== "");
}

const ANYTIME = /\bany\s?time\b/i;

function undated(note: string | null, posted_at: string | null): Pick<Due, "kind" | "verb"> {
  if (note !== null && ANYTIME.test(note) && note.length <= ANYTIME_MAX) return { kind: "anytime", verb: "accepted anytime" };
  if (note !== null) return { kind: "in_words", verb: "in words" };
  return { kind: "none", verb: `no date stated${posted_at === null ? "" : `, posted ${posted_at.slice(0, 4)}`}` };
}

const ANYTIME_MAX = 100;

const SAME_EXPIRY_MS = 2 * DAY_MS;

/** The due dates in the order of time, and the expiry, if that is none of them. */
function statedDates(opportunity: WholeOpportunity, duplicates: readonly WholeOpportunity[]) {
  const { dates, sidecar } = opportunity;
  const { closes_at, response_at } = dates;
  if (sidecar.due_dates.length > 0) return { due: inOrder(sidecar.due_dates), expires_at: sidecar.expires_at };
  const own = [
    { at: response_at, words: closes_at === null || isSame(closes_at, response_at) ? null : "responses" },
    { at: isSame(closes_at, response_at) ? null : closes_at, words: response_at === null ? null : "closing" },
  ].flatMap(({ at, words }) => (at === null ? [] : [{ at, words }]));
  const lister = duplicates.find((duplicate) => duplicate.sidecar.due_dates.length > 0);
  if (lister !== undefined) {
    const { due_dates, expires_at } = lister.sidecar;
    const isExpiry = ({ at }: DueDate) => expires_at !== null && Math.abs(msOf(at) - msOf(expires_at)) <= SAME_EXPIRY_MS;
    const others = own.filter((date) => !isExpiry(date) && !due_dates.some(({ at }) => isSame(at, date.at)));
    return { due: inOrder([...due_dates, ...others]), expires_at };
  }
  return standardDueDates(opportunity) !== undefined
    ? { due: [], expires_at: closes_at }
    : { due: inOrder(own), expires_at: sidecar.expires_at };
}

function inOrder(dates: readonly DueDate[]): DueDate[] {
  const byInstant = new Map(dates.toReversed().map((date) => [msOf(date.at), date])); // Of several at one instant, the first.
  return [...byInstant.values()].sort((one, other) => msOf(one.at) - msOf(other.at));
}

function isSame(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && msOf(one) === msOf(other);
}

function msOf(at: string): EpochMs {
  return parseInstantMs(at) ?? Number.NEGATIVE_INFINITY;
}

// ---- In words.

/** Dates in `zone` (IANA), or as published; texts that upstreams wrote as `quote` returns them. */
type InWords = { zone?: string | undefined; quote?: (text: string) => string };

const WORDS_MAX = 200;

/** The parts of the sentence: "due in 12 days", "Dec 4, 2026, 5:00 PM ET", and what else there is to say. */
export function dueParts(due: Due, now: EpochMs, { zone, quote = (text) => text }: InWords = {}) {
  const { kind, at, verb, words, note, elsewhere } = due;
  const short = (text: string) => quote(ellipsized(text, WORDS_MAX));
  const more = [
    words === null || kind === "anytime" ? "" : short(words),
    kind === "over" && due.dates.length > 1 ? `the last of ${due.dates.length} due dates` : "",
    due.standard_at === null ? "" : `NIH standard due dates, the next expected ${whenInWords(due.standard_at, zone)}`,
    due.expires_at === null ? "" : `expires ${whenInWords(due.expires_at, zone)}`,
    kind === "in_words" && note !== null ? short(note) : "",
  ].filter((part) => part !== "");
  const ms = parseStoredMs(at);
  const distance = at === null || ms === undefined ? "" : relativeTime(ms, now, dayWithoutHour(at) === null);
  return { first: elsewhere === null ? "" : `${elsewhere}; `, verb, when: at === null ? "" : whenInWords(at, zone), distance, more };
}

/** "due Dec 4, 2026, 5:00 PM ET (in 12 days)", "expires Jan 7, 2027 (in 41 days); NIH standard due dates, the next expected Feb 5, 2027". */
export function dueInWords(due: Due, now: EpochMs, shown: InWords = {}): string {
  const { first, verb, when, distance, more } = dueParts(due, now, shown);
  const dated = [verb, when, distance === "" ? "" : `(${distance})`].filter((part) => part !== "").join(" ");
  return first + [dated, ...more].join(due.kind === "in_words" ? ": " : "; ");
}

/** For a table: "Jan 8 (46d)", "~Mar 28 (4mo)" if only expected, "ends Jan 7" for an expiry, "over, ends Jan 8", "posted 2016". */
export function dueInShort({ kind, at, verb, expires_at }: Due, now: EpochMs): string {
  const ms = parseStoredMs(at);
  if (at === null || ms === undefined) return kind === "none" ? (/posted \d+$/.exec(verb)?.[0] ?? "–") : kind.replace("_", " ");
  const [date, distance] = [dayOf(at), relativeShort(ms, now)];
  const day = distance === null ? date : date.replace(/, \d{4}$/, "");
  if (kind === "expires") return `ends ${day}`;
  if (kind === "over" && expires_at !== null) return `over, ends ${dayOf(expires_at).replace(/, \d{4}$/, "")}`;
  if (kind === "anytime") return `until ${day}`;
  const mark = kind === "expected" ? "~" : "";
  if (distance === null) return mark + day;
  return mark + (/^[a-z]+$/.test(distance) ? distance : `${day} (${distance})`);
}

/** The days alone, without how far away they are, for messages that are read later: "due Dec 4, 2026". */
export function dueOnDay({ at, verb, kind, elsewhere, standard_at, expires_at }: Due, zone?: string): string {
  const words = `${kind === "in_words" ? "due date in words" : verb}${at === null ? "" : ` ${dayOf(at, zone)}`}`;
  const standard = standard_at === null ? "" : `; next expected ${dayOf(standard_at, zone)}`;
  const expiry = expires_at === null ? "" : `; expires ${dayOf(expires_at, zone)}`;
  return `${elsewhere === null ? "" : `${elsewhere}; `}${words}${standard}${expiry}`;
}

function dayOf(at: string, zone?: string): string {
  return dateInWords(dayWithoutHour(at) ?? at, zone);
}

/** Whether it is due, or ends, within the two weeks in which a status says so. */
export function isDueSoon({ at }: Due, now: EpochMs): boolean {
  const ms = parseInstantMs(at);
  return ms !== undefined && ms >= now && ms < now + CLOSING_SOON_MS;
}

/** "Jan 5, 2026: Step-1 (passed)" */
export function dueDateInWords({ at, words }: DueDate, now: EpochMs, { zone, quote = (text) => text }: InWords = {}): string {
  return `${whenInWords(at, zone)}${words === null ? "" : `: ${quote(words)}`}${msOf(at) <= now ? " (passed)" : ""}`;
}
