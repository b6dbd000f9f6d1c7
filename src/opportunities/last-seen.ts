/** When imports last contained what is open and states no date: only an import that lacks such a record can end it. (E-205) */
import { eq, inArray } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { deleteFrom, insertInto, listOf, orUpdate, pick, query, select } from "../../db/query.ts";
import { layoutSightings, opportunities, sightings } from "../../db/schema/sqlite/catalog.ts";
import { DAY_MS, type EpochMs } from "../text/instant.ts";
import type { LastSeen } from "./opportunity.ts";

/** What was not seen for longer is no longer taken to be open. */
export const SEEN_FOR_MS = 365 * DAY_MS;

/** Whether the source has dropped the record since, or nobody has asked the source for a year. */
export function isLongUnseen(seen: LastSeen, now: EpochMs): boolean {
  return seen.missed_at !== null || now > seen.at + SEEN_FOR_MS;
}

export const seenColumns = pick(sightings, "seen_at", "missed_at");
export const isSightingOf = eq(sightings.opportunity_seq, opportunities.seq);

const sightingsOfSource = query({ source: opportunities.source }, ({ source }) =>
  select({ ...pick(sightings, "opportunity_seq", "seen_at", "missed_at"), ...pick(opportunities, "lineage") })
    .from(sightings)
    .innerJoin(opportunities, isSightingOf)
    .where(eq(sightings.source, source)),
);
const layoutsOfSource = query({ source: sightings.source }, ({ source }) =>
  select(pick(layoutSightings, "opportunity_seq", "layout", "seen_at", "missed_at"))
    .from(sightings)
    .innerJoin(layoutSightings, eq(layoutSightings.opportunity_seq, sightings.opportunity_seq))
    .where(eq(sightings.source, source)),
);
const upsertSighting = insertInto(sightings, {
  onConflict: orUpdate(sightings.opportunity_seq, sightings.seen_at, sightings.missed_at),
});
const upsertLayout = insertInto(layoutSightings, {
  onConflict: orUpdate([layoutSightings.opportunity_seq, layoutSightings.layout], layoutSightings.seen_at, layoutSightings.missed_at),
});
const deleteSightings = query({ seqs: listOf(sightings.opportunity_seq) }, ({ seqs }) =>
  deleteFrom(sightings).where(inArray(sightings.opportunity_seq, seqs)),
);
const deleteLayouts = query({ seqs: listOf(layoutSightings.opportunity_seq) }, ({ seqs }) =>
  deleteFrom(layoutSightings).where(inArray(layoutSightings.opportunity_seq, seqs)),
);

export type Sighting = LastSeen & { seq: number; lineage: string; layouts: ReadonlyMap<string, LastSeen> };

/** What is noted of a source's records. */
export async function listSightings(sql: CatalogSql, source: string): Promise<Sighting[]> {
  const layouts = Map.groupBy(await sql.all(layoutsOfSource, { source }), ({ opportunity_seq }) => opportunity_seq);
  return (await sql.all(sightingsOfSource, { source })).map(({ opportunity_seq: seq, lineage, seen_at, missed_at }) => {
    const rows = (layouts.get(seq) ?? []).map((row) => [row.layout, { at: row.seen_at, missed_at: row.missed_at }] as const);
    return { seq, lineage, at: seen_at, missed_at, layouts: new Map(rows) };
  });
}

/** What readers get of several layouts: if any of them misses the record, the latest of those that do; else the latest sighting. */
export function acrossLayouts(layouts: readonly LastSeen[]): LastSeen {
  const missed = layouts.filter(({ missed_at }) => missed_at !== null);
  return (missed.length > 0 ? missed : layouts).reduce((one, other) => (other.at > one.at ? other : one));
}

/** Notes when a record was seen, and since when it is missing. */
export async function noteSeen(sql: CatalogSql, source: string, opportunity_seq: number, { at, missed_at }: LastSeen): Promise<void> {
  await sql.run(upsertSighting, { source, opportunity_seq, seen_at: at, missed_at });
}

/** Notes the same of files of one layout. */
export async function noteSeenIn(sql: CatalogSql, layout: string, opportunity_seq: number, { at, missed_at }: LastSeen): Promise<void> {
  await sql.run(upsertLayout, { opportunity_seq, layout, seen_at: at, missed_at });
}

/** Forgets records that have ended, or state a date now. */
export async function forgetSeen(sql: CatalogSql, seqs: readonly number[]): Promise<void> {
  if (seqs.length === 0) return;
  if ((await sql.run(deleteSightings, { seqs })) > 0) await sql.run(deleteLayouts, { seqs });
}
