/**
 * New links between stored records and records of this import. A record's parent is the nearest earlier stage of its acquisition, whichever
 * of them was imported first.
 */
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { findMovedLink } from "../changes/link.ts";
import { findStored, isStored } from "../changes/stored.ts";
import { listStages } from "../changes/versions.ts";
import { opportunityId } from "../opportunities/identity.ts";
import type { Format } from "./format.ts";
import type { Staging } from "./staging.ts";
import type { PlacedVersion } from "./versions/placing.ts";

/** Series looked up by one statement. */
const BATCH_ROWS = 200;

type Known = { format: Pick<Format, "versions">; staging: Staging; isFirst: boolean };

/** Ids that the stored record with this row number will refer to. */
export type NewLink = { seq: number; parent_id?: string; canonical_id?: string | null };

/** The id of the parent of a version's record, as it will be when this import is stored; undefined if it has none. */
export async function findParentId(sql: CatalogSql, { source, facts }: PlacedVersion, known: Known): Promise<string | undefined> {
  return facts === undefined ? undefined : nearest(sql, source, facts.series, facts.revision_key, known);
}

async function nearest(sql: CatalogSql, source: string, series: string, key: string, known: Known): Promise<string | undefined> {
  const { format, staging, isFirst } = known;
  for (const lineage of format.versions?.parentsOf?.(series, key) ?? []) {
    const isKnown = staging.placements.hasRecord(source, lineage) || (!isFirst && (await isStored(sql, source, lineage)));
    if (isKnown) return opportunityId(source, lineage);
  }
  return undefined;
}

/** The links to parents of stored records that change with this import. Records that the import stores itself already have their parent. */
export async function listNewParents(db: CatalogDb, known: Known): Promise<NewLink[]> {
  if (known.isFirst) return [];
  const found: NewLink[] = [];
  for (const [source, series] of known.staging.placements.begunSeries()) {
    for (let first = 0; first < series.length; first += BATCH_ROWS) {
      await db.readTransaction(async (sql) => {
        for (const stage of await listStages(sql, source, series.slice(first, first + BATCH_ROWS))) {
          if (known.staging.isToWrite(source, stage.lineage)) continue;
          const parent_id = await nearest(sql, source, stage.series, stage.revision_key, known);
          if (parent_id !== undefined && parent_id !== stage.parent_id) found.push({ seq: stage.seq, parent_id });
        }
      });
    }
  }
  return found;
}

/**
 * Links that were found before this import was stored, and lead elsewhere or nowhere since: it stored the record to which they lead now,
 * changed its key, or stored another one with the same key. Importing the same files again must change nothing (D-32).
 */
export async function listMovedLinks(db: CatalogDb, staging: Staging, sources: ReadonlySet<string>): Promise<NewLink[]> {
  const found: NewLink[] = [];
  for (const links of staging.foundLinks()) {
    await db.readTransaction(async (sql) => {
      for (const link of links) {
        const canonical_id = await findMovedLink(sql, sources, link);
        const stored = canonical_id === undefined ? undefined : await findStored(sql, link.source, link.lineage);
        if (canonical_id !== undefined && stored !== undefined) found.push({ seq: stored.seq, canonical_id });
      }
    });
  }
  return found;
}
