/** Stored versions (D-30): the record of each, and facts by which `import/versions` assigns later ones to it. */
import { createHash } from "node:crypto";
import { and, asc, count, desc, eq, sql as fragment, inArray, isNotNull } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { insertInto, listOf, orIgnore, orUpdate, parameter, pick, query, select } from "../../db/query.ts";
import { opportunities, upstreamIds, versions } from "../../db/schema/sqlite/catalog.ts";
import type { Opportunity } from "../opportunities/opportunity.ts";
import { type EpochMs, parseInstantMs } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";
import { keysOfUpstreamIds, noteMovedKeys } from "./link.ts";

const factColumns = pick(versions, "revision_key", "series", "title", "posted_at");

export type VersionFacts = { revision_key: string; series: string; title: string; posted_at: EpochMs | null };

// An id can be stored with several records. Every import must choose the same: with stored facts, else whose lineage it is, else that shows
// it, else the first. The best comes last: it stays in the map.
const versionRecordsByIds = query({ source: upstreamIds.source, ids: listOf(upstreamIds.upstream_id) }, ({ source, ids }) =>
  select({
    ...pick(upstreamIds, "upstream_id", "since"),
    lineage: opportunities.lineage,
    shown_id: opportunities.source_opportunity_id,
    ...factColumns,
  })
    .from(upstreamIds)
    .innerJoin(opportunities, eq(opportunities.seq, upstreamIds.opportunity_seq))
    .leftJoin(
      versions,
      and(
        eq(versions.source, upstreamIds.source),
        eq(versions.upstream_id, upstreamIds.upstream_id),
        eq(versions.opportunity_seq, upstreamIds.opportunity_seq),
      ),
    )
    .where(and(eq(upstreamIds.source, source), inArray(upstreamIds.upstream_id, ids)))
    .orderBy(
      isNotNull(versions.title),
      eq(opportunities.lineage, upstreamIds.upstream_id),
      eq(opportunities.source_opportunity_id, upstreamIds.upstream_id),
      desc(opportunities.seq),
    ),
);
const versionsOfSeries = query({ source: versions.source, series: listOf(versions.series) }, ({ source, series }) =>
  select({ lineage: opportunities.lineage, ...factColumns })
    .from(versions)
    .innerJoin(opportunities, eq(opportunities.seq, versions.opportunity_seq))
    .where(and(eq(versions.source, source), inArray(versions.series, series)))
    .orderBy(asc(opportunities.seq)),
);
const readingsByIds = query({ source: versions.source, ids: listOf(versions.upstream_id) }, ({ source, ids }) =>
  select({
    upstream_id: versions.upstream_id,
    reading: fragment<Uint8Array>`${versions.reading}`,
    ...pick(opportunities, "lineage", "hash"),
  })
    .from(versions)
    .innerJoin(opportunities, eq(opportunities.seq, versions.opportunity_seq))
    .where(and(eq(versions.source, source), inArray(versions.upstream_id, ids), isNotNull(versions.reading))),
);
const keyedTitlesOfSeries = query({ ...pick(versions, "source", "series"), limit: parameter<number>() }, ({ source, series, limit }) =>
  select(pick(versions, "revision_key", "title"))
    .from(versions)
    .innerJoin(opportunities, and(eq(opportunities.seq, versions.opportunity_seq), eq(opportunities.lineage, versions.revision_key)))
    .where(and(eq(versions.source, source), eq(versions.series, series)))
    .groupBy(versions.revision_key, versions.title)
    .limit(limit),
);
const recordsByLineages = query({ source: opportunities.source, lineages: listOf(opportunities.lineage) }, ({ source, lineages }) =>
  select({
    lineage: opportunities.lineage,
    shown_id: opportunities.source_opportunity_id,
    document: opportunities.document,
    ids: fragment<number>`(${select({ count: count() }).from(upstreamIds).where(eq(upstreamIds.opportunity_seq, opportunities.seq))})`,
    posted_at: versions.posted_at,
    since: upstreamIds.since,
  })
    .from(opportunities)
    .leftJoin(versions, isShownBy(versions))
    .leftJoin(upstreamIds, isShownBy(upstreamIds))
    .where(and(eq(opportunities.source, source), inArray(opportunities.lineage, lineages))),
);
const isShownBy = ({ source, upstream_id, opportunity_seq }: typeof versions | typeof upstreamIds) =>
  and(eq(source, opportunities.source), eq(upstream_id, opportunities.source_opportunity_id), eq(opportunity_seq, opportunities.seq));
const phasesOfSeries = query({ source: versions.source, series: listOf(versions.series) }, ({ source, series }) =>
  select({
    seq: opportunities.seq,
    lineage: opportunities.lineage,
    document: opportunities.document,
    ...pick(versions, "revision_key", "series", "title"),
  })
    .from(versions)
    .innerJoin(
      opportunities,
      and(eq(opportunities.seq, versions.opportunity_seq), eq(opportunities.source_opportunity_id, versions.upstream_id)),
    )
    .where(and(eq(versions.source, source), inArray(versions.series, series)))
    .orderBy(asc(opportunities.seq)),
);
const insertUpstreamId = insertInto(upstreamIds, { onConflict: orIgnore });
const upsertVersion = insertInto(versions, {
  onConflict: orUpdate(
    [versions.source, versions.upstream_id],
    versions.posted_at,
    versions.revision_key,
    versions.series,
    versions.title,
    versions.reading,
  ),
});

/** The record of a version, as shown by `shown_id`. Without facts if only the id is stored, as from an export. */
export type VersionRecord = { lineage: string; shown_id: string; since: EpochMs; facts: VersionFacts | undefined };

export async function findVersionRecords(sql: CatalogSql, source: string, ids: readonly string[]): Promise<Map<string, VersionRecord>> {
  const rows = await sql.all(versionRecordsByIds, { source, ids });
  return new Map(rows.map(({ upstream_id, ...row }) => [upstream_id, { ...row, facts: versionFactsOf(row) }]));
}

/** The facts in a row; undefined if the version is known by its id alone. */
export function versionFactsOf(row: { [Name in keyof VersionFacts]: VersionFacts[Name] | null }): VersionFacts | undefined {
  const { revision_key, series, title, posted_at } = row;
  return revision_key === null || series === null || title === null ? undefined : { revision_key, series, title, posted_at };
}

/** The stored versions of some series, those of the oldest record first. */
export async function listVersions(sql: CatalogSql, source: string, series: readonly string[]) {
  return sql.all(versionsOfSeries, { source, series });
}

/** The versions that the stored records of some lineages show, and how many upstream ids each record has. */
export async function findShownVersions(sql: CatalogSql, source: string, lineages: readonly string[]) {
  const rows = await sql.all(recordsByLineages, { source, lineages });
  return rows.map(({ document, posted_at, ...row }) => {
    const { title, dates } = parseStored<Opportunity>(document);
    const due_at = parseInstantMs(dates.response_at ?? dates.closes_at) ?? null;
    return { ...row, title, posted_at: posted_at ?? parseInstantMs(dates.posted_at) ?? null, due_at };
  });
}

/** A revision key that is a lineage, and the title of one of its versions. */
export type KeyedTitle = { revision_key: string; title: string };

/** Up to `limit` keys of a series, with the titles of their versions. */
export async function listKeyedTitles(sql: CatalogSql, source: string, series: string, limit: number): Promise<KeyedTitle[]> {
  return sql.all(keyedTitlesOfSeries, { source, series, limit });
}

/** The phases of some acquisitions, each with the keys of the version that its record shows, in the order in which they were stored. */
export async function listPhases(sql: CatalogSql, source: string, series: readonly string[]) {
  const rows = await sql.all(phasesOfSeries, { source, series });
  return rows.map(({ document, ...row }) => ({ ...row, parent_id: parseStored<Opportunity>(document).relationships.parent_id }));
}

/** By id, the versions that were read: lineage and hash of the record, and the stored result of `readingOf`. */
export async function findReadings(sql: CatalogSql, source: string, ids: readonly string[]) {
  const rows = await sql.all(readingsByIds, { source, ids });
  return new Map(rows.map((row) => [row.upstream_id, row]));
}

/** The digest of a version's text and of its record's content when it was read. */
export function readingOf(digest: Uint8Array, recordHash: Uint8Array): Buffer {
  return createHash("sha256").update(digest).update(recordHash).digest();
}

type SavedVersion = { source: string; id: string; facts?: VersionFacts | undefined; digest?: Uint8Array | undefined };

/** Stores a version's record, facts, and that it was read when the record had this hash. */
export async function saveVersion(
  sql: CatalogSql,
  seq: number,
  { source, id, facts, digest }: SavedVersion,
  { shown_id, hash }: { shown_id: string; hash: Uint8Array },
  since: EpochMs,
): Promise<void> {
  if (id !== shown_id && (await sql.run(insertUpstreamId, { upstream_id: id, source, opportunity_seq: seq, since })) > 0)
    await noteMovedKeys(sql, keysOfUpstreamIds(source, [id]));
  const reading = digest === undefined ? null : readingOf(digest, hash);
  if (facts !== undefined) await sql.run(upsertVersion, { source, upstream_id: id, opportunity_seq: seq, ...facts, reading });
}
