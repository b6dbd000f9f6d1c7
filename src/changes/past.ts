/** Earlier states that an upstream tells of itself become history from before the record was known here. */
import type { OpportunityEvent } from "../events/event.ts";
import { statusAt } from "../opportunities/status.ts";
import { classify } from "./classify.ts";
import { type Arrival, type Content, contentOf, type StatusBasis } from "./content.ts";
import { detect } from "./detect.ts";

type State = { content: Content; status_basis: StatusBasis };

/** The events between a record's past states and the present one that lie before it was known (ms): later ones were detected here. */
export function pastEvents(id: string, { past = [], rendered, brief, status_basis }: Arrival, knownSince: number): OpportunityEvent[] {
  const present = { content: contentOf(rendered, brief), status_basis };
  return past.flatMap((state, index) => {
    const next = past[index + 1] ?? present;
    return state.until < knownSince ? classify(id, detect(seenAt(state, state.until), seenAt(next, state.until)), state.until) : [];
  });
}

/** With the status that its dates gave then, so that only what the upstream changed differs, and not what the clock did. */
function seenAt({ content, status_basis }: State, instant: number): Content {
  return status_basis === "dates" ? { ...content, status: statusAt(content.dates, instant) } : content;
}
