/** The event resource: one detected change of one opportunity. */
import { type Static, Type } from "@sinclair/typebox";
import { nullable, object } from "../text/schema.ts";

/** The known event types. Imported events may have others, which the API returns as `unknown`. */
export const eventTypes = [
  "opportunity_added",
  "opportunity_removed",
  "status_changed",
  "date_changed",
  "funding_changed",
  "description_changed",
  "qanda_updated",
  "attachments_changed",
  "field_updated",
  "unknown",
] as const;

/** In ascending order. An event has the severity of its most severe change. */
export const severities = ["noise", "cosmetic", "informational", "material", "critical", "unknown"] as const;

/** Severities that a list of events contains only on request (`include_insignificant`). */
export const insignificant: readonly Severity[] = ["noise", "cosmetic"];

/** Events of other systems may use other names, or have an e-mail address in a path. */
export const CONTACT_FIELD = /contact|e-?mail|phone|fax|@/i;

export type EventType = (typeof eventTypes)[number];
export type Severity = (typeof severities)[number];

const known = (values: readonly string[]) => values.map((value) => `\`${value}\``).join(", ");
const anyJson = (description: string) => Type.Unknown({ description });

export const Change = object({
  field: Type.String({ description: "Dotted path of the field: `dates.closes_at`." }),
  previous: anyJson("Value before, any JSON value."),
  current: anyJson("Value after, any JSON value."),
});

export const OpportunityEvent = object({
  id: Type.String({ format: "uuid" }),
  opportunity_id: Type.String({ format: "uuid" }),
  type: Type.String({ description: `Known values: ${known(eventTypes)}.`, examples: [...eventTypes] }),
  severity: Type.String({ description: `Known values: ${known(severities)}.`, examples: [...severities] }),
  summary: nullable(Type.String(), "The change in a sentence."),
  changed_fields: Type.Array(Type.String(), { description: "Dotted paths of the changed fields." }),
  changes: Type.Array(Change, { description: "The same fields, in the same order, with their values." }),
  detected_at: Type.String({ format: "date-time", description: "When the change was stored: the record's `updated_at` of that change." }),
});

export type Change = { field: string; previous: unknown; current: unknown };
export type OpportunityEvent = Static<typeof OpportunityEvent>;

/** How severe it is, beside other severities. */
export function severityRank(severity: string): number {
  return severities.indexOf(severity as Severity);
}
