/** Databases on either engine, for tests that run on both. */
import type { CatalogEngine, Value } from "../../db/engine.ts";
import { type CatalogDb, openCatalog, openState, type StateDb } from "../../db/open.ts";
import { openPostgresCatalog, openPostgresState } from "../../db/postgres/open.ts";
import { aDirectory, NOON } from "./imports.ts";
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

/** Where accounts and use are that nobody else has. Each opening sees what another writes, but in memory. */
export type Place = { state: (now: number) => Promise<StateDb> };

/** For `describe.each`, as `engines`: what makes a new place. On SQLite in files, for `afterAll(dropScratch)`. */
export const places: [string, boolean, () => Promise<Place>][] = [
  ["SQLite", true, async () => inDirectory(aDirectory())],
  ["PostgreSQL", hasPostgres, onPostgres],
];

/** Where an api's databases are, unless its test says it: `FUNDFEED_TEST_ENGINE=postgres` takes whole suites to PostgreSQL. */
export const usualPlace = process.env.FUNDFEED_TEST_ENGINE === "postgres" ? onPostgres : async () => inDirectory(":memory:");

function inDirectory(directory: string): Place {
  return { state: async (now) => openState(directory, now, 0) };
}

async function onPostgres(): Promise<Place> {
  const url = await (await postgresServer()).freshDatabase();
  return { state: async (now) => (await openPostgresState(url, now, { connections: 2 })) as StateDb };
}

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
