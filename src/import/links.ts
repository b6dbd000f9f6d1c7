/**
 * What an import finds out about records that are stored: the nearest earlier stage of the same acquisition is a record's parent, whichever of
 * them came first; and of two records that older programs stored for one version, the one that is kept up to date is the canonical one.
 */
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { readContent } from "../changes/content.ts";
import { findStored, isStored } from "../changes/stored.ts";
import { listStages } from "../changes/versions.ts";
import { opportunityId } from "../opportunities/identity.ts";
import type { Format } from "./format.ts";
import type { Placed } from "./placing.ts";
import type { Staging } from "./staging.ts";

/** Series that are looked up by one statement. */
const BATCH_ROWS = 200;

type Known = { format: Pick<Format, "versions">; staging: Staging; isFirst: boolean };

/** What the stored record of a row number is to name from now on. */
export type NewLink = { seq: number; parent_id?: string; canonical_id?: string };

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

export async function listNewLinks(db: CatalogDb, known: Known): Promise<NewLink[]> {
  return known.isFirst ? [] : [...(await listNewParents(db, known)), ...(await listTwins(db, known))];
}

/** To those that the import writes itself, it has given the parent already. */
async function listNewParents(db: CatalogDb, known: Known): Promise<NewLink[]> {
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

async function listTwins(db: CatalogDb, { staging }: Known): Promise<NewLink[]> {
  const found: NewLink[] = [];
  for (const twins of staging.placements.twins()) {
    await db.readTransaction(async (sql) => {
      for (const { source, lineage, twin } of twins) {
        const stored = await findStored(sql, source, twin);
        if (stored === undefined || readContent(stored.document, stored.sidecar).relationships.canonical_id !== null) continue;
        found.push({ seq: stored.seq, canonical_id: opportunityId(source, lineage) });
      }
    });
  }
  return found;
}
