/** Builders of records, so that a test states only the fields that it is about. */
import type { CatalogDb } from "../../db/engine.ts";
import { atNextInstant, insertRecord, updateRecord } from "../../src/changes/commit.ts";
import { prepareRecord } from "../../src/changes/content.ts";
import { decideImport } from "../../src/changes/decide.ts";
import { findStored } from "../../src/changes/stored.ts";
import type { Draft } from "../../src/import/format.ts";
import { validateRecord } from "../../src/import/validate.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";

/** A small valid record, with the given fields in place of its own. */
export function anOpportunity(fields: Partial<Draft> = {}): Draft {
  return { source: { code: "SAM", opportunity_id: "N0" }, title: "A title", status: "open", ...fields };
}

/** Stores records as an import does, at one instant: `at`, or just after the newest `updated_at`. Returns their ids. */
export async function storeRecords(db: CatalogDb, records: readonly Draft[], at: number): Promise<string[]> {
  return atNextInstant(db, at, async (writing) => {
    const { sql } = writing;
    const ids: string[] = [];
    for (const record of records) {
      const prepared = prepareRecord(validateRecord(record, new Map()));
      const { source } = prepared.indexed;
      const stored = await findStored(sql, source.code, prepared.lineage);
      const decision = decideImport(stored, prepared, writing);
      if (stored === undefined) await insertRecord(writing, decision, prepared, 0);
      else await updateRecord(writing, stored, decision, prepared.earlier_ids, 0);
      ids.push(opportunityId(source.code, prepared.lineage));
    }
    return ids;
  });
}
