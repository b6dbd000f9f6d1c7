/** One page of the list: filters, keyset and limit over the list log, then the documents. */
import { type Catalog, inSnapshot } from "../catalog.ts";
import type { Instant } from "../instant.ts";
import type { Page, Position } from "../page.ts";
import { allowedFacets, type FacetFilter } from "./facets.ts";
import { firstAfter, newestFirst, placeOf } from "./list-log.ts";

/** Source codes are upper-cased; `OTHER` means every code that the catalogue does not name (D-13). */
export type Filter = FacetFilter & { source_opportunity_id?: string; updated_since?: Instant };

/** One page of matching opportunities as ready JSON documents, most recently updated first; `after` is where the last page ended. */
export async function listOpportunities(catalog: Catalog, filter: Filter, limit: number, after: Position | null): Promise<Page> {
  return inSnapshot(catalog, () => {
    const { db, log, facets } = catalog;
    const allowed = allowedFacets(facets, db, filter);
    // `updated_at` has whole milliseconds: it is after an instant when it is after that instant's own (D-11).
    const from = filter.updated_since === undefined ? 0 : firstAfter(log, filter.updated_since.ms);
    const to = after === null ? log.length : placeOf(log, after, (row) => idOf(catalog, row));

    const places =
      filter.source_opportunity_id === undefined
        ? newestFirst(log, allowed, from, to, limit + 1) // One more than asked: its presence is `has_more`, without a count.
        : placesOfUpstreamId(catalog, filter.source_opportunity_id)
            .filter((place) => place >= from && place < to && (allowed === null || allowed[log.facets[place] as number] === 1))
            .slice(0, limit + 1);

    return pageOf(catalog, places, limit);
  });
}

function pageOf(catalog: Catalog, places: number[], limit: number): Page {
  const { log, db } = catalog;
  const shown = places.slice(0, limit);
  const rows = JSON.stringify(shown.map((place) => log.rows[place]));
  // `cross join` keeps json_each the outer loop, and so its order.
  const documents = db.sqlite
    .query<{ document: Uint8Array }, [string]>("select document from json_each(?) cross join opportunities on seq = value")
    .all(rows)
    .map(({ document }) => document);
  const last = shown.at(-1);
  const next =
    places.length > limit && last !== undefined ? { time: log.times[last] as number, id: idOf(catalog, log.rows[last] as number) } : null;
  return { documents, next };
}

/** Newest first: the places of the records that bear or bore an upstream id (D-14). */
function placesOfUpstreamId({ db, log }: Catalog, upstreamId: string): number[] {
  return db.sqlite
    .query<{ row: number }, [string]>("select distinct opportunity_seq as row from upstream_ids where upstream_id = ?")
    .all(upstreamId)
    .map(({ row }) => (log.places[row] ?? 0) - 1)
    .filter((place) => place >= 0)
    .sort((left, right) => right - left);
}

function idOf({ db }: Catalog, row: number): string {
  return db.sqlite.query<{ id: string }, [number]>("select id from opportunities where seq = ?").get(row)?.id ?? "";
}
