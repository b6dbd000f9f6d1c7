/** Databases on either engine, for tests that run on both. A run that is on PostgreSQL as a whole leaves them out: it would only repeat them. */
import type { CatalogDb, Value } from "../../db/engine.ts";
import { aDirectory, NOON } from "./imports.ts";
import { aPostgresPlace, inDirectory, onPostgres, type Place } from "./places.ts";
import { hasPostgres } from "./postgres.ts";

/** For `describe.each`: the engine's name, whether it is installed, and what makes an empty catalogue on it. */
export const engines: [string, boolean, () => Promise<CatalogDb>][] = onPostgres
  ? []
  : [
      ["SQLite", true, () => inDirectory(":memory:").catalog(NOON)],
      ["PostgreSQL", hasPostgres, async () => (await aPostgresPlace()).catalog(NOON)],
    ];

/** The same, and what makes a new place; on SQLite in files, for `afterAll(dropScratch)`. */
export const places: [string, boolean, () => Promise<Place>][] = onPostgres
  ? []
  : [
      ["SQLite", true, async () => inDirectory(aDirectory())],
      ["PostgreSQL", hasPostgres, aPostgresPlace],
    ];

const tables = ["sources", "facets", "opportunities", "upstream_ids", "events", "imports", "settings"];

/** Makes an empty catalogue equal to another, row numbers included. */
export async function copyCatalog(from: CatalogDb, to: CatalogDb): Promise<void> {
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
