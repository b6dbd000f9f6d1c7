/** Revisions that an upstream keeps of a record become history from before the record was known here. */
import type { OpportunityEvent } from "../events/event.ts";
import { statusAt } from "../opportunities/status.ts";
import { classify } from "./classify.ts";
import type { Content, PreparedRecord, Revision } from "./content.ts";
import { apply, detect } from "./detect.ts";

type State = Pick<Revision, "content" | "status_basis">;

/**
 * The events that an import of each revision at its own instant would have recorded, as far as those lie before the record was known (ms):
 * later ones were detected here. What the clock alone changed between two revisions has no event.
 */
export function pastEvents(id: string, { revisions = [] }: Pick<PreparedRecord, "revisions">, knownSince: number): OpportunityEvent[] {
  const events: OpportunityEvent[] = [];
  let state: State | undefined;
  for (const revision of revisions) {
    const { since, status_basis } = revision;
    if (state === undefined) state = revision;
    else if (since < knownSince) {
      const before = seenAt(state, since);
      const changes = detect(before, seenAt(revision, since));
      events.push(...classify(id, changes, since));
      state = { content: apply(before, changes), status_basis };
    }
  }
  return events;
}

/** With the status to which the clock has moved it by then (D-37). */
function seenAt({ content, status_basis }: State, instant: number): Content {
  return status_basis === "dates" ? { ...content, status: statusAt(content.dates, instant) } : content;
}
