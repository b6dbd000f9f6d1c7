/** Parents: the nearest earlier phase of the acquisition, also at another office if number and title agree. */
import type { CatalogDb, CatalogSql } from "../../../db/engine.ts";
import { isStored } from "../../changes/stored.ts";
import { type KeyedTitle, listKeyedTitles, listPhases } from "../../changes/versions.ts";
import { opportunityId } from "../../opportunities/identity.ts";
import type { ImportKind } from "../context.ts";
import type { Format } from "../format.ts";
import type { Staging } from "../staging.ts";
import type { PlacedVersion, Placements } from "./placing.ts";
import { areSimilar } from "./threads.ts";

const SERIES_AT_ONCE = 200;

/** A series with more keys and titles has no number of its own, so its phases in other offices are not looked for. */
const TITLES_MAX = 500;

/** By the format's rules, among the records in the files and, unless the catalog was empty, the stored ones. */
export type Parents = { format: Pick<Format, "versions">; placements: Placements; kind: ImportKind };

export type NewParent = { seq: number; parent_id: string };

type Child = KeyedTitle & { series: string };

/** The id of the parent of a version's record, as it will be once this import is stored. */
export async function findParentId(sql: CatalogSql, { source, facts }: PlacedVersion, parents: Parents): Promise<string | undefined> {
  if (facts === undefined) return undefined;
  // If the catalog was empty, all phases are in the files. Most series have only one.
  if (parents.kind !== "later" && !parents.placements.isShared(source, facts.series)) return undefined;
  return nearest(sql, source, facts, parents);
}

async function nearest(sql: CatalogSql, source: string, child: Child, parents: Parents): Promise<string | undefined> {
  const { format, placements } = parents;
  for (const lineage of format.versions?.parentsOf?.(child.revision_key) ?? []) {
    const isKnown = placements.hasLineage(source, lineage) || (await isStored(sql, source, lineage));
    if (isKnown) return opportunityId(source, lineage);
  }
  const titles = await titlesInSeries(sql, source, child.series, parents);
  const others = [...titles.keys()].filter((key) => key !== child.revision_key).sort();
  const isSimilar = (key: string) => titles.get(key)?.some(({ title }) => areSimilar(title, child.title)) === true;
  const lineage = format.versions?.parentsAmong?.(child.revision_key, others).find(isSimilar);
  return lineage === undefined ? undefined : opportunityId(source, lineage);
}

/** The keys of a series that are lineages, with the titles of their versions. None if there are too many. */
async function titlesInSeries(sql: CatalogSql, source: string, series: string, parents: Parents): Promise<Map<string, KeyedTitle[]>> {
  const inFiles = parents.placements.phasesOf(source, series, TITLES_MAX);
  const stored = await listKeyedTitles(sql, source, series, TITLES_MAX);
  const isTooMany = inFiles.length === TITLES_MAX || stored.length === TITLES_MAX;
  return Map.groupBy(isTooMany ? [] : [...inFiles, ...stored], ({ revision_key }) => revision_key);
}

/** The new links to parents of records that the import does not store itself. */
export async function listNewParents(db: CatalogDb, staging: Staging, parents: Parents): Promise<NewParent[]> {
  const { format, placements, kind } = parents;
  if (kind !== "later") return [];
  const found: NewParent[] = [];
  const mayBeParents = placements.newPhases().filter(({ revision_key }) => !format.versions?.partOf?.(revision_key));
  for (const [source, keys] of Map.groupBy(mayBeParents, (key) => key.source)) {
    const series = [...new Set(keys.map((key) => key.series))];
    for (let first = 0; first < series.length; first += SERIES_AT_ONCE) {
      await db.readTransaction(async (sql) => {
        for (const phase of await listPhases(sql, source, series.slice(first, first + SERIES_AT_ONCE))) {
          if (staging.isToWrite(source, phase.lineage)) continue;
          const parent_id = await nearest(sql, source, phase, parents);
          if (parent_id !== undefined && parent_id !== phase.parent_id) found.push({ seq: phase.seq, parent_id });
        }
      });
    }
  }
  return found;
}
