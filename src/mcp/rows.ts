/** Opportunities and events in lists: short rows, whose long texts are cut. */
import { type Static, Type } from "@sinclair/typebox";
import { Change, OpportunityEvent } from "../events/event.ts";
import { changesInWords } from "../events/in-words.ts";
import { applicantsInShort } from "../filter/applicants.ts";
import { dueInWords, dueOf } from "../opportunities/due.ts";
import { numberOf, Opportunity, type WholeOpportunity } from "../opportunities/opportunity.ts";
import type { EpochMs } from "../text/instant.ts";
import { ellipsized, quoted } from "../text/quoted.ts";
import { nullable, object } from "../text/schema.ts";

const ROW_TEXT_MAX = 300;

const { dates, organization, program, source } = Opportunity.properties;
const amount = nullable(Type.String({ pattern: "^-?[0-9]+(\\.[0-9]+)?$" }));

export const OpportunityRow = object({
  id: Opportunity.properties.id,
  number: nullable(Type.String()),
  source: source.properties.code,
  title: Opportunity.properties.title,
  status: Opportunity.properties.status,
  program_type: program.properties.type,
  agency: organization.properties.agency,
  sub_agency: organization.properties.sub_agency,
  posted_at: dates.properties.posted_at,
  opens_at: dates.properties.opens_at,
  closes_at: dates.properties.closes_at,
  response_at: dates.properties.response_at,
  due_kind: Type.String({ pattern: "^" }),
  due_at: dates.properties.closes_at,
  due: Type.String({ pattern: "^" }),
  open_to: nullable(Type.String()),
  amount_min: amount,
  amount_max: amount,
  set_aside_types: Opportunity.properties.classifications.properties.set_aside_types,
  url: source.properties.url,
  updated_at: Opportunity.properties.updated_at,
});

export const ROW = "A row, as `find` returns it.";

/** The row at an instant. `duplicates` are the other records of the same opportunity. */
export function rowOf(opportunity: WholeOpportunity, now: EpochMs, duplicates: readonly WholeOpportunity[]): Static<typeof OpportunityRow> {
  const due = dueOf(opportunity, now, duplicates);
  const { id, title, status, dates, funding, classifications, updated_at } = opportunity;
  return {
    id,
    number: inRow(numberOf(opportunity)),
    source: opportunity.source.code,
    title: inRow(title),
    status: inRow(status),
    program_type: inRow(opportunity.program.type),
    agency: inRow(opportunity.organization.agency),
    sub_agency: inRow(opportunity.organization.sub_agency),
    posted_at: dates.posted_at,
    opens_at: dates.opens_at,
    closes_at: dates.closes_at,
    response_at: dates.response_at,
    due_kind: due.kind,
    due_at: due.at,
    due: dueInWords(due, now, { quote: quoted }),
    open_to: applicantsInShort(opportunity),
    amount_min: funding?.amount_min ?? null,
    amount_max: funding?.amount_max ?? null,
    set_aside_types: classifications.set_aside_types.slice(0, 10).map((code) => inRow(code)),
    url: inRow(opportunity.source.url),
    updated_at,
  };
}

function inRow<Text extends string | null>(text: Text): Text | string {
  return text === null ? text : ellipsized(text, ROW_TEXT_MAX);
}

const [VALUE_MAX, CHANGES_MAX] = [400, 30];

export const EventRow = object({
  event_id: OpportunityEvent.properties.id,
  detected_at: OpportunityEvent.properties.detected_at,
  type: OpportunityEvent.properties.type,
  severity: OpportunityEvent.properties.severity,
  in_words: Type.String(),
  changes: Type.Array(Change),
  /** The paths of values that were cut. A long value that is no text becomes the beginning of its JSON. */
  cut: Type.Array(Type.String()),
});

export function eventRowOf(event: OpportunityEvent, valueMax = VALUE_MAX): Static<typeof EventRow> {
  const { id, detected_at, type, severity, changes } = event;
  const cut = changes.length > CHANGES_MAX ? [`changes, after ${CHANGES_MAX} of ${changes.length}`] : [];
  const rows = changes.slice(0, CHANGES_MAX).map(({ field, ...values }, n) => {
    const [previous, current] = (["previous", "current"] as const).map((name) => {
      const text = jsonTextOf(values[name]);
      if (text.length <= valueMax) return values[name];
      cut.push(`changes[${n}].${name}`);
      return ellipsized(text, valueMax);
    });
    return { field: inRow(field), previous, current };
  });
  const in_words = inRow(changesInWords(event).join("; "));
  return { event_id: id, detected_at, type: inRow(type), severity: inRow(severity), in_words, changes: rows, cut };
}

/** A text as it is, another value as JSON. */
export function jsonTextOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
}
