/**
 * New, empty databases for a test: SQLite in memory, or PostgreSQL when `FUNDFEED_TEST_ENGINE=postgres` moves a whole run there.
 *
 * Preloaded by bunfig.toml for its time limits, the seed of random draws, and its hooks. The hooks close what a test opened on PostgreSQL when the test ends, because the server has a
 * limited number of connections. Databases opened outside a test, for all tests of a file, stay open until the run ends.
 */
import { afterEach, beforeEach, setDefaultTimeout } from "bun:test";
import fc from "fast-check";
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import { openPostgres } from "../../db/postgres/open.ts";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { searchLimit } from "../../src/search/budget.ts";
import { type PostgresServer, postgresServer } from "./postgres.ts";

searchLimit.ms = Number.POSITIVE_INFINITY; // What a page finds must not depend on how busy the machine is.

/** What fast-check draws is the same at each run of `check`. `thorough` draws others; a failure there says its seed. */
const draws = process.env.FUNDFEED_DRAWS ?? "1";
if (draws !== "random") fc.configureGlobal({ seed: Number(draws) });

/** Opens the catalog and the state of one location. Several connections to it share their data, except in memory. */
export type TestLocation = { catalog: (now: number) => Promise<CatalogDb>; state: (now: number) => Promise<StateDb> };

/** Whether `FUNDFEED_TEST_ENGINE` moves the whole run to PostgreSQL. */
export const onPostgres = process.env.FUNDFEED_TEST_ENGINE === "postgres";

/** Returns a new location on the engine of this run. */
export async function defaultLocation(): Promise<TestLocation> {
  return onPostgres ? postgresLocation() : sqliteLocation(":memory:");
}

/** Returns a location on SQLite, in files or `:memory:`. Its connections fail at once while another one writes. */
export function sqliteLocation(directory: string): TestLocation {
  return {
    catalog: async (now) => openCatalog(directory, now, { waitMs: 0 }),
    state: async (now) => openState(directory, now, { waitMs: 0 }),
  };
}

/** Databases of earlier tests, which nobody uses any more. */
const free: string[] = [];

/** Returns an empty database of `server`, or of the shared one: there an earlier test may have used it. */
export async function postgresLocation(server?: PostgresServer): Promise<TestLocation> {
  const url = server === undefined ? await anEmptyDatabase() : await server.freshDatabase();
  if (server === undefined) opened?.urls.add(url);
  return {
    catalog: async (now) => closedAfterTest(await openPostgres("catalog", url, now, { connections: 3 })), // A pull holds two of them for its locks.
    state: async (now) => closedAfterTest(await openPostgres("state", url, now, { connections: 2 })),
  };
}

/** The URL of a new database on the server of this run. For tests that only a run on PostgreSQL has: `test.if(onPostgres)`. */
export async function postgresUrl(options?: { empty?: boolean }): Promise<string> {
  return (await postgresServer()).freshDatabase(options);
}

async function anEmptyDatabase(): Promise<string> {
  const server = await postgresServer();
  const used = free.pop();
  return used !== undefined && (await server.restoreDatabase(used)) ? used : server.freshDatabase();
}

/** What the running test has opened, and the databases that it got; `undefined` outside a test. */
let opened: { connections: (CatalogDb | StateDb)[]; urls: Set<string> } | undefined;

function closedAfterTest<Db extends CatalogDb | StateDb>(db: Db): Db {
  opened?.connections.push(db);
  return db;
}

/** Of a file that runs alone: Bun's 5 s are too short on a busy machine. `bun run test` sets it for all files, so no file does. */
setDefaultTimeout(300_000);

beforeEach(() => {
  opened = { connections: [], urls: new Set() };
});

afterEach(async () => {
  const { connections = [], urls = [] } = opened ?? {};
  opened = undefined;
  await Promise.all(connections.map((db) => db.close()));
  free.push(...urls);
});
