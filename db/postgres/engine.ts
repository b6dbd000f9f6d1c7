/** The engine on PostgreSQL. */
import { crc32 } from "node:zlib";
import { postgresDialect } from "../dialect.ts";
import { BATCH_ROWS, type DatabaseName, type Engine, type Sql } from "../engine.ts";
import { boundTo, type Query, type StatementValues } from "../query.ts";
import type { Client, Executor } from "./client.ts";
import { rewriteTables } from "./rewrite.ts";

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
