/** The whole history of an opportunity, straight from the catalog. */
import { and, asc, eq } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { query, select } from "../../db/query.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import { parseStored } from "../text/stored-json.ts";
import type { OpportunityEvent } from "./event.ts";

const eventsOf = query({ id: opportunities.id }, ({ id }) =>
  select({ document: events.document })
    .from(events)
    .innerJoin(opportunities, and(eq(opportunities.seq, events.opportunity_seq), eq(opportunities.id, id)))
    .orderBy(asc(events.detected_at), asc(events.seq)),
);

/** All events of an opportunity, the oldest first. */
export async function readHistory(catalog: CatalogDb, id: string): Promise<OpportunityEvent[]> {
  return (await catalog.all(eventsOf, { id })).map(({ document }) => parseStored(document));
}

/** The events behind the one with the id `after`, at most `limit`; `undefined` if that one is not in the history, which is the oldest first. */
export function historyPage(history: readonly OpportunityEvent[], after: string | undefined, limit: number) {
  const newest = history.toReversed();
  const start = after === undefined ? 0 : newest.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0) return undefined;
  const events = newest.slice(start, start + limit);
  return { events, total: newest.length, next: start + limit < newest.length ? events.at(-1)?.id : undefined };
}
