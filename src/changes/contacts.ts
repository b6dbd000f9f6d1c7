/** Contacts are personal data: how a record is taken in without them, and an event told without them. */
import type { OpportunityEvent } from "../events/event.ts";
import type { Content, Incoming } from "./content.ts";

const FIELD = "contacts";

/** A record that names nobody, neither now nor in its past. What is stored of its history will name nobody either. */
export function withoutContacts({ revisions, ...incoming }: Incoming): Incoming {
  return { ...blank(incoming), ...(revisions === undefined ? {} : { revisions: revisions.map(blank) }), redacted: true };
}

/** That contacts changed stays told; from what to what does not. A history still folds to its record, which has none. */
export function withheld(event: OpportunityEvent): OpportunityEvent {
  const changes = event.changes.map((change) => (change.field === FIELD ? { field: FIELD, previous: [], current: [] } : change));
  return { ...event, changes };
}

function blank<T extends { content: Content }>(state: T): T {
  return { ...state, content: { ...state.content, contacts: [] } };
}
