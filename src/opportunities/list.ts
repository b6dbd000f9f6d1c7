/** One page of the list: the list index finds the records, then their documents come from memory or the database. */
import { and, desc, eq, inArray, lt, max, sql } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { listOf, pick, query, select, selectFrom, selectSome } from "../../db/query.ts";
import { opportunities, upstreamIds } from "../../db/schema/sqlite/catalog.ts";
import { Unavailable } from "../../db/unavailable.ts";
import type { Instant } from "../text/instant.ts";
import { documentFields, keepDocument, keptDocument, type StoredDocument } from "./documents.ts";
import { allowedFacets, type FacetFilter, namedSources } from "./facets.ts";
import { firstSlotAfter, isNewest, type ListIndex, newestFirst, newestTime, slotOf } from "./list-index.ts";
import { type ListPage, type Position, rowsOfOnePage, unlessLong } from "./page.ts";
import { type ReadModel, updateModel } from "./read-model.ts";

/** `OTHER` means every code that is not a named source (D-13). */
export type ListFilter = FacetFilter & { source_opportunity_id?: string; updated_since?: Instant };

const nextAtInstant = query(pick(opportunities, "updated_at", "id"), ({ updated_at, id }) =>
  selectFrom(opportunities, "seq", "updated_at", "id")
    .where(and(eq(opportunities.updated_at, updated_at), lt(opportunities.id, id)))
    .orderBy(desc(opportunities.id))
    .limit(1),
);
const newestUpdate = sql<number>`(${select({ newest: max(opportunities.updated_at) }).from(opportunities)})`;
const seqsByUpstreamId = query({ upstream_id: upstreamIds.upstream_id }, ({ upstream_id }) =>
  select({ seq: upstreamIds.opportunity_seq, newest: newestUpdate }).from(upstreamIds).where(eq(upstreamIds.upstream_id, upstream_id)),
);
const documentsBySeq = query({ seqs: listOf(opportunities.seq) }, ({ seqs }) =>
  select({ ...pick(opportunities, ...documentFields), document: unlessLong(opportunities.document) })
    .from(opportunities)
    .where(inArray(opportunities.seq, seqs)),
);
const documentBySeq = selectSome(opportunities, documentFields, "seq");

const ATTEMPTS = 4;

/** One page of matching opportunities, most recently updated first. Throws Unavailable if records change during every attempt. */
export async function listOpportunities(model: ReadModel, filter: ListFilter, limit: number, after: Position | null): Promise<ListPage> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (attempt === ATTEMPTS) await model.reload(); // If something else than this program set records back, `updateModel` does not notice it.
    const bounds = await readBounds(model, filter, after);
    await updateModel(model);
    if (!isConsistent(model, bounds)) continue;

    const seqs = matchingSeqs(model, filter, bounds, limit + 1); // One more than asked: its presence is `has_more`, without a count.
    const shown = await documentsOf(model, seqs.slice(0, limit));
    const last = shown.at(-1);
    const next = seqs.length > shown.length && last !== undefined ? { time: last.updated_at, id: last.id } : null;
    // Otherwise a record has moved meanwhile, and the page would show it where it no longer is.
    if (shown.every((document) => isNewest(model.index, document))) return { documents: shown.map(({ document }) => document), next };
  }
  throw new Unavailable("Cannot list opportunities: records changed during each attempt. If this persists, run fundfeed check");
}

type Bounds = Awaited<ReturnType<typeof readBounds>>;

async function readBounds(model: ReadModel, filter: ListFilter, after: Position | null) {
  const { db } = model;
  const named = await namedSources(db, filter);
  const upstream = filter.source_opportunity_id === undefined ? undefined : await readUpstreamId(db, filter.source_opportunity_id);
  /** The record at `after` if it is in memory, else the next one of the same instant. */
  const anchor = after && (keptAt(model, after) ?? (await db.get(nextAtInstant, { updated_at: after.time, id: after.id })));
  return { named, upstream, after, anchor: anchor ?? undefined };
}

/** Usually it is, because it was the last one of the previous page. */
function keptAt({ index, documents }: ReadModel, { time, id }: Position): StoredDocument | undefined {
  const kept = keptDocument(documents, id);
  return kept !== undefined && kept.updated_at === time && isNewest(index, kept) ? kept : undefined;
}

async function readUpstreamId(db: CatalogDb, upstreamId: string) {
  const rows = await db.all(seqsByUpstreamId, { upstream_id: upstreamId });
  return { seqs: new Set(rows.map(({ seq }) => seq)), newest: rows[0]?.newest ?? 0 };
}

/** A page that a commit in between affects could miss a record for good. */
function isConsistent({ index }: ReadModel, { anchor, upstream }: Bounds): boolean {
  if (anchor !== undefined && !isNewest(index, anchor)) return false;
  return upstream === undefined || upstream.seqs.size === 0 || upstream.newest === newestTime(index);
}

function matchingSeqs({ index, facets }: ReadModel, filter: ListFilter, bounds: Bounds, count: number): number[] {
  const { named, upstream } = bounds;
  const allowed = allowedFacets(facets, filter, named);
  // `updated_at` has whole milliseconds: it is later than an instant if it is later than that instant's milliseconds (D-11).
  const from = filter.updated_since === undefined ? 1 : firstSlotAfter(index, filter.updated_since.ms);
  const to = endOf(index, bounds);

  const slots =
    upstream === undefined
      ? newestFirst(index, allowed, from, to, count)
      : Array.from(upstream.seqs, (seq) => slotOf(index, seq))
          .filter((slot) => slot >= from && slot < to && (allowed === null || allowed.flags[index.facets[slot] as number] === 1))
          .sort((left, right) => right - left)
          .slice(0, count);
  return slots.map((slot) => index.seqs[slot] as number);
}

function endOf(index: ListIndex, { after, anchor }: Bounds): number {
  if (after === null) return index.end;
  if (anchor === undefined) return firstSlotAfter(index, after.time - 1);
  return anchor.id === after.id ? slotOf(index, anchor.seq) : slotOf(index, anchor.seq) + 1;
}

async function documentsOf({ db, index, documents }: ReadModel, seqs: readonly number[]): Promise<StoredDocument[]> {
  const kept = seqs.map((seq) => {
    const document = keptDocument(documents, seq);
    return document !== undefined && isNewest(index, document) ? document : undefined;
  });
  const missing = seqs.filter((_, position) => kept[position] === undefined);
  const read = missing.length === 0 ? [] : await db.all(documentsBySeq, { seqs: missing });
  const bySeq = new Map(read.map((row) => [row.seq, row]));
  const rows = seqs.map((seq, position) => kept[position] ?? bySeq.get(seq)).filter((row) => row !== undefined);
  const shown = await rowsOfOnePage<StoredDocument>(rows, ({ seq }) => db.get(documentBySeq, { seq }));
  for (const document of shown) if (bySeq.has(document.seq)) keepDocument(documents, document);
  return shown;
}
