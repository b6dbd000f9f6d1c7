/** Databases on either engine, for tests that run on both. A run that is on PostgreSQL as a whole leaves them out: it would only repeat them. */
import { catalogs, copyTables } from "../../db/copy.ts";
import type { CatalogDb } from "../../db/engine.ts";
import { aDirectory, NOON } from "./imports.ts";
import { aPostgresPlace, inDirectory, onPostgres, type Place } from "./places.ts";
import { hasPostgres } from "./postgres.ts";

/** For `describe.each`: the engine's name, whether it is installed, and what makes an empty catalog on it. */
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

/** Makes a catalog equal to another, row numbers included. */
export async function copyCatalog(from: CatalogDb, to: CatalogDb): Promise<void> {
  await to.transaction((sql) => copyTables(from, sql, catalogs, () => undefined));
}
