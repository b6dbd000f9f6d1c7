/** PostgreSQL behind the seam. */
import { crc32 } from "node:zlib";
import { drizzle } from "drizzle-orm/pg-proxy";
import { postgresDialect } from "../dialect.ts";
import { type Engine, PORTION, type Sql, type Value } from "../engine.ts";
import type { Asking, Client } from "./client.ts";
import { rewriteTables } from "./rewrite.ts";

/**
 * The first migration's row is the write lock, released by the commit after it is seen by everybody. Read committed: what is read after
 * the lock is what the last writer left. It is no advisory lock, for which CockroachDB has only a name.
 */
const WRITE_LOCK = "select 1 from migrations where n = 1 for update";

/** PostgreSQL lets the owner of a table or of the database do it, and only warns everybody else. */
const NOT_TO_BE_VACUUMED = `
  select 1 from pg_tables where schemaname = current_schema() and not pg_has_role(tableowner, 'usage')
  and not (select pg_has_role(datdba, 'usage') from pg_database where datname = current_database())`;

export function postgresEngine<Tables>(client: Client, tables: Tables): Engine<Tables> {
  const snapshot = <T>(read: (sql: Sql<Tables>) => Promise<T>) =>
    client.bracketed("begin isolation level repeatable read, read only", (connection) => read(sqlOf(connection, tables)));
  return {
    ...sqlOf(client, tables),
    each: (statement, values, take) => snapshot((sql) => sql.each(statement, values, take)),
    snapshot,
    transaction: (write) =>
      client.bracketed("begin isolation level read committed", async (connection) => {
        await connection.rows(WRITE_LOCK, []);
        return write(sqlOf(connection, tables));
      }),
    commits: () => Number.NaN,
    makeRoomForWrites: async () => undefined,
    storageFaults: async () => [], // References are enforced; for pages and indexes there are pg_checksums and pg_amcheck.
    mayDropUnusedPages: async () => (await client.rows(NOT_TO_BE_VACUUMED, [])).length === 0,
    async dropUnusedPages(patience = { forMs: 0, onWait: () => undefined }) {
      const connection = await client.apart();
      try {
        return await rewriteTables(connection, patience);
      } finally {
        await connection.close();
      }
    },
    async tryLock(name) {
      const connection = await client.apart();
      const lock = crc32(name);
      let taken = false;
      try {
        taken = (await connection.rows("select 1 where pg_try_advisory_lock(?)", [lock])).length === 1;
      } finally {
        if (!taken) await connection.close();
      }
      return taken ? () => release(lock, connection) : undefined;
    },
    close: () => client.close(),
  };
}

/** Said, as the server notices the end of a connection later than somebody may ask for the lock. Where the connection broke it is released. */
async function release(lock: number, connection: Awaited<ReturnType<Client["apart"]>>): Promise<void> {
  await connection.rows("select pg_advisory_unlock(?)", [lock]).catch(() => undefined);
  await connection.close();
}

function sqlOf<Tables>(asking: Asking, tables: Tables): Sql<Tables> {
  return {
    get: async <Row>(statement: string, ...values: Value[]) => (await asking.rows<Row>(statement, values))[0],
    all: <Row>(statement: string, ...values: Value[]) => asking.rows<Row>(statement, values),
    insert: async (key, statement, ...values) =>
      (await asking.rows<Record<string, number>>(`${statement} returning ${key}`, values))[0]?.[key] as number,
    run: (statement, ...values) => asking.written(statement, values),
    each: async <Row>(statement: string, values: readonly Value[], take: (rows: Row[]) => void | Promise<void>) => {
      const cursor = cursorFor(statement);
      await asking.rows(`declare ${cursor} no scroll cursor for ${statement}`, values);
      for (;;) {
        const rows = await asking.rows<Row>(`fetch ${PORTION} from ${cursor}`, []);
        if (rows.length > 0) await take(rows);
        if (rows.length < PORTION) break;
      }
      await asking.rows(`close ${cursor}`, []);
    },
    // The builder's statements are alike on both engines, and so are the tables, but in what they are called by TypeScript.
    drizzle: drizzle(async (statement, values, method) => ({
      rows: method === "all" ? await asking.arrays(statement, values) : await asking.rows(statement, values),
    })) as unknown as Sql<Tables>["drizzle"],
    tables,
    dialect: postgresDialect,
  };
}

/** By statement: a `fetch` is prepared once, and must not meet another statement's columns under the same name. */
const cursors = new Map<string, string>();

function cursorFor(statement: string): string {
  const name = cursors.get(statement) ?? `portions_${cursors.size + 1}`;
  cursors.set(statement, name);
  return name;
}
