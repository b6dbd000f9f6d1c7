/** Reads the records of an export, now or as of an instant, and writes NDJSON lines with everything that `import records` needs. */
import { asc, sql as fragment, inArray } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { listOf, pick, query, type RowsOf, select } from "../../db/query.ts";
import { events, facets, opportunities, sightings, upstreamIds } from "../../db/schema/sqlite/catalog.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { shownAt } from "../opportunities/clock.ts";
import { isSightingOf, seenColumns } from "../opportunities/last-seen.ts";
import { type WholeOpportunity, wholeOpportunity } from "../opportunities/opportunity.ts";
import { readDuplicates } from "../opportunities/related.ts";
import { eachPastRow, type PastRow } from "../past/as-of.ts";
import { readPastDuplicates } from "../past/whole.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";

const recordsInOrder = () =>
  select({
    ...pick(opportunities, "seq", "id", "source_opportunity_id", "lineage", "status_basis", "turns_at", "document", "sidecar"),
    ...seenColumns,
  })
    .from(opportunities)
    .leftJoin(sightings, isSightingOf)
    .orderBy(asc(opportunities.updated_at), asc(opportunities.id));
const allRecords = query({}, recordsInOrder);
const recordsOfSources = query({ codes: listOf(opportunities.source) }, ({ codes }) =>
  recordsInOrder().where(inArray(opportunities.source, codes)),
);
const upstreamIdsOfRows = query({ seqs: listOf(upstreamIds.opportunity_seq) }, ({ seqs }) =>
  select({ seq: upstreamIds.opportunity_seq, ...pick(upstreamIds, "upstream_id", "since") })
    .from(upstreamIds)
    .where(inArray(upstreamIds.opportunity_seq, seqs))
    .orderBy(asc(upstreamIds.upstream_id)),
);
const eventsOfRows = query({ seqs: listOf(events.opportunity_seq) }, ({ seqs }) =>
  select({ seq: events.opportunity_seq, document: events.document })
    .from(events)
    .where(inArray(events.opportunity_seq, seqs))
    .orderBy(asc(events.opportunity_seq), asc(events.detected_at), asc(events.seq)),
);

const saved = { records: fragment<number>`cast(coalesce(sum(${facets.records}), 0) as bigint)` };
const countAll = query({}, () => select(saved).from(facets));
const countOfSources = query({ codes: listOf(facets.source) }, ({ codes }) =>
  select(saved).from(facets).where(inArray(facets.source, codes)),
);

type RecordRow = RowsOf<typeof allRecords>;
type AnyRow = Omit<RecordRow, keyof typeof seenColumns> &
  Partial<Pick<RecordRow, keyof typeof seenColumns> & Pick<PastRow, "history" | "erased">>;
type UpstreamId = RowsOf<typeof upstreamIdsOfRows>;

/** The records at `asOf`, as they are at `now`, or as they are stored. `report` gets how many were read, of the saved count of all. */
export type Selection = {
  codes?: readonly string[] | undefined;
  isIncluded?: ((opportunity: WholeOpportunity, duplicates: readonly WholeOpportunity[]) => boolean) | undefined;
  now?: EpochMs | undefined;
  asOf?: EpochMs | undefined;
  /** Called once for each record whose contacts at `asOf` are not known, because they were erased since. */
  noteErased?: () => void;
  report?: (read: number, total: number) => void | Promise<void>;
};

/** Calls `take` with one line for each record, least recently updated first, in one read transaction. */
export async function exportLines(db: CatalogDb, selection: Selection, take: (line: string) => void): Promise<void> {
  await eachBatch(db, selection, {}, async (sql, rows) => {
    const found = await sql.all(upstreamIdsOfRows, { seqs: rows.map(({ seq }) => seq) });
    const ids = Map.groupBy(found, ({ seq }) => seq);
    const { asOf } = selection;
    for (const row of rows) {
      const all = ids.get(row.seq) ?? [];
      take(lineOf(row, asOf === undefined ? all : all.filter(({ since }) => since <= asOf), instantOf(selection)));
    }
  });
}

/** Calls `take` with each opportunity with its sidecar and its other records, in the same order. */
export async function exportOpportunities(
  db: CatalogDb,
  selection: Selection,
  take: (opportunity: WholeOpportunity, duplicates: readonly WholeOpportunity[]) => void,
): Promise<void> {
  await eachBatch(db, selection, { duplicates: true }, (_, rows, duplicates) => {
    for (const row of rows) {
      const opportunity = wholeOpportunity(at(row, instantOf(selection)));
      take(opportunity, duplicates.get(opportunity.id) ?? []);
    }
  });
}

/** Calls `take` with each opportunity, all of its events, the oldest first, its JSON text and its other records, in the same order. */
export async function exportHistories(
  db: CatalogDb,
  selection: Selection,
  take: (opportunity: WholeOpportunity, history: OpportunityEvent[], text: string, duplicates: readonly WholeOpportunity[]) => void,
): Promise<void> {
  await eachBatch(db, selection, { duplicates: true, histories: true }, async (sql, rows, duplicates) => {
    const found = selection.asOf !== undefined ? [] : await sql.all(eventsOfRows, { seqs: rows.map(({ seq }) => seq) });
    const histories = Map.groupBy(found, ({ seq }) => seq);
    for (const stored of rows) {
      const row = at(stored, instantOf(selection));
      const documents = stored.history ?? (histories.get(row.seq) ?? []).map(({ document }) => document);
      const history = documents.map((document) => parseStored<OpportunityEvent>(document));
      const opportunity = wholeOpportunity(row);
      take(opportunity, history, utf8.decode(row.document), duplicates.get(opportunity.id) ?? []);
    }
  });
}

type Duplicates = ReadonlyMap<string, readonly WholeOpportunity[]>;

type Besides = { duplicates?: boolean; histories?: boolean };

async function eachBatch(
  db: CatalogDb,
  selection: Selection,
  besides: Besides,
  take: (sql: CatalogSql, rows: readonly AnyRow[], duplicates: Duplicates) => void | Promise<void>,
): Promise<void> {
  const { codes, isIncluded, asOf, noteErased, report } = selection;
  await db.readTransaction(async (sql) => {
    const counted = codes === undefined ? await sql.get(countAll) : await sql.get(countOfSources, { codes });
    let read = 0;
    const takeBatch = async (rows: AnyRow[]) => {
      const hasDuplicates = besides.duplicates === true || isIncluded !== undefined;
      const duplicates: Duplicates = hasDuplicates ? await duplicatesOf(sql, rows, selection) : new Map();
      const isWanted = (row: AnyRow) => isIncluded?.(wholeOpportunity(at(row, instantOf(selection))), duplicates.get(row.id) ?? []) ?? true;
      const included = isIncluded === undefined ? rows : rows.filter(isWanted);
      for (const { erased = null } of included) if (erased !== null) noteErased?.();
      await take(sql, included, duplicates);
      read += rows.length;
      await report?.(read, counted?.records ?? 0);
    };
    if (asOf !== undefined) await eachPastRow(sql, asOf, { codes, histories: besides.histories === true }, takeBatch);
    else if (codes === undefined) await sql.each(allRecords, {}, takeBatch);
    else await sql.each(recordsOfSources, { codes }, takeBatch);
  });
}

async function duplicatesOf(
  sql: CatalogSql,
  rows: readonly AnyRow[],
  { asOf, now = Number.NEGATIVE_INFINITY }: Selection,
): Promise<Duplicates> {
  const ids = rows.map(({ id }) => id);
  if (asOf === undefined) return readDuplicates(sql, ids, now);
  const past = rows.map((row) => wholeOpportunity(at(row, asOf)));
  return readPastDuplicates(sql, past, asOf);
}

const utf8 = new TextDecoder();

function instantOf({ asOf, now }: Selection): EpochMs | undefined {
  return asOf ?? now;
}

function at<Row extends AnyRow>(row: Row, now: EpochMs | undefined): Row {
  return now === undefined ? row : shownAt(row, now);
}

/** `as_stored` has what the clock changes: a restored catalog has the record as it was stored, and its clock tells clients of the change. (D-31) */
function lineOf(row: AnyRow, upstreamIds: readonly UpstreamId[], now: EpochMs | undefined): string {
  const { source_opportunity_id, lineage, status_basis, sidecar } = row;
  const { document } = at(row, now);
  const asStored = Buffer.compare(document, row.document) === 0 ? "" : `,"as_stored":${JSON.stringify(ofClock(row.document))}`;
  const earlierIds = upstreamIds.map(({ upstream_id }) => upstream_id).filter((id) => id !== source_opportunity_id);
  const unserved = `"lineage":${JSON.stringify(lineage)},"earlier_ids":${JSON.stringify(earlierIds)},"status_basis":"${status_basis}"`;
  return `${utf8.decode(document).slice(0, -1)},${utf8.decode(sidecar).slice(1, -1)},${unserved}${asStored}${lastSeenIn(row)}}`;
}

function ofClock(document: Uint8Array) {
  const { status, status_display, dates } = parseStored<WholeOpportunity>(document);
  return { status, status_display, response_at: dates.response_at };
}

function lastSeenIn({ seen_at = null, missed_at = null }: AnyRow): string {
  if (seen_at === null) return "";
  const last_seen = { at: formatInstant(seen_at), missed_at: missed_at === null ? null : formatInstant(missed_at) };
  return `,"last_seen":${JSON.stringify(last_seen)}`;
}
