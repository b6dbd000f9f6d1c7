/**
 * The engine of this run, for `describe.each` in tests that must hold on either: SQLite, and PostgreSQL where `thorough` runs them once more
 * (`FUNDFEED_TEST_ENGINE=postgres`).
 */
import { catalogs, copyTables } from "../../db/copy.ts";
import type { CatalogDb } from "../../db/engine.ts";
import { onPostgres, postgresLocation, sqliteLocation, type TestLocation } from "./database-locations.ts";
import { aDirectory, NOON } from "./imports.ts";
import { hasPostgres } from "./postgres.ts";

/** The engine's name, whether it is installed, and a function that opens a new, empty catalog on it. */
export const engines: [string, boolean, () => Promise<CatalogDb>][] = [
  onPostgres
    ? ["PostgreSQL", hasPostgres, async () => (await postgresLocation()).catalog(NOON)]
    : ["SQLite", true, () => sqliteLocation(":memory:").catalog(NOON)],
];

/** The engine's name, whether it is installed, and a function that returns a new location; on SQLite in files, for `afterAll(dropScratch)`. */
export const locations: [string, boolean, () => Promise<TestLocation>][] = [
  onPostgres ? ["PostgreSQL", hasPostgres, postgresLocation] : ["SQLite", true, async () => sqliteLocation(aDirectory())],
];

/** Copies all rows of one catalog into another, row numbers included. */
export async function copyCatalog(from: CatalogDb, to: CatalogDb): Promise<void> {
  await to.transaction((sql) => copyTables(from, sql, catalogs, () => undefined));
}
