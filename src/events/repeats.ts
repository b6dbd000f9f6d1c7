/** Which changes another record of the same opportunity reported before: sources publish the same change one after the other. (E-57) */
import { type OpportunityEvent, severityRank } from "./event.ts";

export type GroupEvent = { seq: number; record: number; event: OpportunityEvent };

/** Whether each field's last report in the group was another record's, with the same value and type, and no less severe. */
export function isRepeat({ seq, record, event }: GroupEvent, earlier: readonly GroupEvent[]): boolean {
  const before = earlier.filter((each) => each.seq < seq);
  const same = before.filter((each) => each.event.type === event.type && severityRank(each.event.severity) >= severityRank(event.severity));
  if (event.type === "opportunity_added") return same.some((each) => each.record !== record);
  return (
    event.changes.length > 0 &&
    event.changes.every(({ field, current }) => {
      const last = same.findLast(({ event: { changes } }) => changes.some((change) => change.field === field));
      if (last === undefined || last.record === record) return false;
      const value = last.event.changes.find((change) => change.field === field)?.current;
      return Bun.deepEquals(value, current) && last.seq > Math.max(...[record, last.record].map((each) => joinedAt(each, before)));
    })
  );
}

function joinedAt(record: number, events: readonly GroupEvent[]): number {
  const isJoining = ({ type, changed_fields }: OpportunityEvent) =>
    type === "opportunity_added" || changed_fields.includes("relationships.canonical_id");
  return events.findLast((each) => each.record === record && isJoining(each.event))?.seq ?? 0;
}
