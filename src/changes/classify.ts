/** Makes the events of a change set: one for each event type among its changes. (E-55) */
import { type Change, type EventType, eventTypes, type OpportunityEvent, type Severity, severities } from "../events/event.ts";
import { uuid5 } from "../opportunities/identity.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { type added, type Cause, ruleFor } from "./rules.ts";

/** The events, in the order of `eventTypes`. Their ids are the same when the catalog is built again. */
export function classify(id: string, changes: readonly Change[], instant: EpochMs, causes: Causes = new Map()): OpportunityEvent[] {
  const byType = new Map<EventType, { severity: Severity; changes: Change[] }>();
  for (const change of changes) {
    const rule = ruleFor(change, causes.get(change.field));
    const event = byType.getOrInsert(rule.type, { severity: rule.severity, changes: [] });
    event.changes.push(change);
    if (severities.indexOf(rule.severity) > severities.indexOf(event.severity)) event.severity = rule.severity;
  }
  return [...byType]
    .sort(([left], [right]) => eventTypes.indexOf(left) - eventTypes.indexOf(right))
    .map(([type, event]) => makeEvent(id, type, event.severity, event.changes, instant));
}

export type Causes = ReadonlyMap<string, Cause>;

/** The event of a record that was added, or is missing from a snapshot. */
export function recordEvent(
  { type, severity }: typeof added,
  opportunityId: string,
  changes: Change[],
  instant: EpochMs,
): OpportunityEvent {
  return makeEvent(opportunityId, type, severity, changes, instant);
}

function makeEvent(opportunityId: string, type: EventType, severity: Severity, changes: Change[], instant: EpochMs): OpportunityEvent {
  return {
    id: uuid5(`${opportunityId}\n${instant}\n${type}`),
    opportunity_id: opportunityId,
    type,
    severity,
    summary: eventSummary(type, changes),
    changed_fields: changes.map(({ field }) => field),
    changes,
    detected_at: formatInstant(instant),
  };
}

export function eventSummary(type: string, changes: readonly Change[]): string {
  const [first] = changes;
  if (type === "opportunity_added") return "Added";
  if (type === "opportunity_removed") return "No longer published by its source";
  if (first !== undefined && changes.length === 1 && isShort(first.previous) && isShort(first.current)) {
    return `${first.field} changed from ${asText(first.previous)} to ${asText(first.current)}`;
  }
  return `Changed: ${changes.map(({ field }) => field).join(", ")}`;
}

function isShort(value: unknown): boolean {
  return value === null || (typeof value === "string" && value.length <= 60);
}

function asText(value: unknown): string {
  return value === null ? "nothing" : String(value);
}
