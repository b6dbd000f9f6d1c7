/** Revisions that an upstream keeps of a record become events from before the record was first imported here. */
import type { CatalogSql } from "../../db/engine.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { opportunityId } from "../opportunities/identity.ts";
import { statusAt } from "../opportunities/status.ts";
import type { EpochMs } from "../text/instant.ts";
import { classify } from "./classify.ts";
import { insertImportedEvent } from "./commit.ts";
import type { Content, PreparedRecord, Revision } from "./content.ts";
import { apply, detect } from "./detect.ts";
import { findStored, hasEvent } from "./stored.ts";

/** Stores the events of a stored record's upstream history, each once. Returns how many were new. */
export async function storeUpstreamHistory(sql: CatalogSql, record: PreparedRecord, importId: number): Promise<number> {
  const stored = record.revisions === undefined ? undefined : await findStored(sql, record.indexed.source.code, record.lineage);
  if (stored === undefined) return 0;
  let count = 0;
  for (const event of eventsOfRevisions(stored.id, record.revisions, stored.created_at)) {
    const { type, severity } = event;
    const columns = { type, severity, detected_at: Date.parse(event.detected_at) };
    if (await insertImportedEvent(sql, stored.seq, event, columns, importId)) count++;
  }
  return count;
}

/** How many events `storeUpstreamHistory` would store if the record were stored at an instant. */
export async function countUpstreamHistory(sql: CatalogSql, record: PreparedRecord, instant: EpochMs): Promise<number> {
  if (record.revisions === undefined) return 0;
  const { code } = record.indexed.source;
  const knownSince = (await findStored(sql, code, record.lineage))?.created_at ?? instant;
  const events = eventsOfRevisions(opportunityId(code, record.lineage), record.revisions, knownSince);
  let count = 0;
  for (const { id } of events) if (!(await hasEvent(sql, id))) count++;
  return count;
}

type State = Pick<Revision, "content" | "status_basis">;

/**
 * The events that importing each revision when it appeared would have recorded. Ends at `knownSince`, because later changes were detected
 * here. A status turn between two revisions gets no event.
 */
function eventsOfRevisions(id: string, revisions: readonly Revision[] = [], knownSince: EpochMs): OpportunityEvent[] {
  const events: OpportunityEvent[] = [];
  let state: State | undefined;
  for (const revision of revisions) {
    const { since, status_basis } = revision;
    if (state === undefined) state = revision;
    else if (since < knownSince) {
      const before = contentAt(state, since);
      const changes = detect(before, contentAt(revision, since));
      events.push(...classify(id, changes, since));
      state = { content: apply(before, changes), status_basis };
    }
  }
  return events;
}

/** The content with the status that its dates give it at an instant, unless it states one (D-37). */
function contentAt({ content, status_basis }: State, instant: EpochMs): Content {
  return status_basis === "dates" ? { ...content, status: statusAt(content.dates, instant) } : content;
}
