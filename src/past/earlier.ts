/** What records were before an import, or before an instant: folded back from their events. */
import { and, asc, eq, gte, type SQL } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { query, select } from "../../db/query.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { Content } from "../changes/content.ts";
import { comparedFields, unapply } from "../changes/detect.ts";
import type { Change, OpportunityEvent } from "../events/event.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";

export type Undone = { importId: number; since: EpochMs } | { since: EpochMs };

const bounds = { source: opportunities.source, since: events.detected_at };
const eventsOf = (source: SQL, since: SQL, which?: SQL) =>
  select({ id: opportunities.id, type: events.type, document: events.document })
    .from(events)
    .innerJoin(opportunities, eq(opportunities.seq, events.opportunity_seq))
    .where(and(gte(events.detected_at, since), eq(opportunities.source, source), eq(events.origin, "detected"), which))
    .orderBy(asc(events.detected_at), asc(events.seq));
const ofPeriod = query(bounds, ({ source, since }) => eventsOf(source, since));
const ofImport = query({ ...bounds, importId: events.import_id }, ({ source, since, importId }) =>
  eventsOf(source, since, eq(events.import_id, importId)),
);

/** Returns a function that returns a record's earlier content, or null if the record is newer. Keeps the changes to undo in memory. */
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
      changes.getOrInsert(id, []).push(...foldedChanges(document));
    }
  };
  if ("importId" in undone) await sql.each(ofImport, { source, ...undone }, take);
  else await sql.each(ofPeriod, { source, ...undone }, take);
  return (id, content) => (added.has(id) ? null : unapply(content, (changes.get(id) ?? []).reverse()));
}

/** The changes of a stored event that can be undone: those of fields that are compared. */
export function foldedChanges(document: Uint8Array): Change[] {
  return parseStored<OpportunityEvent>(document).changes.filter(({ field }) => folded.has(field));
}
const folded = new Set([...comparedFields, "funding"]);
