/** The change feed as JSON, CSV and Markdown. */

import { type Static, Type } from "@sinclair/typebox";
import { OpportunityEvent } from "../events/event.ts";
import type { FeedEntry } from "../events/feed.ts";
import { entryInWords } from "../events/in-words.ts";
import { cellsOf, inOneCell } from "../facts/columns.ts";
import { briefFacts, briefOf } from "../facts/facts.ts";
import { Due } from "../opportunities/due.ts";
import { numberInWords, numberOf, Opportunity } from "../opportunities/opportunity.ts";
import { AlsoAt, alsoAt } from "../opportunities/related.ts";
import { csvLine } from "../text/csv.ts";
import { dateInWords } from "../text/date-in-words.ts";
import { dateOf } from "../text/instant.ts";
import { nullable, object } from "../text/schema.ts";
import { oneLine, safeLines } from "../text/terminal-text.ts";
import { webAddress } from "../text/web-address.ts";

/** Turns entries into text, batch by batch. `end` gets the members of the summary. Control characters in the text are escaped. */
export type Printer = {
  begin?: string;
  entries: (batch: readonly FeedEntry[]) => string;
  end?: (summary: Readonly<Record<string, unknown>>) => string;
};

export function ndjsonPrinter(): Printer {
  return { entries: (batch) => batch.map((entry) => `${jsonOf(changeOf(entry))}\n`).join("") };
}

/** One document: the events as `data`, and the members of the summary. */
export function jsonPrinter() {
  let isFirst = true;
  return {
    begin: '{\n  "data": [',
    entries: (batch) =>
      batch
        .map((entry) => {
          const separator = isFirst ? "\n    " : ",\n    ";
          isFirst = false;
          return separator + jsonOf(changeOf(entry));
        })
        .join(""),
    end: (summary) => {
      const members = Object.entries(summary).map(([name, value]) => `,\n  ${JSON.stringify(name)}: ${jsonOf(value)}`);
      return `${isFirst ? "" : "\n  "}]${members.join("")}\n}\n`;
    },
  } satisfies Printer;
}

const { id, title, status, source, organization, program, funding, dates } = Opportunity.properties;

/** An event with its changes in words, and what people need to recognize its opportunity. Contacts and long texts are left out. */
export const PrintedChange = Type.Composite(
  [
    OpportunityEvent,
    object({
      words: Type.Array(Type.String(), { description: "The changes in words." }),
      opportunity: object({
        id,
        number: nullable(Type.String(), "The number that people call it by; null if it has none."),
        title,
        status,
        source,
        organization,
        program,
        funding,
        dates,
        due: Due,
        also_at: Type.Array(AlsoAt, { description: "The records of the same opportunity at other sources." }),
      }),
    }),
  ],
  { additionalProperties: false },
);

/** What `changes --json` prints and `/changes.json` serves, besides what only one of them has. */
export const PrintedChanges = object({
  data: Type.Array(PrintedChange),
  since: nullable(Type.String({ format: "date-time" }), "Only what was detected after this; null for all."),
  until: nullable(Type.String({ format: "date-time" }), "Only what was detected until this; null for all."),
  at_least: Type.String({ description: "Without what is less severe." }),
  types: nullable(Type.Array(Type.String()), "Only these kinds of change; null for all."),
  filter: Type.Object({}, { additionalProperties: true, description: "The filter that was applied, as it was given." }),
  filter_in_words: Type.Array(Type.String()),
  has_more: Type.Boolean({ description: "Whether older changes are left out." }),
  repeats: Type.Integer({ minimum: 0, description: "Changes left out because another record of the opportunity reported them before." }),
});

/** What `diff --json` prints. */
export const PrintedDifferences = object({
  data: Type.Array(PrintedChange),
  from: Type.String({ format: "date-time", description: "The earlier moment." }),
  to: Type.String({ format: "date-time", description: "The later moment, which the net changes are dated with." }),
  at_least: PrintedChanges.properties.at_least,
  filter: PrintedChanges.properties.filter,
  filter_in_words: PrintedChanges.properties.filter_in_words,
  records: object({ added: Type.Integer(), removed: Type.Integer(), changed: Type.Integer() }, "How many opportunities were."),
});

function changeOf(entry: FeedEntry): Static<typeof PrintedChange> {
  const { event, opportunity, due, duplicates } = entry;
  const { id, title, status, source, organization, program, funding, dates } = opportunity;
  const [number, also_at] = [numberOf(opportunity), alsoAt(duplicates)];
  return {
    ...event,
    words: entryInWords(entry),
    opportunity: { id, number, title, status, source, organization, program, funding, dates, due, also_at },
  };
}

function jsonOf(value: unknown): string {
  return safeLines(JSON.stringify(value ?? null));
}

const ofOpportunity = [
  ...(["title", "status", "source", "upstream_id", "agency", "sub_agency"] as const),
  ...(["posted_at", "opens_at", "closes_at", "response_at", "url"] as const),
];
const dueColumns = ["due_at", "due_kind"] as const;

/** New columns are added at the end: docs/guides/changes.md promises that none moves or disappears. */
const csvNames = [
  ...["detected_at", "severity", "type", "change", "changed_fields", "number", ...ofOpportunity],
  ...["opportunity_id", "event_id", "record_id", "also_at", ...dueColumns],
];

function csvCells(entry: FeedEntry): (string | null)[] {
  const { event, opportunity, due, duplicates } = entry;
  const flat = { ...opportunity, due };
  return [
    ...[event.detected_at, event.severity, event.type, entryInWords(entry).join("; "), event.changed_fields.join("; ")],
    ...[numberOf(opportunity), ...cellsOf(flat, ofOpportunity)],
    ...[opportunity.id, event.id, event.opportunity_id, inOneCell(alsoAt(duplicates).map(({ source }) => source))],
    ...cellsOf(flat, dueColumns),
  ];
}

export function csvPrinter(begin: string) {
  return {
    begin: begin + csvLine(csvNames),
    entries: (batch: readonly FeedEntry[]) => batch.map((entry) => csvLine(csvCells(entry))).join(""),
  };
}

/** A heading for each day, and an item for each change set. */
export function markdownPrinter(): Printer {
  const groups = grouping();
  return {
    entries: (batch) =>
      batch
        .map((entry) => {
          const { isNewDay, isFirst, isNewSet } = groups.next(entry);
          const heading = isNewDay ? `${isFirst ? "" : "\n"}## ${dateInWords(entry.event.detected_at)}\n\n` : "";
          const item = isNewSet ? `- ${markdownHead(entry)}\n` : "";
          return `${heading}${item}  - ${markdownText(entry.event.severity)}: ${markdownText(entryInWords(entry).join("; "))}\n`;
        })
        .join(""),
  };
}

function markdownHead(entry: FeedEntry): string {
  const { opportunity } = entry;
  const { title, source } = opportunity;
  const number = markdownText(numberInWords(opportunity));
  const url = webAddress(source.url);
  const link = url === undefined ? number : `[${number}](${url.replaceAll("(", "%28").replaceAll(")", "%29")})`;
  return `${link} ${markdownText(title)} (${standingOf(entry).map(markdownText).join(", ")})`;
}

function markdownText(text: string): string {
  return oneLine(text).replace(/([\\|`*_~<>[\]#&])/g, "\\$1");
}

/** Who offers it, and how it stands: agency, source, status, when it is due if that is stated, and who may apply. */
export function standingOf({ opportunity, due, duplicates }: Pick<FeedEntry, "opportunity" | "due" | "duplicates">): string[] {
  const brief = briefFacts(briefOf(opportunity, due, duplicates));
  const dated = due.kind === "none" && due.elsewhere === null ? null : brief.due;
  return [brief.agency, brief.source, brief.status, dated, brief.open_to, brief.also_at].filter((fact) => fact !== null);
}

/** Where days and change sets begin: the events of one row at one instant are of one change set. */
export function grouping() {
  let last: (FeedEntry["event"] & { row: string }) | undefined;
  return {
    next: ({ event, opportunity }: FeedEntry) => {
      const isFirst = last === undefined;
      const isNewDay = last === undefined || dateOf(last.detected_at) !== dateOf(event.detected_at);
      const isNewSet = isNewDay || last?.detected_at !== event.detected_at || last.row !== opportunity.id;
      last = { ...event, row: opportunity.id };
      return { isFirst, isNewDay, isNewSet };
    },
  };
}
