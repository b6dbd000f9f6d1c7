/** One page of the list: filters, keyset and limit over the list index, then the documents. */
import { and, desc, eq, inArray, lt, max, sql } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { listOf, pick, query, select } from "../../db/query.ts";
import { opportunities, upstreamIds } from "../../db/schema/sqlite/catalog.ts";
import { Unavailable } from "../../db/unavailable.ts";
import type { Instant } from "../text/instant.ts";
import { type Document, documentColumns, keepDocument, keptDocument } from "./documents.ts";
import { allowedFacets, type FacetFilter, namedSources } from "./facets.ts";
import { firstAfter, isNewest, newestFirst, newestTime, placeOf } from "./list-index.ts";
import type { Page, Position } from "./page.ts";
import { type ReadModel, refresh, reload } from "./read-model.ts";

/** Source codes are upper-cased; `OTHER` means every code that the catalog does not name (D-13). */
export type Filter = FacetFilter & { source_opportunity_id?: string; updated_since?: Instant };

const nextOfInstant = query(pick(opportunities, "updated_at", "id"), ({ updated_at, id }) =>
  select(pick(opportunities, "seq", "updated_at"))
    .from(opportunities)
    .where(and(eq(opportunities.updated_at, updated_at), lt(opportunities.id, id)))
    .orderBy(desc(opportunities.id))
    .limit(1),
);
const newestUpdate = sql<number>`(${select({ newest: max(opportunities.updated_at) }).from(opportunities)})`;
const rowsByUpstreamId = query({ upstream_id: upstreamIds.upstream_id }, ({ upstream_id }) =>
  select({ seq: upstreamIds.opportunity_seq, newest: newestUpdate }).from(upstreamIds).where(eq(upstreamIds.upstream_id, upstream_id)),
);
const documentsBySeq = query({ seqs: listOf(opportunities.seq) }, ({ seqs }) =>
  select(documentColumns).from(opportunities).where(inArray(opportunities.seq, seqs)),
);

/** How often a list is tried: a commit that comes between its steps is met at the second time. */
const ATTEMPTS = 4;

/**
 * One page of matching opportunities as ready JSON documents, most recently updated first; `after` is where the last page ended. Throws
 * Unavailable where commits come between the steps of every try.
 */
export async function listOpportunities(model: ReadModel, filter: Filter, limit: number, after: Position | null): Promise<Page> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (attempt === ATTEMPTS) await reload(model); // The records were changed by other hands: what the index says never comes true.
    const bounds = await boundsOf(model.db, filter, after);
    await refresh(model);
    if (!areOf(model, bounds)) continue;

    const rows = rowsOf(model, filter, bounds, limit + 1); // One more than asked: its presence is `has_more`, without a count.
    const shown = await documentsOf(model, rows.slice(0, limit));
    // Otherwise a record has moved since: the page would show it where it no longer is.
    if (shown.every((document) => isNewest(model.index, document))) return pageOf(shown, rows.length > limit);
  }
  throw new Unavailable("Cannot list: at each try records moved while they were read. If that goes on, fundfeed check says what is wrong");
}

/** What only the database knows of a list's bounds. */
type Bounds = {
  named: string[] | undefined;
  /** Rows that bear or bore the upstream id (D-14), where one is asked for, and the newest `updated_at` of when they were read. */
  upstream: { rows: Set<number>; newest: number } | undefined;
  after: Position | null;
  /** The next record of the same instant, after the place where the last page ended. */
  before: { seq: number; updated_at: number } | undefined;
};

async function boundsOf(db: CatalogDb, filter: Filter, after: Position | null): Promise<Bounds> {
  const named = await namedSources(db, filter);
  const upstream = filter.source_opportunity_id === undefined ? undefined : await rowsOfUpstreamId(db, filter.source_opportunity_id);
  const before = after === null ? undefined : await db.get(nextOfInstant, { updated_at: after.time, id: after.id });
  return { named, upstream, after, before };
}

async function rowsOfUpstreamId(db: CatalogDb, upstreamId: string): Promise<Bounds["upstream"]> {
  const rows = await db.all(rowsByUpstreamId, { upstream_id: upstreamId });
  const [first] = rows;
  return { rows: new Set(rows.map(({ seq }) => seq)), newest: first?.newest ?? 0 };
}

/**
 * Whether nothing has been committed between the bounds and the index that matters to both. A record that came to bear the upstream id
 * meanwhile would be left out beside others of its instant, and whoever polls from that instant on would never see it.
 */
function areOf({ index }: ReadModel, { before, upstream }: Bounds): boolean {
  if (before !== undefined && !isNewest(index, before)) return false;
  return upstream === undefined || upstream.rows.size === 0 || upstream.newest === newestTime(index);
}

/** Row numbers of the first records that the filter lets through, newest first. */
function rowsOf({ index, facets }: ReadModel, filter: Filter, { named, upstream, after, before }: Bounds, count: number): number[] {
  const allowed = allowedFacets(facets, filter, named);
  // `updated_at` has whole milliseconds: it is after an instant when it is after that instant's own (D-11).
  const from = filter.updated_since === undefined ? 1 : firstAfter(index, filter.updated_since.ms);
  const to = before !== undefined ? placeOf(index, before.seq) + 1 : after !== null ? firstAfter(index, after.time - 1) : index.end;

  const places =
    upstream === undefined
      ? newestFirst(index, allowed, from, to, count)
      : Array.from(upstream.rows, (seq) => placeOf(index, seq))
          .filter((place) => place >= from && place < to && (allowed === null || allowed.flags[index.facets[place] as number] === 1))
          .sort((left, right) => right - left)
          .slice(0, count);
  return places.map((place) => index.rows[place] as number);
}

/** The records of some rows, in their order: from memory where it has the newest version, else from the database. */
async function documentsOf({ db, index, documents }: ReadModel, rows: readonly number[]): Promise<Document[]> {
  const kept = rows.map((seq) => {
    const document = keptDocument(documents, seq);
    return document !== undefined && isNewest(index, document) ? document : undefined;
  });
  const missing = rows.filter((_, index) => kept[index] === undefined);
  if (missing.length === 0) return kept as Document[];

  const read = await db.all(documentsBySeq, { seqs: missing });
  for (const document of read) keepDocument(documents, document);
  const bySeq = new Map(read.map((document) => [document.seq, document]));
  return rows.map((seq, index) => kept[index] ?? bySeq.get(seq)).filter((document) => document !== undefined);
}

function pageOf(shown: readonly Document[], hasMore: boolean): Page {
  const last = shown.at(-1);
  return {
    documents: shown.map(({ document }) => document),
    next: hasMore && last !== undefined ? { time: last.updated_at, id: last.id } : null,
  };
}
