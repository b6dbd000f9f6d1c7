/** The engine on PostgreSQL. */
import { crc32 } from "node:zlib";
import { postgresDialect } from "../dialect.ts";
import { BATCH_ROWS, type DatabaseName, type Engine, type Patience, type Sql } from "../engine.ts";
import { boundTo, type Query, type StatementValues } from "../query.ts";
import { sqlStateOf } from "../reason.ts";
import type { Client, Executor } from "./client.ts";

/** The write lock (D-31) is the row of the first migration: its commit releases it exactly, and CockroachDB ignores advisory locks. */
const WRITE_LOCK = "select 1 from migrations where n = 1 for update";

/** PostgreSQL lets the owner of a table or of the database vacuum it, and only warns everybody else. */
const NOT_TO_BE_VACUUMED = `
  select 1 from pg_tables where schemaname = current_schema() and not pg_has_role(tableowner, 'usage')
  and not (select pg_has_role(datdba, 'usage') from pg_database where datname = current_database())`;

/** Without a limit on idle time: a reader keeps no writer waiting, and an export idles while the reader of its pipe is slow. */
const BEGIN_READ = "begin isolation level repeatable read, read only; set local idle_in_transaction_session_timeout = 0";

export function postgresEngine<Name extends DatabaseName>(client: Client, name: Name): Engine<Name> {
  const readTransaction = <T>(read: (sql: Sql<Name>) => Promise<T>) =>
    client.inTransaction(BEGIN_READ, (connection) => read(sqlOf(connection, name)));
  return {
    ...sqlOf(client, name),
    each: (query, values, take) => readTransaction((sql) => sql.each(query, values, take)),
    readTransaction,
    transaction: (write) =>
      client.inTransaction("begin isolation level read committed", async (connection) => {
        await connection.rows(WRITE_LOCK, []);
        return write(sqlOf(connection, name));
      }),
    commits: () => Number.NaN,
    makeRoomForWrites: async () => undefined,
    storageFaults: async () => [], // PostgreSQL enforces references; pg_checksums and pg_amcheck check pages and indexes.
    mayVacuum: async () => (await client.rows(NOT_TO_BE_VACUUMED, [])).length === 0,
    async vacuum(patience = { forMs: 0, onWait: () => undefined }) {
      await using connection = await client.dedicated();
      return await rewriteTables(connection, patience);
    },
    async tryLock(lockName) {
      const connection = await client.dedicated();
      const lock = crc32(lockName);
      let taken = false;
      try {
        taken = (await connection.rows("select 1 where pg_try_advisory_lock(?)", [lock])).length === 1;
      } finally {
        if (!taken) await connection.close();
      }
      return taken ? { [Symbol.asyncDispose]: () => release(lock, connection) } : undefined;
    },
    checkFile: () => "intact",
    close: () => client.close(),
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

/** The server may notice a closed connection too late for the next program. */
async function release(lock: number, connection: Awaited<ReturnType<Client["dedicated"]>>): Promise<void> {
  await connection.rows("select pg_advisory_unlock(?)", [lock]).catch(() => undefined);
  await connection.close();
}

function sqlOf<Name extends DatabaseName>(executor: Executor, name: Name): Sql<Name> {
  const bound = <Values>(query: Query<Values, unknown>, values: StatementValues<Values>) => boundTo(postgresDialect, query, values);
  return {
    name,
    dialect: postgresDialect,
    get: async <Values, Row>(query: Query<Values, Row>, ...values: StatementValues<Values>) =>
      (await executor.rows<Row>(...bound(query, values)))[0],
    all: <Values, Row>(query: Query<Values, Row>, ...values: StatementValues<Values>) => executor.rows<Row>(...bound(query, values)),
    insert: async (query, values) => {
      const [text, all] = bound(query, [values] as never);
      const key = query.key as string;
      return (await executor.rows<Record<string, number>>(`${text} returning ${key}`, all))[0]?.[key] as number;
    },
    run: (query, ...values) => executor.execute(...bound(query, values)),
    each: async <Values, Row>(query: Query<Values, Row>, values: Values, take: (rows: Row[]) => void | Promise<void>) => {
      const [text, all] = bound(query, [values] as never);
      const cursor = cursorFor(text);
      await executor.rows(`declare ${cursor} no scroll cursor for ${text}`, all);
      for (;;) {
        const rows = await executor.rows<Row>(`fetch ${BATCH_ROWS} from ${cursor}`, []);
        if (rows.length > 0) await take(rows);
        if (rows.length < BATCH_ROWS) break;
      }
      await executor.rows(`close ${cursor}`, []);
    },
  };
}

/** Names by statement: a prepared `fetch` must not meet the columns of another statement under the same cursor name. */
const cursors = new Map<string, string>();

function cursorFor(statement: string): string {
  return cursors.getOrInsert(statement, `batches_${cursors.size + 1}`);
}

/** Readers wait behind VACUUM FULL: so less than their time limit, and more than the second after which an autovacuum is cancelled. */
const [LOCK_WAIT_MS, PAUSE_MS] = [2000, 8000];
/** A connection that is being opened reads for a moment, this command's own ones too. */
const OPENING_MS = 1000;
const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Rewrites the tables of a schema, so that erased data is in none of their unused space. Returns false if a table could not be locked in time, or
 * still holds old versions because a reader can see them.
 */
export async function rewriteTables(connection: Executor, { forMs, onWait }: Patience): Promise<boolean> {
  await connection.execute(`set lock_timeout = ${LOCK_WAIT_MS}`, []);
  const tables = await connection.rows<{ name: string }>("select tablename as name from pg_tables where schemaname = current_schema()", []);
  let waitedMs = 0;
  /** False if the table could not be locked in time, or has more row versions than it had rows. */
  const rewrite = async (table: string): Promise<boolean> => {
    for (;;) {
      const [before] = await connection.rows<{ count: number }>(`select count(*) as count from "${table}"`, []);
      if (await isVacuumed(connection, table)) return (await connection.rows(MORE_THAN, [`"${table}"`, before?.count ?? 0])).length === 0;
      if (waitedMs >= forMs) return false;
      if (waitedMs === 0) onWait();
      await Bun.sleep(PAUSE_MS);
      waitedMs += LOCK_WAIT_MS + PAUSE_MS;
    }
  };
  let areAllClean = true;
  for (const { name } of tables) {
    if (await rewrite(name)) continue;
    await Bun.sleep(OPENING_MS);
    if (!(await rewrite(name))) areAllClean = false; // Twice, because a row that was inserted meanwhile looks like an old version.
  }
  return areAllClean;
}

async function isVacuumed(connection: Executor, table: string): Promise<boolean> {
  try {
    await connection.execute(`vacuum (full) "${table}"`, []);
    return true;
  } catch (error) {
    if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    return false;
  }
}

/** VACUUM FULL rebuilds the index of the primary key with every row version. `reltuples` is in single precision. */
const MORE_THAN = `
  select 1 from pg_class join pg_index on indexrelid = oid
  where indrelid = ?::regclass and indisprimary and reltuples > ?::real`;
