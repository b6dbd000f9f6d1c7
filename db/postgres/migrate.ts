/** Migrates the schemas of a PostgreSQL database to this program's: every migration once, in order, all or none. */
import { type Migration, missingOf } from "../migration.ts";
import catalogInitial from "../migrations/postgres/catalog/0000_initial.sql" with { type: "text" };
import catalogSightings from "../migrations/postgres/catalog/0001_sightings.sql" with { type: "text" };
import catalogCounts from "../migrations/postgres/catalog/0002_counts.sql" with { type: "text" };
import catalogLayouts from "../migrations/postgres/catalog/0003_layout_sightings.sql" with { type: "text" };
import stateInitial from "../migrations/postgres/state/0000_initial.sql" with { type: "text" };
import type { Client, Executor } from "./client.ts";

export const postgresMigrations: Record<Kind, Migration[]> = {
  catalog: [
    { tag: "0000_initial", sql: catalogInitial },
    { tag: "0001_sightings", sql: catalogSightings },
    { tag: "0002_counts", sql: catalogCounts },
    { tag: "0003_layout_sightings", sql: catalogLayouts },
  ],
  state: [{ tag: "0000_initial", sql: stateInitial }],
};

/** The advisory lock of a migration, "fund" in ASCII. There may be no table yet that could be locked. */
const MIGRATING = 0x66756e64;

export const schemas = { catalog: "fundfeed_catalog", state: "fundfeed_state" } as const;
export type Kind = keyof typeof schemas;

/** Migrates a schema, and creates the other one, so that both can be copied and granted. Returns the schemas that were older. */
export async function migratePostgres(client: Client, kind: Kind, now: number): Promise<Migrated[]> {
  const present = await client.rows("select 1 from pg_namespace where nspname in (?, ?)", Object.values(schemas));
  if (present.length === 2 && (await schemaVersionOf(client, kind)).missing === 0) return []; // The usual case, without a lock.
  const versions = await inUnlimitedTransaction(client, async (connection) => {
    await connection.rows("select pg_advisory_xact_lock(?)", [MIGRATING]);
    // The usual limit again: while a statement waits for a table, all later requests for that table wait behind it.
    await connection.execute("reset lock_timeout", []);
    return [await migrateSchema(connection, "catalog", now), await migrateSchema(connection, "state", now)];
  });
  return versions.filter(({ from, to }) => from > 0 && from < to);
}

/** A migration of millions of records takes minutes, and programs that start meanwhile wait for it. */
async function inUnlimitedTransaction<T>(client: Client, work: (connection: Executor) => Promise<T>): Promise<T> {
  await using connection = await client.dedicated(); // Its end rolls back unless committed.
  await connection.execute("set lock_timeout = 0", []);
  await connection.execute("begin isolation level read committed", []);
  const result = await work(connection);
  await connection.execute("commit", []);
  return result;
}

type Migrated = { schema: string; from: number; to: number };

/** How many of this program's migrations a schema has, and how many it lacks. Throws as `missingOf` does. */
export async function schemaVersionOf(executor: Executor, kind: Kind): Promise<{ applied: number; missing: number }> {
  const schema = schemas[kind];
  const tables = await executor.rows("select 1 from pg_tables where schemaname = ? and tablename = 'migrations'", [schema]);
  const applied = tables.length === 0 ? [] : await appliedTo(executor, schema);
  return { applied: applied.length, missing: missingOf(postgresMigrations[kind], applied).length };
}

async function migrateSchema(connection: Executor, kind: Kind, now: number): Promise<Migrated> {
  const schema = schemas[kind];
  if ((await connection.rows("select 1 from pg_namespace where nspname = ?", [schema])).length === 0) {
    await connection.execute(`create schema "${schema}"`, []); // Checked first: "if not exists" requires the right to create a schema even if it exists.
  }
  await connection.execute(
    `create table if not exists "${schema}".migrations (n bigint primary key, tag text not null, hash text not null, applied_at bigint not null)`,
    [],
  );
  const applied = await appliedTo(connection, schema);
  for (const { n, tag, hash, statements } of missingOf(postgresMigrations[kind], applied)) {
    await connection.execute(`set local search_path to "${schema}"`, []);
    for (const statement of statements) await connection.execute(statement, []);
    await connection.execute(`insert into "${schema}".migrations values (?, ?, ?, ?)`, [n, tag, hash, now]);
  }
  return { schema, from: applied.length, to: postgresMigrations[kind].length };
}

function appliedTo(executor: Executor, schema: string): Promise<{ hash: string }[]> {
  return executor.rows(`select hash from "${schema}".migrations order by n`, []);
}
