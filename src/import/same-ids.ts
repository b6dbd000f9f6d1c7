/**
 * Records of two sources that have the same upstream id are one opportunity, whatever their numbers: the website's file of
 * Simpler.Grants.gov knows only the UUID that its API adds to a record of Grants.gov. The record of the file then names the other one, so that
 * lists show one row (E-57). (E-72)
 */
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { type Content, readContent } from "../changes/content.ts";
import { findByUpstreamId, findStored } from "../changes/stored.ts";
import { opportunityId } from "../opportunities/identity.ts";
import type { NewLink } from "./links.ts";
import type { Staging } from "./staging.ts";

/** The source whose records have a second id, and the source whose records have it as their only one. */
const [CANONICAL, OTHER] = ["GRANTS_GOV", "SIMPLER_GRANTS_GOV"];

/** The id of the stored record that has the same upstream id in the other source; undefined if there is none. */
export async function findSame(sql: CatalogSql, { source }: Pick<Content, "source">): Promise<string | undefined> {
  return source.code === OTHER ? (await findByUpstreamId(sql, CANONICAL, source.opportunity_id))?.id : undefined;
}

/** Links to the records of an import from stored ones that have one of their upstream ids and name another record, or none. */
export async function listSame(db: CatalogDb, staging: Staging): Promise<NewLink[]> {
  const found: NewLink[] = [];
  for (const ids of staging.upstreamIdsIn(CANONICAL)) {
    await db.readTransaction(async (sql) => {
      for (const { lineage, id } of ids) {
        const stored = await findStored(sql, OTHER, id);
        const canonical_id = opportunityId(CANONICAL, lineage);
        if (stored === undefined || readContent(stored.document, stored.sidecar).relationships.canonical_id === canonical_id) continue;
        found.push({ seq: stored.seq, canonical_id });
      }
    });
  }
  return found;
}
