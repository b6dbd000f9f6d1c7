/** A message for people: what is in it, in words, most severe first. Mail and Slack show the same. */
import { entryInWords } from "../events/in-words.ts";
import { dueDateOf, undatedInWords } from "../opportunities/clock.ts";
import { alsoAtInWords } from "../opportunities/related.ts";
import { statusInWords } from "../opportunities/status.ts";
import { counted, withCommas } from "../text/counted.ts";
import { clockTime, dateInWords, timeInWords, weekdayInWords } from "../text/date-in-words.ts";
import { DAY_MS, dateAt, type EpochMs } from "../text/instant.ts";
import { oneLine } from "../text/terminal-text.ts";
import { webAddress } from "../text/web-address.ts";
import type { Message, MessageItem, MessageOpportunity } from "./message.ts";
import type { Zone } from "./watch.ts";

/** One opportunity: its title and page, a line of facts, and what changed in so many changes. */
export type DigestEntry = { title: string; url: string | null; facts: string; changes: string[]; count: number };

/** A section of changes counts changes, another one opportunities. `more` of them are not shown. */
export type DigestSection = { heading: string; isUrgent: boolean; ofChanges: boolean; entries: DigestEntry[]; more: number };

export type Digest = { subject: string; note: string | null; sections: DigestSection[] };

/** What the headings call changes of a severity. */
const changeHeadings: Readonly<Record<string, string>> = {
  unknown: "Changes of unknown severity",
  critical: "Critical changes",
  material: "Changes",
  informational: "Smaller changes",
  cosmetic: "Cosmetic changes",
  noise: "Changes without meaning",
};

export function digestOf({ type, data, timestamp }: Message, zone: Zone): Digest {
  const now = Date.parse(timestamp);
  const { events, counts, watch, note = null } = data;
  const changed = events.filter((item) => item.kind === "changed");
  const changedIds = new Set(changed.map(({ opportunity }) => opportunity.id));
  const added = events.filter((item) => item.kind === "new");
  const arrived = datedFirst(added, now);
  const left = events.filter((item) => item.kind === "left");
  const gone = new Set([...left, ...changed.filter((item) => item.left)].map(({ opportunity }) => opportunity.id));
  const bySeverity = Map.groupBy(changed, ({ event }) => event.severity);
  const countOf = (severity: string) => data.severities?.[severity] ?? bySeverity.get(severity)?.length ?? 0;
  const ofChanges = Object.entries(changeHeadings).map(([severity, heading]): DigestSection => {
    const items = bySeverity.get(severity) ?? [];
    const entries = changedEntries(items, { zone, now }, gone);
    return { heading, isUrgent: severity === "critical", ofChanges: true, entries, more: countOf(severity) - items.length };
  });
  const ofOpportunities = (heading: string, items: readonly MessageItem[], more: number): DigestSection => {
    const entries = items.map(({ opportunity }) => entryOf(opportunity, { zone, now }, [], 1));
    return { heading, isUrgent: false, ofChanges: false, entries, more };
  };
  const due = events.filter((item) => item.kind === "due");
  const dueSoon: DigestSection = {
    heading: "Due soon",
    isUrgent: false,
    ofChanges: false,
    entries: due.map(({ due_at, opportunity }) => entryOf(opportunity, { zone, now }, [dueInWords(due_at, zone)], 1, false)),
    more: counts.due - due.length,
  };
  // Those that changed are shown above, with the change that made them leave.
  const leftOnly = left.filter(({ opportunity }) => !changedIds.has(opportunity.id));
  const sections = [
    dueSoon,
    ...ofChanges,
    ofOpportunities("New", arrived, counts.new - arrived.length),
    ofOpportunities("No longer matching", leftOnly, counts.left - gone.size),
  ].filter(({ entries, more }) => entries.length + more > 0);
  return { subject: `${type === "watch.test" ? "Test: " : ""}${watch}: ${summaryOf(counts, countOf("critical"))}`, note, sections };
}

/** "and 12 more changes" */
export function moreInWords(more: number, { ofChanges }: DigestSection, isAlone: boolean): string {
  return `${isAlone ? "" : "and "}${ofChanges ? counted(more, "more change") : `${withCommas(more)} more`}`;
}

/** "1 critical change, 3 other changes, 2 new". */
function summaryOf(counts: Message["data"]["counts"], critical: number): string {
  const others = counts.changed - critical;
  const parts = [
    critical > 0 ? counted(critical, "critical change") : "",
    others > 0 ? counted(others, critical > 0 ? "other change" : "change") : "",
    counts.due > 0 ? `${withCommas(counts.due)} due soon` : "",
    counts.new > 0 ? `${withCommas(counts.new)} new` : "",
    counts.left > 0 ? `${withCommas(counts.left)} no longer matching` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "nothing matches" : parts.join(", ");
}

/** "Due Tue, Dec 1, 2026, 11:59 PM ET". Without the days that are left, because the message may be read later. */
function dueInWords(dueAt: string, zone: Zone): string {
  const day = clockTime(dueAt, zone)?.dayNumber ?? 0;
  return `Due ${weekdayInWords(dateAt(day * DAY_MS))}, ${timeInWords(dueAt, zone)}`;
}

/** In which zone dates are shown, and when the message was made. */
type Shown = { zone: Zone; now: EpochMs };

/** Those with a due date first: an opportunity without one stays open, maybe for ever. */
function datedFirst<Item extends MessageItem>(items: readonly Item[], now: EpochMs): Item[] {
  const isDated = ({ opportunity }: Item) => dueDateOf(opportunity.dates, now) !== null;
  return [...items.filter(isDated), ...items.filter((item) => !isDated(item))];
}

/** One entry for each opportunity, with all its changes of the section. */
function changedEntries(
  items: readonly Extract<MessageItem, { kind: "changed" }>[],
  shown: Shown,
  gone: ReadonlySet<string>,
): DigestEntry[] {
  const byOpportunity = [...Map.groupBy(items, ({ opportunity }) => opportunity.id).values()];
  return byOpportunity.flatMap((ofOne) => {
    const [first] = ofOne;
    if (first === undefined) return [];
    const changes = ofOne.flatMap((item) => entryInWords(item, shown.zone).map(oneLine));
    const entry = entryOf(first.opportunity, shown, changes, ofOne.length);
    return [gone.has(first.opportunity.id) ? { ...entry, facts: `${entry.facts} · no longer matches` } : entry];
  });
}

function entryOf(opportunity: MessageOpportunity, { zone, now }: Shown, changes: string[], count: number, withDue = true): DigestEntry {
  const { number, title, organization, status, dates, source, also_at } = opportunity;
  const { agency, sub_agency } = organization;
  const due = dueDateOf(dates, now);
  const facts = [
    sub_agency ?? agency,
    number,
    statusInWords(status),
    !withDue ? null : due === null ? undatedInWords({ dates }) : `${due === dates.closes_at ? "closes" : "due"} ${dateInWords(due, zone)}`,
    alsoAtInWords(also_at, status),
  ].filter((fact) => fact !== null);
  return { title: oneLine(title), url: webAddress(source.url) ?? null, facts: facts.map(oneLine).join(" · "), changes, count };
}
