/** A message for people: what is in it, in words, most severe first. Mail and Slack show the same. */
import { changesInWords, statusInWords } from "../events/in-words.ts";
import { counted } from "../text/counted.ts";
import { dateInWords } from "../text/date-in-words.ts";
import { oneLine } from "../text/terminal-text.ts";
import type { Item, Message, MessageOpportunity } from "./message.ts";
import type { Zone } from "./watch.ts";

/** One opportunity: its title and page, a line of facts, and what changed. */
export type Entry = { title: string; url: string | null; facts: string; changes: string[] };

/** `more` opportunities or changes are not shown. */
export type Section = { heading: string; isUrgent: boolean; entries: Entry[]; more: number };

export type Digest = { subject: string; sections: Section[] };

/** What the headings call changes of a severity. */
const changeHeadings: Readonly<Record<string, string>> = {
  unknown: "Changes of unknown severity",
  critical: "Critical changes",
  material: "Changes",
  informational: "Smaller changes",
  cosmetic: "Cosmetic changes",
  noise: "Changes without meaning",
};

export function digestOf({ type, data }: Message, zone: Zone): Digest {
  const { events, counts, watch } = data;
  const changed = events.filter((item) => item.kind === "changed");
  const changedIds = new Set(changed.map(({ opportunity }) => opportunity.id));
  const [arrived, left] = (["new", "left"] as const).map((kind) => events.filter((item) => item.kind === kind));
  const gone = new Set(left?.map(({ opportunity }) => opportunity.id));
  const bySeverity = Map.groupBy(changed, ({ event }) => event.severity);
  const sections = Object.keys(changeHeadings).flatMap((severity): Section[] => {
    const items = bySeverity.get(severity) ?? [];
    if (items.length === 0) return [];
    return [
      { heading: changeHeadings[severity] ?? "", isUrgent: severity === "critical", entries: changedEntries(items, zone, gone), more: 0 },
    ];
  });
  const lastChanges = sections.at(-1);
  if (lastChanges !== undefined) lastChanges.more = counts.changed - changed.length;
  const add = (heading: string, items: readonly Item[] = [], more: number) => {
    const entries = items.map(({ opportunity }) => entryOf(opportunity, zone, []));
    if (entries.length + more > 0) sections.push({ heading, isUrgent: false, entries, more });
  };
  add("New", arrived, counts.new - (arrived?.length ?? 0));
  // Those that changed are shown above, with the change that made them leave.
  add(
    "No longer matching",
    left?.filter(({ opportunity }) => !changedIds.has(opportunity.id)),
    counts.left - gone.size,
  );
  const critical = bySeverity.get("critical")?.length ?? 0;
  return { subject: `${type === "watch.test" ? "Test: " : ""}${watch}: ${summaryOf(counts, critical)}`, sections };
}

/** "1 critical change, 3 other changes, 2 new". */
function summaryOf(counts: Message["data"]["counts"], critical: number): string {
  const others = counts.changed - critical;
  const parts = [
    critical > 0 ? counted(critical, "critical change") : "",
    others > 0 ? counted(others, critical > 0 ? "other change" : "change") : "",
    counts.new > 0 ? `${counts.new.toLocaleString("en-US")} new` : "",
    counts.left > 0 ? `${counts.left.toLocaleString("en-US")} no longer matching` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "nothing matches" : parts.join(", ");
}

/** One entry for each opportunity, with all its changes of the section. */
function changedEntries(items: readonly Extract<Item, { kind: "changed" }>[], zone: Zone, gone: ReadonlySet<string>): Entry[] {
  const byOpportunity = [...Map.groupBy(items, ({ opportunity }) => opportunity.id).values()];
  return byOpportunity.flatMap((ofOne) => {
    const [first] = ofOne;
    if (first === undefined) return [];
    const changes = ofOne.flatMap(({ event }) => changesInWords(event, zone).map(({ words }) => oneLine(words)));
    const entry = entryOf(first.opportunity, zone, changes);
    return [gone.has(first.opportunity.id) ? { ...entry, facts: `${entry.facts} · no longer matches` } : entry];
  });
}

function entryOf({ number, title, organization, status, dates, source }: MessageOpportunity, zone: Zone, changes: string[]): Entry {
  const { agency, sub_agency } = organization;
  const facts = [
    sub_agency ?? agency,
    number,
    statusInWords(status),
    dates.closes_at === null ? null : `closes ${dateInWords(dates.closes_at, zone)}`,
  ].filter((fact) => fact !== null);
  return { title: oneLine(title), url: pageOf(source.url), facts: facts.map(oneLine).join(" · "), changes };
}

/** The address of the upstream's page, if it can be a link. */
function pageOf(url: string | null): string | null {
  const parsed = url === null ? null : URL.parse(url);
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.href : null;
}
