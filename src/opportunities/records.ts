/** Reads opportunities straight from the catalog, past the read model of the server. */
import { asc, eq, inArray } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { listOf, pick, query, select } from "../../db/query.ts";
import { opportunities, sightings, upstreamIds } from "../../db/schema/sqlite/catalog.ts";
import { readSilentSources, type SilentSources } from "../sources/freshness.ts";
import type { EpochMs } from "../text/instant.ts";
import { shownAt } from "./clock.ts";
import { isSightingOf, seenColumns } from "./last-seen.ts";
import { type WholeOpportunity, wholeOpportunity } from "./opportunity.ts";
import { unlessLong } from "./page.ts";

const columns = { ...pick(opportunities, "id", "sidecar", "status_basis", "turns_at"), ...seenColumns };
const shortDocumentsById = query({ ids: listOf(opportunities.id) }, ({ ids }) =>
  select({ ...columns, document: unlessLong(opportunities.document) })
    .from(opportunities)
    .leftJoin(sightings, isSightingOf)
    .where(inArray(opportunities.id, ids)),
);
const documentById = query(pick(opportunities, "id"), ({ id }) =>
  select({ ...columns, document: opportunities.document })
    .from(opportunities)
    .leftJoin(sightings, isSightingOf)
    .where(eq(opportunities.id, id)),
);
const idsByUpstreamId = query({ upstream_id: upstreamIds.upstream_id }, ({ upstream_id }) =>
  select(pick(opportunities, "id"))
    .from(upstreamIds)
    .innerJoin(opportunities, eq(opportunities.seq, upstreamIds.opportunity_seq))
    .where(eq(upstreamIds.upstream_id, upstream_id))
    .orderBy(asc(opportunities.id)),
);

/** Documents that are read and parsed at once: others may use the thread in between. */
const AT_ONCE = 100;

type Reader = Pick<CatalogSql, "all"> | Pick<CatalogDb, "all" | "commits">;

/** The opportunities with these ids at an instant, in that order, if they exist. Silent sources are marked, except in a transaction. */
export async function readOpportunities(catalog: Reader, ids: readonly string[], now: EpochMs): Promise<WholeOpportunity[]> {
  return (await readOnePage(catalog, ids, now, Number.POSITIVE_INFINITY)).opportunities;
}

/** The same, until their documents have `bytesMax` bytes together; at least one. `read` is how many of the ids that took. */
export async function readOnePage(
  catalog: Reader,
  ids: readonly string[],
  now: EpochMs,
  bytesMax: number,
): Promise<{ opportunities: WholeOpportunity[]; read: number }> {
  const opportunities: WholeOpportunity[] = [];
  let [bytes, read] = [0, 0];
  while (read < ids.length && bytes < bytesMax) {
    const some = ids.slice(read, read + AT_ONCE);
    const rows = new Map((await catalog.all(shortDocumentsById, { ids: some })).map((row) => [row.id, row]));
    for (const id of some) {
      read++;
      const row = rows.get(id);
      const document = row?.document ?? null;
      const [stored] = row === undefined ? [] : document === null ? await catalog.all(documentById, { id }) : [{ ...row, document }];
      if (stored === undefined) continue;
      opportunities.push(wholeOpportunity(shownAt(stored, now)));
      bytes += stored.document.length;
      if (bytes >= bytesMax) break;
    }
  }
  if (opportunities.length > 0 && "commits" in catalog) markSilent(opportunities, await readSilentSources(catalog, now));
  return { opportunities, read };
}

export function markSilent(opportunities: readonly WholeOpportunity[], silent: SilentSources): void {
  for (const opportunity of opportunities) {
    const since = silent.get(opportunity.source.code);
    if (since !== undefined) opportunity.silent_since = since;
  }
}

/** The ids of opportunities that have, or had, this upstream id. */
export async function idsOfUpstreamId(catalog: Pick<CatalogSql, "all">, upstreamId: string): Promise<string[]> {
  return (await catalog.all(idsByUpstreamId, { upstream_id: upstreamId })).map(({ id }) => id);
}
