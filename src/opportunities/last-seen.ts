/**
 * When imports last contained what is open and states no date: nothing else would ever end it. Of such a record, an import that lacks it tells
 * more than its status. (E-205)
 */
import { eq, inArray } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { deleteFrom, insertInto, listOf, orUpdate, pick, query, type RowsOf, select } from "../../db/query.ts";
import { opportunities, sightings } from "../../db/schema/sqlite/catalog.ts";
import { DAY_MS, type EpochMs } from "../text/instant.ts";
import type { LastSeen } from "./opportunity.ts";

/** What was not seen for longer is no longer taken to be open. */
export const SEEN_FOR_MS = 365 * DAY_MS;

/** Whether the source has dropped the record since, or nobody has asked the source for a year. */
export function isLongUnseen(seen: LastSeen, now: EpochMs): boolean {
  return seen.missed_at !== null || now > seen.at + SEEN_FOR_MS;
}

/** The columns of `sightings` that readers of records need, and how they join. */
export const seenColumns = pick(sightings, "seen_at", "missed_at");
export const isSightingOf = eq(sightings.opportunity_seq, opportunities.seq);

const sightingsOfSource = query({ source: opportunities.source }, ({ source }) =>
  select({ ...pick(sightings, "opportunity_seq", "seen_at", "missed_at"), ...pick(opportunities, "lineage") })
    .from(sightings)
    .innerJoin(opportunities, isSightingOf)
    .where(eq(sightings.source, source)),
);
const upsertSighting = insertInto(sightings, {
  onConflict: orUpdate(sightings.opportunity_seq, sightings.seen_at, sightings.missed_at),
});
const deleteSightings = query({ seqs: listOf(sightings.opportunity_seq) }, ({ seqs }) =>
  deleteFrom(sightings).where(inArray(sightings.opportunity_seq, seqs)),
);

export type Sighting = RowsOf<typeof sightingsOfSource>;

/** What is noted of a source's records. */
export async function listSightings(sql: CatalogSql, source: string): Promise<Sighting[]> {
  return sql.all(sightingsOfSource, { source });
}

/** Notes when a record was seen, and since when it is missing. */
export async function noteSeen(sql: CatalogSql, source: string, opportunity_seq: number, { at, missed_at }: LastSeen): Promise<void> {
  await sql.run(upsertSighting, { source, opportunity_seq, seen_at: at, missed_at });
}

/** Forgets records that have ended, or state a date now. */
export async function forgetSeen(sql: CatalogSql, seqs: readonly number[]): Promise<void> {
  if (seqs.length > 0) await sql.run(deleteSightings, { seqs });
}
