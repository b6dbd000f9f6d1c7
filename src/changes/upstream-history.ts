/** Revisions that an upstream keeps become events from before the first import. A history with gaps is left out. */
import type { CatalogSql } from "../../db/engine.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { clockedAt } from "../opportunities/clock.ts";
import type { EpochMs } from "../text/instant.ts";
import { classify } from "./classify.ts";
import { type Content, type ValidRevision, withStatusTerms } from "./content.ts";
import { apply, detect } from "./detect.ts";
import { hasEvent } from "./stored.ts";

/** The events of an upstream history that are not stored yet. `createdAt` is when the record is or will be stored. */
export async function listUpstreamHistory(
  sql: CatalogSql,
  id: string,
  revisions: readonly ValidRevision[] | undefined,
  createdAt: EpochMs,
): Promise<OpportunityEvent[]> {
  const missing: OpportunityEvent[] = [];
  for (const event of eventsOfRevisions(id, revisions, createdAt)) if (!(await hasEvent(sql, event.id))) missing.push(event);
  return missing;
}

type State = Pick<ValidRevision, "content" | "status_basis">;

/** What importing each revision in its time would have recorded, until `knownSince`. Status turns in between get no events. */
function eventsOfRevisions(id: string, revisions: readonly ValidRevision[] = [], knownSince: EpochMs): OpportunityEvent[] {
  const events: OpportunityEvent[] = [];
  let state: State | undefined;
  for (const revision of revisions) {
    const { since, status_basis } = revision;
    if (state === undefined) state = revision;
    else if (since < knownSince) {
      const before = contentAt(state, since);
      const changes = detect(before, contentAt(revision, since));
      events.push(...classify(id, changes, since));
      state = { content: withStatusTerms(apply(before, changes), revision.content), status_basis };
    }
  }
  return events;
}

function contentAt({ content, status_basis }: State, instant: EpochMs): Content {
  return { ...content, ...clockedAt(content, status_basis, instant) };
}
