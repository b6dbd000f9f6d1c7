/** A record's parent is the nearest earlier stage of its acquisition that the catalogue has, whichever of them came first. */
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { isStored } from "../changes/commit.ts";
import { listStages } from "../changes/versions.ts";
import { opportunityId } from "../opportunities/identity.ts";
import type { Format } from "./format.ts";
import type { Placed } from "./placing.ts";
import type { Staging } from "./staging.ts";

/** Series that are looked up by one statement. */
const PORTION = 200;

type Known = { format: Pick<Format, "versions">; staging: Staging; isFirst: boolean };

export type NewParent = { seq: number; parent_id: string };

/** The parent of a version's record, once this import is stored. */
export async function findParentId(sql: CatalogSql, { source, facts }: Placed, known: Known): Promise<string | undefined> {
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

/** Stored records, by row number, to which this import brings a nearer earlier stage. Those that it writes itself have it already. */
export async function listNewParents(db: CatalogDb, known: Known): Promise<NewParent[]> {
  const found: NewParent[] = [];
  if (known.isFirst) return found;
  for (const [source, series] of known.staging.placements.begunSeries()) {
    for (let first = 0; first < series.length; first += PORTION) {
      await db.snapshot(async (sql) => {
        for (const stage of await listStages(sql, source, series.slice(first, first + PORTION))) {
          if (known.staging.isToWrite(source, stage.lineage)) continue;
          const parent_id = await nearest(sql, source, stage.series, stage.revision_key, known);
          if (parent_id !== undefined && parent_id !== stage.parent_id) found.push({ seq: stage.seq, parent_id });
        }
      });
    }
  }
  return found;
}
