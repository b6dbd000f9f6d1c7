/** Reads found opportunities and their history from the catalog. */
import { and, asc, eq, inArray } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { listOf, query, select } from "../../db/query.ts";
import { events, opportunities, upstreamIds } from "../../db/schema/sqlite/catalog.ts";
import type { OpportunityEvent } from "../events/event.ts";
import type { Opportunity } from "../opportunities/opportunity.ts";

const documentsById = query({ ids: listOf(opportunities.id) }, ({ ids }) =>
  select({ id: opportunities.id, document: opportunities.document }).from(opportunities).where(inArray(opportunities.id, ids)),
);
const idsByUpstreamId = query({ upstream_id: upstreamIds.upstream_id }, ({ upstream_id }) =>
  select({ id: opportunities.id })
    .from(upstreamIds)
    .innerJoin(opportunities, eq(opportunities.seq, upstreamIds.opportunity_seq))
    .where(eq(upstreamIds.upstream_id, upstream_id))
    .orderBy(asc(opportunities.id)),
);
const eventsOf = query({ id: opportunities.id }, ({ id }) =>
  select({ document: events.document })
    .from(events)
    .innerJoin(opportunities, and(eq(opportunities.seq, events.opportunity_seq), eq(opportunities.id, id)))
    .orderBy(asc(events.detected_at), asc(events.seq)),
);

const utf8 = new TextDecoder();

/** The documents of these ids, in that order, as JSON texts. */
export async function readDocuments(catalog: CatalogDb, ids: readonly string[]): Promise<string[]> {
  const rows = await catalog.all(documentsById, { ids });
  const byId = new Map(rows.map(({ id, document }) => [id, utf8.decode(document)]));
  return ids.map((id) => byId.get(id)).filter((document) => document !== undefined);
}

export async function readOpportunities(catalog: CatalogDb, ids: readonly string[]): Promise<Opportunity[]> {
  return (await readDocuments(catalog, ids)).map((document) => JSON.parse(document));
}

/** The ids of opportunities that have, or had, this upstream id. */
export async function findByUpstreamId(catalog: CatalogDb, upstreamId: string): Promise<string[]> {
  return (await catalog.all(idsByUpstreamId, { upstream_id: upstreamId })).map(({ id }) => id);
}

/** All events of an opportunity, the oldest first. */
export async function readHistory(catalog: CatalogDb, id: string): Promise<OpportunityEvent[]> {
  return (await catalog.all(eventsOf, { id })).map(({ document }) => JSON.parse(utf8.decode(document)));
}
