/** Removes contacts, which are personal data, from imported records, and their values from events. */
import { type Change, CONTACT_FIELD, type OpportunityEvent } from "../events/event.ts";
import { eventSummary } from "./classify.ts";
import type { Content, ValidRecord } from "./content.ts";

const FIELD = "contacts";

/** An object with such a member is a contact. */
const CONTACT_MEMBER = /e-?mail|phone|fax/i;

/** A record without contacts, also in its revisions. It is marked `redacted`, so that its stored history is redacted, too. */
export function withoutContacts({ revisions, ...record }: ValidRecord): ValidRecord {
  return {
    ...withEmptyContacts(record),
    ...(revisions === undefined ? {} : { revisions: revisions.map(withEmptyContacts) }),
    redacted: true,
  };
}

function withEmptyContacts<T extends { content: Content }>(holder: T): T {
  return { ...holder, content: { ...holder.content, contacts: [] } };
}

/** The change that records an erasure: a redacted history still leads to the redacted record. */
export const erasure: Change = { field: FIELD, previous: [], current: [] };

/** An event without old and new values of contacts. Returns other events as they are. */
export function withoutContactValues(event: OpportunityEvent): OpportunityEvent {
  const { type, summary } = event;
  const changed_fields = [...new Set(event.changed_fields.map((field) => (CONTACT_FIELD.test(field) ? FIELD : field)))];
  const redacted = event.changes.map(redactedChange);
  const changes = redacted.filter((change, n) => change !== erasure || redacted.indexOf(erasure) === n);
  const isOurSummary = summary === eventSummary(type, event.changes);
  return { ...event, summary: isOurSummary ? eventSummary(type, changes) : redactedSummary(event, changes), changed_fields, changes };
}

/** Another system's summary may name a person: dropped if the event or the summary mentions contacts. */
function redactedSummary({ summary, changed_fields, ...event }: OpportunityEvent, changes: readonly Change[]): string | null {
  const changesContacts =
    changed_fields.some((field) => CONTACT_FIELD.test(field)) || JSON.stringify(event.changes) !== JSON.stringify(changes);
  return changesContacts || CONTACT_FIELD.test(summary ?? "") ? null : summary;
}

function redactedChange({ field, previous, current }: Change): Change {
  return CONTACT_FIELD.test(field) ? erasure : { field, previous: redactedValue(previous), current: redactedValue(current) };
}

function redactedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redactedValue);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  if (entries.some(([name]) => CONTACT_MEMBER.test(name))) return null;
  return Object.fromEntries(entries.map(([name, inner]) => [name, CONTACT_FIELD.test(name) ? [] : redactedValue(inner)]));
}
