/** Brings one schema of a PostgreSQL database to this program's: every migration once, in order, all or none. */
import { type Migration, missingOf } from "../migrate.ts";
import catalogInitial from "../migrations/postgres/catalog/0000_initial.sql" with { type: "text" };
import catalogNamedSources from "../migrations/postgres/catalog/0001_named_sources.sql" with { type: "text" };
import catalogReadings from "../migrations/postgres/catalog/0002_readings.sql" with { type: "text" };
import stateInitial from "../migrations/postgres/state/0000_initial.sql" with { type: "text" };
import stateFirstPlans from "../migrations/postgres/state/0001_first_plans.sql" with { type: "text" };
import stateRevisions from "../migrations/postgres/state/0002_revisions.sql" with { type: "text" };
import type { Asking, Client } from "./client.ts";

export const postgresMigrations: Record<"catalog" | "state", readonly Migration[]> = {
  catalog: [
    { tag: "0000_initial", sql: catalogInitial },
    { tag: "0001_named_sources", sql: catalogNamedSources },
    { tag: "0002_readings", sql: catalogReadings },
  ],
  state: [
    { tag: "0000_initial", sql: stateInitial },
    { tag: "0001_first_plans", sql: stateFirstPlans },
    { tag: "0002_revisions", sql: stateRevisions },
  ],
};

/** "fund" in ASCII: the advisory lock of whoever migrates, as there may be no table yet to lock. */
const MIGRATING = 0x66756e64;

/** Applies what is missing in one transaction. Throws as `missingOf` does. */
export async function migratePostgres(client: Client, schema: string, all: readonly Migration[], now: number): Promise<void> {
  if (await isUpToDate(client, all)) return; // The usual case waits for nobody.
  await client.bracketed("begin isolation level read committed", async (connection) => {
    await connection.rows("select pg_advisory_xact_lock(?)", [MIGRATING]);
    if ((await connection.rows("select 1 from pg_namespace where nspname = ?", [schema])).length === 0) {
      await connection.written(`create schema "${schema}"`, []); // Looked for first: "if not exists" asks for the right to create one, needed or not.
    }
    await connection.written(
      "create table if not exists migrations (n bigint primary key, tag text not null, hash text not null, applied_at bigint not null)",
      [],
    );
    for (const { n, tag, hash, statements } of missingOf(all, await appliedTo(connection))) {
      for (const statement of statements) await connection.written(statement, []);
      await connection.written("insert into migrations values (?, ?, ?, ?)", [n, tag, hash, now]);
    }
  });
}

/** What a program that only reads asks of a database: to be as the program knows it. */
export async function requireMigrated(client: Client, all: readonly Migration[]): Promise<void> {
  if (!(await isUpToDate(client, all)))
    throw new Error("it must be brought to this version of fundfeed first, by a command that writes to it");
}

async function isUpToDate(client: Client, all: readonly Migration[]): Promise<boolean> {
  const tables = await client.rows("select 1 from pg_tables where schemaname = current_schema() and tablename = 'migrations'", []);
  return tables.length > 0 && missingOf(all, await appliedTo(client)).length === 0;
}

function appliedTo(asking: Asking): Promise<{ hash: string }[]> {
  return asking.rows("select hash from migrations order by n", []);
}
