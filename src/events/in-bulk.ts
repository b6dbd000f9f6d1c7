/** The events of many records at once, for copies: whole histories, or those stored after a position. None is left out. (E-47) */
import { and, asc, desc, gt, inArray, sql } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { listOf, parameter, pick, query, select, selectAmong, selectSome } from "../../db/query.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import { PAGE_BYTES_MAX, unlessLong } from "../opportunities/page.ts";
import type { EpochMs } from "../text/instant.ts";
import { type FeedPosition, requirePosition } from "./feed.ts";

export type HistoryPosition = { record: number; time: EpochMs; id: string } | null;

/** A page of long documents has fewer than asked for. */
export type BulkPage<Position> = { documents: Uint8Array[]; position: Position; hasMore: boolean };

const AT_ONCE = 100;
const [LAST_RECORD, LAST_TIME] = [Number.MAX_SAFE_INTEGER, 8.64e15];

const place = pick(events, "seq", "opportunity_seq", "detected_at", "id");
const storedAfter = query({ after: events.seq, limit: parameter<number>() }, ({ after, limit }) =>
  select(place).from(events).where(gt(events.seq, after)).orderBy(asc(events.seq)).limit(limit),
);
const historyPlaces = query(
  {
    ...{ records: listOf(opportunities.seq), record: events.opportunity_seq, time: events.detected_at, id: events.id },
    limit: parameter<number>(),
  },
  ({ records, record, time, id, limit }) =>
    // An index has all of these columns.
    select(place)
      .from(events)
      .where(
        and(
          inArray(events.opportunity_seq, records),
          sql`(${events.opportunity_seq}, ${events.detected_at}, ${events.id}) < (${record}, ${time}, ${id})`,
        ),
      )
      .orderBy(desc(events.opportunity_seq), desc(events.detected_at), desc(events.id))
      .limit(limit),
);
const recordsById = selectAmong(opportunities, ["seq"], "id");
const shortDocuments = query({ seqs: listOf(events.seq) }, ({ seqs }) =>
  select({ ...pick(events, "seq"), document: unlessLong(events.document) })
    .from(events)
    .where(inArray(events.seq, seqs)),
);
const documentBySeq = selectSome(events, ["document"], "seq");

type Place = { seq: number; opportunity_seq: number; detected_at: EpochMs; id: string };

/** At most `limit` events stored after a position, in the order of storing. Throws a LostPositionError if it is of another catalog. */
export async function readStored(db: CatalogDb, after: FeedPosition, limit: number): Promise<BulkPage<FeedPosition>> {
  return db.readTransaction(async (sql) => {
    if (after !== null) await requirePosition(sql, after);
    const places = await sql.all(storedAfter, { after: after?.seq ?? 0, limit: limit + 1 });
    const { documents, last, hasMore } = await pageOf(sql, places, limit);
    return { documents, position: last === undefined ? after : { seq: last.seq, id: last.id }, hasMore };
  });
}

/** The whole histories of these records, one after the other, each with the newest event first, at most `limit` events. */
export async function readHistories(
  db: CatalogDb,
  ids: readonly string[],
  after: HistoryPosition,
  limit: number,
): Promise<BulkPage<HistoryPosition>> {
  return db.readTransaction(async (sql) => {
    const records = (await sql.all(recordsById, { id: ids })).map(({ seq }) => seq);
    const { record, time, id } = after ?? { record: LAST_RECORD, time: LAST_TIME, id: "" };
    const places = await sql.all(historyPlaces, { records, record, time, id, limit: limit + 1 });
    const { documents, last, hasMore } = await pageOf(sql, places, limit);
    const position = last === undefined ? after : { record: last.opportunity_seq, time: last.detected_at, id: last.id };
    return { documents, position, hasMore };
  });
}

async function pageOf(sql: CatalogSql, places: readonly Place[], limit: number) {
  const documents: Uint8Array[] = [];
  const wanted = places.slice(0, limit);
  let bytes = 0;
  for (let first = 0; first < wanted.length; first += AT_ONCE) {
    const batch = wanted.slice(first, first + AT_ONCE);
    const rows = await sql.all(shortDocuments, { seqs: batch.map(({ seq }) => seq) });
    const short = new Map(rows.map(({ seq, document }) => [seq, document]));
    for (const { seq } of batch) {
      const document = short.get(seq) ?? (await sql.get(documentBySeq, { seq }))?.document;
      if (document === undefined) throw new Error(`event ${seq} has gone within a read transaction`);
      documents.push(document);
      bytes += document.length;
      if (bytes >= PAGE_BYTES_MAX) return { documents, last: wanted[documents.length - 1], hasMore: documents.length < places.length };
    }
  }
  return { documents, last: wanted.at(-1), hasMore: places.length > wanted.length };
}
