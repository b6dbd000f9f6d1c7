/**
 * Parents: the record of a version has the nearest earlier stage of its acquisition as its parent, whichever of them was imported first.
 * (E-11)
 */
import type { CatalogDb, CatalogSql } from "../../../db/engine.ts";
import { isStored } from "../../changes/stored.ts";
import { listStages } from "../../changes/versions.ts";
import { opportunityId } from "../../opportunities/identity.ts";
import type { Versions } from "../format.ts";
import type { NewLink } from "../links.ts";
import type { Staging } from "../staging.ts";
import type { PlacedVersion, Placements } from "./placing.ts";

/** Series looked up by one statement. */
const SERIES_AT_ONCE = 200;

/** How parents are found: by the format's rule, among the records in the files and, unless the catalog was empty, the stored ones. */
export type Parents = { parentsOf: Versions["parentsOf"]; placements: Placements; isFirst: boolean };

/** The id of the parent of a version's record, as it will be when this import is stored; undefined if it has none. */
export async function findParentId(sql: CatalogSql, { source, facts }: PlacedVersion, parents: Parents): Promise<string | undefined> {
  return facts === undefined ? undefined : nearest(sql, source, facts.series, facts.revision_key, parents);
}

async function nearest(sql: CatalogSql, source: string, series: string, key: string, parents: Parents): Promise<string | undefined> {
  const { parentsOf, placements, isFirst } = parents;
  for (const lineage of parentsOf?.(series, key) ?? []) {
    const isKnown = placements.hasRecord(source, lineage) || (!isFirst && (await isStored(sql, source, lineage)));
    if (isKnown) return opportunityId(source, lineage);
  }
  return undefined;
}

/** The links to parents of stored records that change with this import. Records that the import stores itself already have their parent. */
export async function listNewParents(db: CatalogDb, staging: Staging, parents: Parents): Promise<NewLink[]> {
  if (parents.isFirst) return [];
  const found: NewLink[] = [];
  for (const [source, series] of parents.placements.begunSeries()) {
    for (let first = 0; first < series.length; first += SERIES_AT_ONCE) {
      await db.readTransaction(async (sql) => {
        for (const stage of await listStages(sql, source, series.slice(first, first + SERIES_AT_ONCE))) {
          if (staging.isToWrite(source, stage.lineage)) continue;
          const parent_id = await nearest(sql, source, stage.series, stage.revision_key, parents);
          if (parent_id !== undefined && parent_id !== stage.parent_id) found.push({ seq: stage.seq, parent_id });
        }
      });
    }
  }
  return found;
}
