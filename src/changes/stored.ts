/** Reads what is stored, for imports and other changes. Writes nothing: `commit.ts` does. */
import { and, asc, desc, eq, inArray, lte, max, ne, or, type SQL } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { listOf, parameter, pick, query, type RowsOf, select, selectSome } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { events, facets, opportunities, readings, upstreamIds } from "../../db/schema/sqlite/catalog.ts";
import type { EpochMs } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";
import { withoutContactValues } from "./contacts.ts";
import { isSameHash, type PreparedRecord } from "./content.ts";

const storedFields = [
  "seq",
  "id",
  "source_opportunity_id",
  "created_at",
  "facet_id",
  "status_basis",
  "turns_at",
  "hash",
  "document",
  "sidecar",
] as const;

export type StoredRecord = Pick<typeof opportunities.$inferSelect, (typeof storedFields)[number]>;

const isUpstreamId = ({ source, upstream_id }: { source: SQL; upstream_id: SQL }) =>
  and(eq(upstreamIds.upstream_id, upstream_id), eq(upstreamIds.source, source));

const newestStored = query({}, () => select({ newest: max(opportunities.stored_at) }).from(opportunities));
const recordByKey = selectSome(opportunities, storedFields, "source", "lineage");
const recordBySeq = selectSome(opportunities, storedFields, "seq");
const seqByKey = selectSome(opportunities, ["seq"], "source", "lineage");
const turningRecords = query({ until: opportunities.turns_at, limit: parameter<number>() }, ({ until, limit }) =>
  select(pick(opportunities, ...storedFields))
    .from(opportunities)
    .where(lte(opportunities.turns_at, until))
    .orderBy(asc(opportunities.turns_at), asc(opportunities.seq))
    .limit(limit),
);
const liveRecords = query({ source: opportunities.source }, ({ source }) =>
  select({ ...pick(opportunities, "seq", "lineage"), ...pick(facets, "status") })
    .from(opportunities)
    .innerJoin(facets, eq(facets.id, opportunities.facet_id))
    .where(and(eq(opportunities.source, source), ne(facets.status, "archived")))
    .orderBy(asc(opportunities.lineage)),
);
const recordByUpstreamId = query(pick(upstreamIds, "source", "upstream_id"), (id) =>
  select(pick(opportunities, "seq", "id"))
    .from(upstreamIds)
    .innerJoin(opportunities, eq(opportunities.seq, upstreamIds.opportunity_seq))
    .where(isUpstreamId(id))
    .orderBy(desc(eq(opportunities.source_opportunity_id, upstreamIds.upstream_id)), desc(opportunities.updated_at))
    .limit(1),
);
const lineagesByUpstreamId = query(pick(upstreamIds, "source", "upstream_id"), (id) =>
  select({ lineage: opportunities.lineage })
    .from(upstreamIds)
    .innerJoin(opportunities, eq(opportunities.seq, upstreamIds.opportunity_seq))
    .where(isUpstreamId(id)),
);
const hashesByLineages = query({ source: opportunities.source, lineages: listOf(opportunities.lineage) }, ({ source, lineages }) =>
  select(pick(opportunities, "lineage", "seq", "hash"))
    .from(opportunities)
    .where(and(eq(opportunities.source, source), inArray(opportunities.lineage, lineages))),
);
const sourceDigestsByLineages = query({ source: opportunities.source, lineages: listOf(opportunities.lineage) }, ({ source, lineages }) =>
  select({ lineage: opportunities.lineage, digest: readings.digest })
    .from(opportunities)
    .innerJoin(readings, eq(readings.opportunity_seq, opportunities.seq))
    .where(and(eq(opportunities.source, source), inArray(opportunities.lineage, lineages))),
);
const upstreamIdOfRecord = selectSome(upstreamIds, ["source"], "upstream_id", "opportunity_seq");
const eventById = selectSome(events, ["seq"], "id");
const eventsThatMayHaveContacts = query(
  { opportunity_seq: events.opportunity_seq, text: parameter<string>() },
  ({ opportunity_seq, text }, { containsText }) =>
    select(pick(events, "seq", "document"))
      .from(events)
      .where(and(eq(events.opportunity_seq, opportunity_seq), or(eq(events.origin, "imported"), containsText(events.document, text)))),
);

/** The instant for the next commit: `wanted`, or just after the newest `stored_at` if that is later (D-31). */
export async function nextInstant(sql: CatalogSql, wanted: EpochMs): Promise<EpochMs> {
  return instantAfter(await newestInstant(sql), wanted);
}

/** `wanted`, or just after `newest` if that is later. */
export function instantAfter(newest: EpochMs | undefined, wanted: EpochMs): EpochMs {
  return Math.max(wanted, (newest ?? Number.NEGATIVE_INFINITY) + 1);
}

/** The newest `stored_at`, which no `updated_at` exceeds; `undefined` while the catalog is empty. */
export async function newestInstant(sql: CatalogSql): Promise<EpochMs | undefined> {
  return (await sql.get(newestStored))?.newest ?? undefined;
}

export async function findStored(sql: CatalogSql, source: string, lineage: string): Promise<StoredRecord | undefined> {
  return sql.get(recordByKey, { source, lineage });
}

export async function isStored(sql: CatalogSql, source: string, lineage: string): Promise<boolean> {
  return (await sql.get(seqByKey, { source, lineage })) !== undefined;
}

/** The record with a row number. Rows are never deleted: throws if it is missing. */
export async function getStored(sql: CatalogSql, seq: number): Promise<StoredRecord> {
  const stored = await sql.get(recordBySeq, { seq });
  if (stored === undefined)
    throw new Failure(`Cannot find the record with row number ${seq}. Run fundfeed check to see what else is wrong`);
  return stored;
}

/** Up to `count` records whose status turn is due, the earliest first. */
export async function listTurning(sql: CatalogSql, until: EpochMs, count: number): Promise<StoredRecord[]> {
  return sql.all(turningRecords, { until, limit: count });
}

/** A source's records that are not archived (D-34). */
export async function listLive(sql: CatalogSql, source: string): Promise<RowsOf<typeof liveRecords>[]> {
  return sql.all(liveRecords, { source });
}

/** The record that has an upstream id, or had it most recently. */
export async function findByUpstreamId(sql: CatalogSql, source: string, id: string): Promise<{ seq: number; id: string } | undefined> {
  return sql.get(recordByUpstreamId, { source, upstream_id: id });
}

/** Lineages of a source's records that have or had an upstream id. */
export async function lineagesOfUpstreamId(sql: CatalogSql, source: string, upstreamId: string): Promise<string[]> {
  const rows = await sql.all(lineagesByUpstreamId, { source, upstream_id: upstreamId });
  return rows.map(({ lineage }) => lineage);
}

/** The records whose content and earlier ids are stored (D-32). Compares hashes and reads no document. */
export async function findUnchanged(sql: CatalogSql, records: readonly PreparedRecord[]): Promise<Set<PreparedRecord>> {
  const unchanged = new Set<PreparedRecord>();
  for (const [source, recordsOfSource] of Map.groupBy(records, ({ indexed }) => indexed.source.code)) {
    const lineages = recordsOfSource.map(({ lineage }) => lineage);
    // One statement, because each is a round trip on PostgreSQL.
    const stored = new Map((await sql.all(hashesByLineages, { source, lineages })).map((row) => [row.lineage, row]));
    for (const record of recordsOfSource) {
      const known = stored.get(record.lineage);
      if (known === undefined || !isSameHash(record.rendered.hash, known.hash)) continue;
      if (await hasUpstreamIds(sql, known.seq, record.earlier_ids)) unchanged.add(record);
    }
  }
  return unchanged;
}

async function hasUpstreamIds(sql: CatalogSql, seq: number, upstreamIds: readonly string[]): Promise<boolean> {
  for (const upstream_id of upstreamIds)
    if ((await sql.get(upstreamIdOfRecord, { upstream_id, opportunity_seq: seq })) === undefined) return false;
  return true;
}

/** Source digests by lineage. Reads only indexes. */
export async function findSourceDigests(sql: CatalogSql, source: string, lineages: readonly string[]): Promise<Map<string, Uint8Array>> {
  const rows = await sql.all(sourceDigestsByLineages, { source, lineages });
  return new Map(rows.map(({ lineage, digest }) => [lineage, digest]));
}

export async function hasEvent(sql: CatalogSql, id: string): Promise<boolean> {
  return (await sql.get(eventById, { id })) !== undefined;
}

/** Events with values of contacts, and their documents without these. */
export async function listEventsWithContacts(sql: CatalogSql, opportunitySeq: number): Promise<{ seq: number; redacted: Buffer }[]> {
  const rows = await sql.all(eventsThatMayHaveContacts, { opportunity_seq: opportunitySeq, text: '"field":"contacts"' });
  return rows.flatMap(({ seq, document }) => {
    const redacted = Buffer.from(JSON.stringify(withoutContactValues(parseStored(document))));
    return redacted.equals(document) ? [] : [{ seq, redacted }];
  });
}

/** Whether a record is imported without contacts while its stored history holds some. */
export async function needsHistoryRedaction(sql: CatalogSql, stored: StoredRecord, { redacted }: PreparedRecord): Promise<boolean> {
  return redacted === true && (await listEventsWithContacts(sql, stored.seq)).length > 0;
}
