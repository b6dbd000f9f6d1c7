/**
 * New places for databases, which nobody else has: in memory, or on PostgreSQL, to which `FUNDFEED_TEST_ENGINE=postgres` takes a whole run.
 *
 * Preloaded for its hooks: what a test opens on PostgreSQL is closed at its end, as the server has only so many connections. What is
 * opened for all tests of a file stays until the end of the run.
 */
import { afterEach, beforeEach } from "bun:test";
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import { openPostgresCatalog, openPostgresState } from "../../db/postgres/open.ts";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { postgresServer } from "./postgres.ts";

/** Each opening sees what another writes, but in memory. */
export type Place = { catalog: (now: number) => Promise<CatalogDb>; state: (now: number) => Promise<StateDb> };

export const onPostgres = process.env.FUNDFEED_TEST_ENGINE === "postgres";

/** Where a test's databases are, unless it says it. */
export async function usualPlace(): Promise<Place> {
  return onPostgres ? aPostgresPlace() : inDirectory(":memory:");
}

/** A writer does not wait for another. */
export function inDirectory(directory: string): Place {
  return {
    catalog: async (now) => openCatalog(directory, now, { waitMs: 0 }),
    state: async (now) => openState(directory, now, { waitMs: 0 }),
  };
}

export async function aPostgresPlace(): Promise<Place> {
  const url = await (await postgresServer()).freshDatabase();
  const options = { connections: 3 }; // A pull holds two of them for its locks.
  return {
    catalog: async (now) => noted(await openPostgresCatalog(url, now, options)),
    state: async (now) => noted(await openPostgresState(url, now, options)),
  };
}

/** What the test that is running has opened. */
let opened: (CatalogDb | StateDb)[] | undefined;

function noted<Db extends CatalogDb | StateDb>(db: Db): Db {
  opened?.push(db);
  return db;
}

beforeEach(() => {
  opened = [];
});

afterEach(async () => {
  const finished = opened ?? [];
  opened = undefined;
  await Promise.all(finished.map((db) => db.close()));
});
