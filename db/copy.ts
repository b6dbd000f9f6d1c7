/** Copies catalogue and state from one engine to another: every row of every table as it is, or nothing. */
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from "drizzle-orm/sqlite-core";
import * as catalogTables from "./catalog.ts";
import { type CatalogDb, type Engine, PORTION, type Sql, type StateDb, type Value } from "./engine.ts";
import { openCatalog, openState } from "./open.ts";
import * as stateTables from "./state.ts";

export type Databases = { catalog: CatalogDb; state: StateDb };

/** Rows by table. */
export type Copied = Record<string, number>;

/** Called every now and then with how many rows of a table are copied, and how many it has. */
export type Progress = (table: string, done: number, total: number) => void;

/**
 * Each database is read in one state and written in one transaction, and both transactions end together. What tells which migrations a
 * database has had is not copied: each engine has its own. Throws, with nothing changed, when a target differs from a new database.
 */
export async function copyDatabases(from: Databases, to: Databases, progress: Progress): Promise<{ catalog: Copied; state: Copied }> {
  await requireUnused(to.state, states); // Before the long work, too.
  return to.catalog.transaction(async (catalog) => {
    await requireUnused(catalog, catalogs);
    const catalogRows = await copyTables(from.catalog, catalog, catalogs, progress);
    const stateRows = await to.state.transaction(async (state) => {
      await requireUnused(state, states);
      return copyTables(from.state, state, states, async (...portion) => {
        await catalog.get("select 1"); // PostgreSQL ends a transaction in which nobody asks for a minute.
        progress(...portion);
      });
    });
    return { catalog: catalogRows, state: stateRows };
  });
}

/** A table of both engines: names in SQL. */
type Table = { name: string; columns: readonly Column[]; key: string };
type Column = { name: string; isBytes: boolean };

type Kind = { tables: readonly Table[]; openNew: () => Engine<unknown> };

export const catalogs: Kind = { tables: tablesOf(Object.values(catalogTables)), openNew: () => openCatalog(":memory:", 0) };
const states: Kind = { tables: tablesOf(Object.values(stateTables)), openNew: () => openState(":memory:", 0) };

/** Each after those that it refers to. */
function tablesOf(schema: readonly SQLiteTable[]): Table[] {
  const placed = new Map<SQLiteTable, Table>();
  const place = (table: SQLiteTable) => {
    const { name, columns, primaryKeys, foreignKeys } = getTableConfig(table);
    for (const foreignKey of foreignKeys) place(foreignKey.reference().foreignTable);
    const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
    placed.set(table, {
      name,
      columns: columns.map((column) => ({ name: column.name, isBytes: column.dataType === "buffer" })),
      key: list(key),
    });
  };
  for (const table of schema) place(table);
  return [...placed.values()];
}

function list(columns: readonly Pick<SQLiteColumn | Column, "name">[]): string {
  return columns.map(({ name }) => `"${name}"`).join(", ");
}

/** Refuses what somebody has put something into. Bytes are not looked at: each new catalogue has a secret of its own. */
async function requireUnused(target: Sql<unknown>, { tables, openNew }: Kind): Promise<void> {
  const fresh = openNew();
  try {
    for (const { name, columns, key } of tables) {
      const statement = `select ${list(columns.filter(({ isBytes }) => !isBytes))} from "${name}" order by ${key} limit ${PORTION}`;
      const [present, expected] = await Promise.all([target.all(statement), fresh.all(statement)]);
      if (!Bun.deepEquals(present, expected)) throw new Error(`it is in use already: its table "${name}" is not as in a new database`);
    }
  } finally {
    await fresh.close();
  }
}

/** Puts every row of every table in the place of those that are there. To be called in a transaction. */
export async function copyTables(
  from: Engine<unknown>,
  target: Sql<unknown>,
  kind: Kind,
  progress: (...portion: Parameters<Progress>) => void | Promise<void>,
): Promise<Copied> {
  for (const { name } of kind.tables.toReversed()) await target.run(`delete from "${name}"`); // In a new database, what the migrations put in.
  const copied: Copied = {};
  await from.snapshot(async (source) => {
    for (const { name, columns, key } of kind.tables) {
      const { count: total = 0 } = (await source.get<{ count: number }>(`select count(*) as count from "${name}"`)) ?? {};
      const insert = `insert into "${name}" (${list(columns)}) values (${columns.map(() => "?").join(", ")})`;
      let done = 0;
      await source.each<Record<string, Value>>(`select ${list(columns)} from "${name}" order by ${key}`, [], async (rows) => {
        // All at once: PostgreSQL's client sends them without waiting for each answer.
        await Promise.all(rows.map((row) => target.run(insert, ...columns.map((column) => row[column.name] ?? null))));
        done += rows.length;
        await progress(name, done, total);
      });
      copied[name] = done;
    }
  });
  await goOnCounting(target);
  return copied;
}

/** PostgreSQL numbers new rows by a sequence that knows nothing of numbers which rows brought along; SQLite looks for the largest. */
async function goOnCounting(target: Sql<unknown>): Promise<void> {
  if (target.dialect.name !== "PostgreSQL") return;
  const numbered = await target.all<{ table: string; column: string }>(
    `select table_name as "table", column_name as "column" from information_schema.columns
     where table_schema = current_schema() and is_identity = 'YES'`,
  );
  for (const { table, column } of numbered) {
    await target.run(
      `select setval(pg_get_serial_sequence('${table}', '${column}'), coalesce(max("${column}"), 0) + 1, false) from "${table}"`,
    );
  }
}
