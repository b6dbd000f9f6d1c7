/** Links from stored records to other records that an import changes. (E-12) */
import type { CatalogDb } from "../../db/engine.ts";
import { findMovedLink } from "../changes/link.ts";
import { findStored } from "../changes/stored.ts";
import type { Staging } from "./staging.ts";

/** Ids that the stored record with this row number will refer to. */
export type NewLink = { seq: number; parent_id?: string; canonical_id?: string | null };

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
