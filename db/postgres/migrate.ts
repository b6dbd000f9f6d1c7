/** Brings the schemas of a PostgreSQL database to this program's: every migration once, in order, all or none. */
import { type Migration, missingOf } from "../migrate.ts";
import catalogInitial from "../migrations/postgres/catalog/0000_initial.sql" with { type: "text" };
import catalogNamedSources from "../migrations/postgres/catalog/0001_named_sources.sql" with { type: "text" };
import catalogReadings from "../migrations/postgres/catalog/0002_readings.sql" with { type: "text" };
import catalogLongTexts from "../migrations/postgres/catalog/0003_long_texts.sql" with { type: "text" };
import stateInitial from "../migrations/postgres/state/0000_initial.sql" with { type: "text" };
import stateFirstPlans from "../migrations/postgres/state/0001_first_plans.sql" with { type: "text" };
import stateRevisions from "../migrations/postgres/state/0002_revisions.sql" with { type: "text" };
import type { Asking, Client } from "./client.ts";

export const postgresMigrations: Record<Kind, readonly Migration[]> = {
  catalog: [
    { tag: "0000_initial", sql: catalogInitial },
    { tag: "0001_named_sources", sql: catalogNamedSources },
    { tag: "0002_readings", sql: catalogReadings },
    { tag: "0003_long_texts", sql: catalogLongTexts },
  ],
  state: [
    { tag: "0000_initial", sql: stateInitial },
    { tag: "0001_first_plans", sql: stateFirstPlans },
    { tag: "0002_revisions", sql: stateRevisions },
  ],
};

/** "fund" in ASCII: the advisory lock of whoever migrates, as there may be no table yet to lock. */
const MIGRATING = 0x66756e64;

/** What the schemas are called, by what is in them. */
export const schemas = { catalog: "fundfeed_catalog", state: "fundfeed_state" } as const;
export type Kind = keyof typeof schemas;

/**
 * Brings the schema of a kind to this program's version, and makes the other one where it is missing, so that a database that was only
 * imported into can be copied, and rights on both can be granted. In one transaction. Throws as `missingOf` does.
 */
export async function migratePostgres(client: Client, kind: Kind, now: number): Promise<void> {
  if ((await haveBothSchemas(client)) && (await isUpToDate(client, kind))) return; // The usual case waits for nobody.
  await client.bracketed("begin isolation level read committed", async (connection) => {
    await connection.rows("select pg_advisory_xact_lock(?)", [MIGRATING]);
    await migrateSchema(connection, "catalog", now);
    await migrateSchema(connection, "state", now);
  });
}

/** What a program that only reads asks of a database: to be as the program knows it. */
export async function requireMigrated(client: Client, kind: Kind): Promise<void> {
  if (!(await isUpToDate(client, kind)))
    throw new Error(
      "it must be brought to this version of fundfeed first, by a command that writes to it; a replica, by following its primary",
    );
}

async function migrateSchema(connection: Asking, kind: Kind, now: number): Promise<void> {
  const schema = schemas[kind];
  if ((await connection.rows("select 1 from pg_namespace where nspname = ?", [schema])).length === 0) {
    await connection.written(`create schema "${schema}"`, []); // Looked for first: "if not exists" asks for the right to create one, needed or not.
  }
  await connection.written(
    `create table if not exists "${schema}".migrations (n bigint primary key, tag text not null, hash text not null, applied_at bigint not null)`,
    [],
  );
  for (const { n, tag, hash, statements } of missingOf(postgresMigrations[kind], await appliedTo(connection, schema))) {
    await connection.written(`set local search_path to "${schema}"`, []);
    for (const statement of statements) await connection.written(statement, []);
    await connection.written(`insert into "${schema}".migrations values (?, ?, ?, ?)`, [n, tag, hash, now]);
  }
}

async function haveBothSchemas(asking: Asking): Promise<boolean> {
  return (await asking.rows("select 1 from pg_namespace where nspname in (?, ?)", Object.values(schemas))).length === 2;
}

async function isUpToDate(asking: Asking, kind: Kind): Promise<boolean> {
  const schema = schemas[kind];
  const tables = await asking.rows("select 1 from pg_tables where schemaname = ? and tablename = 'migrations'", [schema]);
  return tables.length > 0 && missingOf(postgresMigrations[kind], await appliedTo(asking, schema)).length === 0;
}

function appliedTo(asking: Asking, schema: string): Promise<{ hash: string }[]> {
  return asking.rows(`select hash from "${schema}".migrations order by n`, []);
}
