/**
 * Link keys that an older version did not store: of award notices. They are digests, so no migration can make them; writers that turn
 * statuses do, once.
 */
import { and, asc, eq, gt } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { insertInto, orIgnore, pick, query, select, selectBy } from "../../db/query.ts";
import { opportunities, settings } from "../../db/schema/sqlite/catalog.ts";
import { readContent } from "./content.ts";
import { noteMovedKeys, saveLinkKeys } from "./link.ts";

const DONE = "award_keys";
const SOURCE = "SAM_GOV";
/** Records in one transaction, of some ten milliseconds, during which a server serves no request. */
const CHUNK = 100;

const settingByName = selectBy(settings, "name");
const insertSetting = insertInto(settings, { onConflict: orIgnore });
const recordsAfter = query({ source: opportunities.source, after: opportunities.lineage }, ({ source, after }) =>
  select(pick(opportunities, "id", "lineage", "document", "sidecar"))
    .from(opportunities)
    .where(and(eq(opportunities.source, source), gt(opportunities.lineage, after)))
    .orderBy(asc(opportunities.lineage))
    .limit(CHUNK),
);

/** Fills the keys of all stored records, once. `between` runs between two transactions. */
export async function fillLinkKeys(db: CatalogDb, between: () => Promise<void>): Promise<void> {
  if ((await db.get(settingByName, { name: DONE })) !== undefined) return;
  for (let after: string | undefined = ""; after !== undefined; await between()) after = await fillSome(db, after);
}

async function fillSome(db: CatalogDb, after: string): Promise<string | undefined> {
  return db.transaction(async (sql) => {
    const rows = await sql.all(recordsAfter, { source: SOURCE, after });
    for (const { id, document, sidecar } of rows)
      await noteMovedKeys(sql, await saveLinkKeys(sql, id, readContent(document, sidecar), false));
    if (rows.length === 0) await sql.run(insertSetting, { name: DONE, value: new Uint8Array() });
    return rows.at(-1)?.lineage;
  });
}
