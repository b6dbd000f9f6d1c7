/** What records were before an import, or before an instant: folded back from their events. */
import { and, asc, eq, gte, type SQLWrapper } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { query, select } from "../../db/query.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { Content } from "../changes/content.ts";
import { comparedFields, unapply } from "../changes/detect.ts";
import type { Change, OpportunityEvent } from "../events/event.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";

/** Events that are undone: those of an import, or all of a period. */
export type Undone = { importId: number; since: EpochMs } | { since: EpochMs };

const columns = { id: opportunities.id, type: events.type, document: events.document };
const isOfRecord = eq(opportunities.seq, events.opportunity_seq);
const inOrder = [asc(events.detected_at), asc(events.seq)];
const isOf = (source: SQLWrapper, since: SQLWrapper) =>
  and(gte(events.detected_at, since), eq(opportunities.source, source), eq(events.origin, "detected"));
const ofPeriod = query({ source: opportunities.source, since: events.detected_at }, ({ source, since }) =>
  select(columns)
    .from(events)
    .innerJoin(opportunities, isOfRecord)
    .where(isOf(source, since))
    .orderBy(...inOrder),
);
const ofImport = query(
  { source: opportunities.source, since: events.detected_at, importId: events.import_id },
  ({ source, since, importId }) =>
    select(columns)
      .from(events)
      .innerJoin(opportunities, isOfRecord)
      .where(and(isOf(source, since), eq(events.import_id, importId)))
      .orderBy(...inOrder),
);

/** Returns a function from a record to what it was; null if it was not there. Keeps the changes of the events that are undone in memory. */
export async function earlierOf(
  sql: CatalogSql,
  source: string,
  undone: Undone,
): Promise<(id: string, content: Content) => Content | null> {
  const added = new Set<string>();
  const changes = new Map<string, Change[]>();
  const take = (rows: readonly { id: string; type: string; document: Uint8Array }[]) => {
    for (const { id, type, document } of rows) {
      if (type === "opportunity_added") added.add(id);
      if (added.has(id)) continue;
      changes.set(id, [...(changes.get(id) ?? []), ...foldedChanges(document)]);
    }
  };
  if ("importId" in undone) await sql.each(ofImport, { source, ...undone }, take);
  else await sql.each(ofPeriod, { source, ...undone }, take);
  return (id, content) => (added.has(id) ? null : unapply(content, (changes.get(id) ?? []).reverse()));
}

/** The changes of a stored event, as far as they are of fields that are compared. */
export function foldedChanges(document: Uint8Array): Change[] {
  return parseStored<OpportunityEvent>(document).changes.filter(({ field }) => folded.has(field));
}
const folded = new Set([...comparedFields, "funding"]);
