/** Contacts are personal data: how a record is imported without them, and how an event is kept without them. */
import type { Change, OpportunityEvent } from "../events/event.ts";
import { summaryOf } from "./classify.ts";
import type { Content, ValidRecord } from "./content.ts";

const FIELD = "contacts";

/** Names of fields that hold contacts. Imported events may come from systems that call them otherwise, or name a person in a path. */
const OF_CONTACTS = /contact|e-?mail|phone|fax|@/i;
/** Names of what a contact consists of: an object that has one is a contact. */
const OF_ONE = /e-?mail|phone|fax/i;

/** A record that names nobody, neither now nor in its past. What is stored of its history will name nobody either. */
export function withoutContacts({ revisions, ...record }: ValidRecord): ValidRecord {
  return { ...blank(record), ...(revisions === undefined ? {} : { revisions: revisions.map(blank) }), redacted: true };
}

/** The change that tells of an erasure. A history still folds to its record, which has no contacts. */
export const erasure: Change = { field: FIELD, previous: [], current: [] };

/** An event that says that contacts changed, but not from what to what. Every other event stays as it is. */
export function withheld(event: OpportunityEvent): OpportunityEvent {
  const { type, summary } = event;
  const changed_fields = [...new Set(event.changed_fields.map((field) => (OF_CONTACTS.test(field) ? FIELD : field)))];
  const changes = withoutRepeats(event.changes.map(changeWithheld));
  const isOurs = summary === summaryOf(type, event.changes);
  return { ...event, summary: isOurs ? summaryOf(type, changes) : summaryWithheld(event, changes), changed_fields, changes };
}

/** A summary in the words of another system may name whom the fields name, or whom it speaks of itself. */
function summaryWithheld({ summary, changed_fields, ...event }: OpportunityEvent, changes: readonly Change[]): string | null {
  const isTold = changed_fields.some((field) => OF_CONTACTS.test(field)) || JSON.stringify(event.changes) !== JSON.stringify(changes);
  return isTold || OF_CONTACTS.test(summary ?? "") ? null : summary;
}

function changeWithheld({ field, previous, current }: Change): Change {
  return OF_CONTACTS.test(field) ? erasure : { field, previous: valueWithheld(previous), current: valueWithheld(current) };
}

/** The values of other fields may be objects that hold contacts, such as a whole record. */
function valueWithheld(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(valueWithheld);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  if (entries.some(([name]) => OF_ONE.test(name))) return null;
  return Object.fromEntries(entries.map(([name, inner]) => [name, OF_CONTACTS.test(name) ? [] : valueWithheld(inner)]));
}

function withoutRepeats(changes: readonly Change[]): Change[] {
  return changes.filter((change, index) => change !== erasure || changes.indexOf(erasure) === index);
}

function blank<T extends { content: Content }>(state: T): T {
  return { ...state, content: { ...state.content, contacts: [] } };
}
