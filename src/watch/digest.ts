/** A message for people: its content in words, the most severe changes first. Mail and Slack show the same. */
import { entryInWords } from "../events/in-words.ts";
import { briefFacts } from "../facts/facts.ts";
import type { Due } from "../opportunities/due.ts";
import { clockTime, dayWithoutHour, weekdayInWords, whenInWords } from "../text/date-in-words.ts";
import { capitalized, counted, withCommas } from "../text/in-words.ts";
import { DAY_MS, dateAt } from "../text/instant.ts";
import { oneLine } from "../text/terminal-text.ts";
import { webAddress } from "../text/web-address.ts";
import type { Message, MessageItem, MessageOpportunity } from "./message.ts";
import type { Zone } from "./watch.ts";

export type DigestEntry = { id: string; title: string; url: string | null; facts: string; changes: string[]; count: number };

/** A section counts changes or opportunities. `more` are not shown, and `above` are shown with a change. */
export type DigestSection = {
  heading: string;
  isUrgent: boolean;
  ofChanges: boolean;
  entries: DigestEntry[];
  more: number;
  above: number;
};

export type Digest = { subject: string; note: string | null; sections: DigestSection[] };

const changeHeadings: Readonly<Record<string, string>> = {
  unknown: "Changes of unknown severity",
  critical: "Critical changes",
  material: "Changes",
  informational: "Smaller changes",
  cosmetic: "Cosmetic changes",
  noise: "Changes without meaning",
};

/** A test may have nothing else to say. */
const TEST_NOTE = "This is a test. What the watch finds arrives here.";

/** The digest of a message. A section lists at most `entriesMax` entries, which depends on the number of sections, and counts the others. */
export function digestOf(
  { type, data }: Message,
  zone: Zone,
  entriesMax: (sections: number) => number = () => Number.POSITIVE_INFINITY,
): Digest {
  const { events, counts, note = null } = data;
  const watch = oneLine(data.title ?? data.watch);
  const changed = events.filter((item) => item.kind === "changed");
  const added = events.filter((item) => item.kind === "new");
  // An opportunity without a date stays open, maybe for ever.
  const arrived = added.toSorted((one, other) => Number(one.opportunity.due.at === null) - Number(other.opportunity.due.at === null));
  const left = events.filter((item) => item.kind === "left" || (item.kind === "changed" && item.left));
  const leftById = new Map(left.map((item) => [item.opportunity.id, item]));
  const bySeverity = Map.groupBy(changed, ({ event }) => event.severity);
  const countOf = (severity: string) => data.severities?.[severity] ?? bySeverity.get(severity)?.length ?? 0;
  const ofChanges = Object.entries(changeHeadings).map(([severity, heading]): DigestSection => {
    const items = bySeverity.get(severity) ?? [];
    const entries = changedEntries(items, zone, leftById);
    return { heading, isUrgent: severity === "critical", ofChanges: true, entries, more: countOf(severity) - items.length, above: 0 };
  });
  const ofOpportunities = (heading: string, items: readonly MessageItem[], more: number, above = 0): DigestSection => {
    const entries = items.map((item) => {
      if (item.kind !== "due") return entryOf(item.opportunity, zone, [], 1);
      return entryOf(item.opportunity, zone, [reminderInWords(item.opportunity.due, item.due_at, zone)], 1, false);
    });
    return { heading, isUrgent: false, ofChanges: false, entries, more, above };
  };
  const due = events.filter((item) => item.kind === "due");
  const dueSoon = ofOpportunities("Due soon", due, counts.due - due.length);
  const others = [dueSoon, ...ofChanges, ofOpportunities("New", arrived, counts.new - arrived.length)].filter(isNeeded);
  const most = entriesMax(others.length + Math.min(counts.left, 1));
  const shown = others.map((section) => shortened(section, most));
  const marked = new Set(
    shown.flatMap(({ ofChanges, entries }) => (ofChanges ? entries.map(({ id }) => id) : [])).filter((id) => leftById.has(id)),
  );
  const unmarked = [...leftById.values()].filter(({ opportunity }) => !marked.has(opportunity.id));
  const gone = ofOpportunities("No longer matching", unmarked, counts.left - leftById.size, marked.size);
  const sections = [...shown, shortened(gone, most)].filter(isNeeded);
  const isTest = type === "watch.test";
  const subject = `${isTest ? "Test: " : ""}${watch}: ${summaryOf(counts, countOf("critical"))}`;
  return { subject, note: isTest ? [TEST_NOTE, note].filter((each) => each !== null).join(" ") : note, sections };
}

function isNeeded({ entries, more }: DigestSection): boolean {
  return entries.length + more > 0;
}

function shortened(section: DigestSection, most: number): DigestSection {
  const rest = section.entries.slice(most);
  return { ...section, entries: section.entries.slice(0, most), more: rest.reduce((sum, { count }) => sum + count, section.more) };
}

/** "and 12 more changes", or "and 3 more; 5 others are above, with a change". Empty if the section shows everything. */
export function moreInWords({ entries, more, above, ofChanges }: DigestSection): string {
  const hidden = `${entries.length === 0 ? "" : "and "}${ofChanges ? counted(more, "more change") : `${withCommas(more)} more`}`;
  const others = `${above === 1 ? "1 other is" : `${withCommas(above)} others are`} above, with a change`;
  return [...(more > 0 ? [hidden] : []), ...(above > 0 ? [others] : [])].join("; ");
}

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

/** "Due Tue, Dec 1, 2026". Without the remaining days, because the message may be read later. */
function reminderInWords({ verb, words }: Due, dueAt: string, zone: Zone): string {
  const day = dayWithoutHour(dueAt) ?? dateAt((clockTime(dueAt, zone)?.dayNumber ?? 0) * DAY_MS);
  return `${capitalized(verb)} ${weekdayInWords(day)}, ${whenInWords(dueAt, zone)}${words === null ? "" : `; ${words}`}`;
}

function changedEntries(
  items: readonly Extract<MessageItem, { kind: "changed" }>[],
  zone: Zone,
  left: ReadonlyMap<string, MessageItem>,
): DigestEntry[] {
  const byOpportunity = [...Map.groupBy(items, ({ opportunity }) => opportunity.id).values()];
  return byOpportunity.flatMap((ofOne) => {
    const [first] = ofOne;
    if (first === undefined) return [];
    const changes = ofOne.flatMap((item) => entryInWords(item, zone).map(oneLine));
    const entry = entryOf(first.opportunity, zone, changes, ofOne.length);
    return [left.has(first.opportunity.id) ? { ...entry, facts: `${entry.facts} · no longer matches` } : entry];
  });
}

function entryOf(opportunity: MessageOpportunity, zone: Zone, changes: string[], count: number, withDue = true): DigestEntry {
  const { id, title, source, open_to = null } = opportunity; // Messages of earlier versions do not say who may apply.
  const { agency, number, status, due, ...more } = briefFacts({ ...opportunity, open_to }, zone);
  const facts = [agency, number, status, withDue ? due : null, more.open_to, more.also_at].filter((fact) => fact !== null);
  return { id, title: oneLine(title), url: webAddress(source.url) ?? null, facts: facts.map(oneLine).join(" · "), changes, count };
}
