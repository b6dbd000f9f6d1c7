/** Catalogues on either engine, for tests that run on both. */
import type { CatalogEngine, Value } from "../../db/engine.ts";
import { type CatalogDb, openCatalog } from "../../db/open.ts";
import { openPostgresCatalog } from "../../db/postgres/open.ts";
import { NOON } from "./imports.ts";
import { hasPostgres, postgresServer } from "./postgres.ts";

/** For `describe.each`: the engine's name, whether it is installed, and what makes an empty catalogue on it. */
export const engines: [string, boolean, () => Promise<CatalogDb>][] = [
  ["SQLite", true, async () => openCatalog(":memory:", NOON)],
  [
    "PostgreSQL",
    hasPostgres,
    async () => {
      const url = await (await postgresServer()).freshDatabase();
      return (await openPostgresCatalog(url, NOON)) as CatalogDb; // For code that asks the engine alone: it has no `sqlite`.
    },
  ],
];

const tables = ["sources", "facets", "opportunities", "upstream_ids", "events", "imports", "settings"];

/** Makes an empty catalogue equal to another, row numbers included. */
export async function copyCatalog(from: CatalogEngine, to: CatalogEngine): Promise<void> {
  await to.transaction(async (sql) => {
    for (const table of tables) {
      await sql.run(`delete from ${table}`);
      for (const row of await from.all<Record<string, Value>>(`select * from ${table}`)) {
        const names = Object.keys(row);
        await sql.run(`insert into ${table} (${names.join()}) values (${names.map(() => "?").join()})`, ...Object.values(row));
      }
    }
  });
}
