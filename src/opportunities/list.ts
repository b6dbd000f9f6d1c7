/** One page of the list: filters, keyset and limit over the list log, then the documents. */
import { type Catalog, catchUp, startAnew } from "../catalog.ts";
import type { Instant } from "../instant.ts";
import type { Page, Position } from "../page.ts";
import { type Document, keepDocument, keptDocument } from "./documents.ts";
import { allowedFacets, type FacetFilter } from "./facets.ts";
import { firstAfter, isNewest, newestFirst, placeOf } from "./list-log.ts";

/** Source codes are upper-cased; `OTHER` means every code that the catalogue does not name (D-13). */
export type Filter = FacetFilter & { source_opportunity_id?: string; updated_since?: Instant };

/** How often a list is tried: a commit that comes between its steps is met at the second time. */
const ATTEMPTS = 4;

/** One page of matching opportunities as ready JSON documents, most recently updated first; `after` is where the last page ended. */
export async function listOpportunities(catalog: Catalog, filter: Filter, limit: number, after: Position | null): Promise<Page> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (attempt === ATTEMPTS) startAnew(catalog); // The file was changed by other hands: what the log says of it never comes true.
    catchUp(catalog);
    const rows = rowsOf(catalog, filter, limit + 1, after); // One more than asked: its presence is `has_more`, without a count.
    const shown = documentsOf(catalog, rows.slice(0, limit));
    // Otherwise a record has moved since: the page would show it where it no longer is.
    if (shown.every((document) => isNewest(catalog.log, document))) return pageOf(shown, rows.length > limit);
  }
  throw new Error("The records of a list moved again and again while it was read; fundfeed check says what is wrong");
}

/** Row numbers of the first records after a place that the filter lets through. */
function rowsOf(catalog: Catalog, filter: Filter, count: number, after: Position | null): number[] {
  const { db, log, facets } = catalog;
  const allowed = allowedFacets(facets, db, filter);
  // `updated_at` has whole milliseconds: it is after an instant when it is after that instant's own (D-11).
  const from = filter.updated_since === undefined ? 0 : firstAfter(log, filter.updated_since.ms);
  const to = after === null ? log.length : placeOf(log, after, (row) => idOf(catalog, row));

  const places =
    filter.source_opportunity_id === undefined
      ? newestFirst(log, allowed, from, to, count)
      : placesOfUpstreamId(catalog, filter.source_opportunity_id)
          .filter((place) => place >= from && place < to && (allowed === null || allowed[log.facets[place] as number] === 1))
          .slice(0, count);
  return places.map((place) => log.rows[place] as number);
}

/** The records of some rows, in their order: from memory where it has the newest version, else from the database. */
function documentsOf({ db, log, documents }: Catalog, rows: readonly number[]): Document[] {
  const kept = rows.map((row) => {
    const document = keptDocument(documents, row);
    return document !== undefined && isNewest(log, document) ? document : undefined;
  });
  const missing = rows.filter((_, index) => kept[index] === undefined);
  if (missing.length === 0) return kept as Document[];

  // `cross join` keeps json_each the outer loop, and so its order.
  const read = db.sqlite
    .query<Document, [string]>(
      "select seq as row, opportunities.id, updated_at, document from json_each(?) cross join opportunities on seq = value",
    )
    .all(JSON.stringify(missing));
  for (const document of read) keepDocument(documents, document);
  return kept.map((document) => document ?? read.shift()).filter((document) => document !== undefined);
}

function pageOf(shown: readonly Document[], hasMore: boolean): Page {
  const last = shown.at(-1);
  return {
    documents: shown.map(({ document }) => document),
    next: hasMore && last !== undefined ? { time: last.updated_at, id: last.id } : null,
  };
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
