/** Copies catalog and state to the other engine, every row unchanged or nothing. Only a kill between the two commits leaves one alone. */
import { type Column, sql } from "drizzle-orm";
import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { BATCH_ROWS, type CatalogDb, type DatabaseName, type Engine, type Sql, type StateDb } from "./engine.ts";
import { deleteFrom, insertInto, type Query, query, select } from "./query.ts";
import * as catalogTables from "./schema/sqlite/catalog.ts";
import * as stateTables from "./schema/sqlite/state.ts";
import { openCatalog, openState } from "./sqlite/open.ts";
import type { Value } from "./value.ts";

export type BothDatabases = { catalog: CatalogDb; state: StateDb };

export type Copied = Record<string, number>;

export type CopyProgress = (table: string, done: number, total: number) => void;

/** Throws, with nothing changed, if a target is not a new database. Migrations are not copied: each engine has its own. */
export async function copyDatabases(
  from: BothDatabases,
  to: BothDatabases,
  progress: CopyProgress,
): Promise<{ catalog: Copied; state: Copied }> {
  await requireUnused(to.state, states); // Also before the long work.
  return to.catalog.transaction(async (catalog) => {
    await requireUnused(catalog, catalogs);
    const catalogRows = await copyTables(from.catalog, catalog, catalogs, progress);
    const stateRows = await to.state.transaction(async (state) => {
      await requireUnused(state, states);
      return copyTables(from.state, state, states, async (...batch) => {
        await catalog.get(ping); // PostgreSQL ends a transaction that is idle for a minute.
        progress(...batch);
      });
    });
    return { catalog: catalogRows, state: stateRows };
  });
}

const ping = query({}, () => sql`select 1`);

type Row = Record<string, Value>;

type Table = ReturnType<typeof tableOf>;

type Kind<Name extends DatabaseName> = { tables: readonly Table[]; openNew: () => Engine<Name> };

export const catalogs: Kind<"catalog"> = { tables: tablesOf(Object.values(catalogTables)), openNew: () => openCatalog(":memory:", 0) };
const states: Kind<"state"> = { tables: tablesOf(Object.values(stateTables)), openNew: () => openState(":memory:", 0) };

/** Each table comes after the tables that it refers to. */
function tablesOf(schema: readonly SQLiteTable[]): Table[] {
  const tables = new Map<SQLiteTable, Table>();
  const add = (table: SQLiteTable) => {
    for (const foreignKey of getTableConfig(table).foreignKeys) add(foreignKey.reference().foreignTable);
    tables.set(table, tableOf(table));
  };
  for (const table of schema) add(table);
  return [...tables.values()];
}

function tableOf(table: SQLiteTable) {
  const { name, columns, primaryKeys } = getTableConfig(table);
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
  const fields = (some: readonly Column[]) => Object.fromEntries(some.map((column) => [column.name, column])) as Record<string, never>;
  return {
    name,
    clear: query({}, () => deleteFrom(table)) as Query<object, never>,
    count: query({}, () => select({ rows: sql<number>`count(*)` }).from(table)),
    read: query({}, () =>
      select(fields(columns))
        .from(table)
        .orderBy(...key),
    ) as Query<object, Row>,
    insert: insertInto(table) as Query<Row, never>,
    /** The first rows without their bytes, since each new catalog has its own secret. */
    sample: query({}, () =>
      select(fields(columns.filter((column) => column.getSQLType() !== "blob")))
        .from(table)
        .orderBy(...key)
        .limit(BATCH_ROWS),
    ),
  };
}

async function requireUnused<Name extends DatabaseName>(target: Sql<Name>, { tables, openNew }: Kind<Name>): Promise<void> {
  await using fresh = openNew();
  for (const { name, sample } of tables) {
    const [present, expected] = await Promise.all([target.all(sample), fresh.all(sample)]);
    if (!Bun.deepEquals(present, expected))
      throw new Error(`it already holds data: its table "${name}" differs from that of a new database`);
  }
}

/** Replaces every row of every table of the target. Call it in a transaction. */
export async function copyTables<Name extends DatabaseName>(
  from: Engine<Name>,
  target: Sql<Name>,
  kind: Kind<Name>,
  progress: (...batch: Parameters<CopyProgress>) => void | Promise<void>,
): Promise<Copied> {
  for (const { clear } of kind.tables.toReversed()) await target.run(clear); // A new database has the rows that its migrations inserted.
  const copied: Copied = {};
  await from.readTransaction(async (source) => {
    for (const { name, count, read, insert } of kind.tables) {
      const { rows: total = 0 } = (await source.get(count)) ?? {};
      let done = 0;
      await source.each(read, {}, async (rows) => {
        // All at once: the PostgreSQL client then sends them without waiting for each response.
        await Promise.all(rows.map((row) => target.run(insert, row)));
        done += rows.length;
        await progress(name, done, total);
      });
      copied[name] = done;
    }
  });
  if (target.dialect.name === "PostgreSQL") await advanceSequences(target);
  return copied;
}

const identityColumns = query(
  {},
  () => sql<{ table: string; column: string }>`
    select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = current_schema() and is_identity = 'YES'`,
);

/** PostgreSQL numbers new rows by a sequence, which copied rows do not advance. */
async function advanceSequences<Name extends DatabaseName>(target: Sql<Name>): Promise<void> {
  for (const { table, column } of await target.all(identityColumns)) {
    const [tableName, columnName] = [sql.identifier(table), sql.identifier(column)];
    const sequence = sql`pg_get_serial_sequence(${sql.raw(`'${table}'`)}, ${sql.raw(`'${column}'`)})`;
    await target.run(query({}, () => sql`select setval(${sequence}, coalesce(max(${columnName}), 0) + 1, false) from ${tableName}`));
  }
}
