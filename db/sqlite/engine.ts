/** The engine on bun:sqlite. Statements run synchronously, and the one connection runs one transaction after the other. */
import type { Database, Statement } from "bun:sqlite";
import { dirname } from "node:path";
import { sqliteDialect } from "../dialect.ts";
import { BATCH_ROWS, type DatabaseName, type Engine, type Sql } from "../engine.ts";
import { boundTo, type Query, type StatementValues } from "../query.ts";
import { Failure } from "../reason.ts";
import type { Value } from "../value.ts";
import { damageIn } from "./damage.ts";
import { tryLockIn } from "./lock.ts";
import { ownFile } from "./open-file.ts";

/** Ids and hashes are spread over their indexes; with SQLite's 2 MB, an import reads the pages again and again. */
const WRITER_CACHE_KB = 32_000;

/** The engine on a file that is open and migrated. It writes to the file only as long as that is the one at its path. */
export function sqliteEngine<Name extends DatabaseName>(sqlite: Database, name: Name): Engine<Name> {
  if (isInMemory(sqlite)) return engineOn(sqlite, name);
  const path = sqlite.filename;
  const file = ownFile(path, sqlite);
  const requireWritable = () => {
    const state = file.check();
    if (state === "intact") return;
    const what = { missing: "removed", replaced: "replaced by another file" }[state];
    throw new Error(
      `${path} was ${what} while this command wrote to it; the file there now may lack what the command stored: run it again`,
    );
  };
  return {
    ...engineOn(sqlite, name, requireWritable),
    commits: file.commits,
    checkFile: file.check,
    close: async () => file.close(),
  };
}

/** The engine on a file that is open for reading. Its locks do nothing: a lock would create a file, and a reader keeps nobody out. */
export function sqliteReader<Name extends DatabaseName>(sqlite: Database, name: Name, finish: () => void): Engine<Name> {
  const engine = engineOn(sqlite, name);
  return {
    ...engine,
    tryLock: async () => new DisposableStack(),
    close: () => engine.close().finally(finish),
  };
}

/** `beforeWrite` is called before each write, and at both ends of a transaction. It throws if the file must not be written to. */
function engineOn<Name extends DatabaseName>(sqlite: Database, name: Name, beforeWrite: () => void = () => undefined): Engine<Name> {
  const statements = statementCache(sqlite);
  const inside = sqlOf(sqlite, statements, name, (work) => {
    // A full disk makes SQLite roll back. It would then commit each further statement by itself.
    if (!sqlite.inTransaction) throw new Failure("Cannot continue a transaction that was rolled back");
    return work();
  });
  let underWay: Promise<unknown> | undefined;

  async function whenFree<T>(work: () => T): Promise<T> {
    while (underWay !== undefined) await underWay;
    return work();
  }

  async function alone<T>(begin: string, work: () => Promise<T>): Promise<T> {
    while (underWay !== undefined) await underWay;
    const { promise, resolve } = Promise.withResolvers<void>();
    underWay = promise;
    try {
      return await inTransaction(sqlite, begin, work);
    } finally {
      underWay = undefined;
      resolve();
    }
  }

  const whenWritable = <T>(work: () => T) =>
    whenFree(() => {
      beforeWrite();
      return work();
    });
  const outside = sqlOf(sqlite, statements, name, whenFree, whenWritable);
  return {
    ...outside,
    each: (query, values, take) => alone("begin", () => inside.each(query, values, take)),
    transaction: (write) =>
      alone("begin immediate", async () => {
        beforeWrite();
        const result = await write(inside);
        beforeWrite(); // Again: the transaction may have taken a second.
        return result;
      }),
    readTransaction: (read) => alone("begin", () => read(inside)),
    commits: () => Number.NaN,
    tryLock: async (lock) => (isInMemory(sqlite) ? new DisposableStack() : tryLockIn(dirname(sqlite.filename), lock)),
    makeRoomForWrites: () => whenFree(() => void sqlite.run(`pragma cache_size = -${WRITER_CACHE_KB}; pragma temp_store = memory`)),
    storageFaults: () => whenFree(() => storageFaults(sqlite)),
    mayVacuum: async () => true,
    vacuum: () => whenWritable(() => vacuum(sqlite)),
    checkFile: () => "intact",
    close: async () => sqlite.close(true),
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

function isInMemory({ filename }: Database): boolean {
  return filename === "" || filename === ":memory:";
}

async function inTransaction<T>(sqlite: Database, begin: string, work: () => Promise<T>): Promise<T> {
  sqlite.run(begin);
  try {
    const result = await work();
    sqlite.run("commit");
    return result;
  } catch (error) {
    if (sqlite.inTransaction) sqlite.run("rollback"); // After a full disk, SQLite has rolled back already.
    throw error;
  }
}

type Statements = (statement: string) => Statement<unknown, Value[]>;

/** `sqlite.query` would keep only twenty. */
function statementCache(sqlite: Database): Statements {
  const prepared = new Map<string, Statement<unknown, Value[]>>();
  return (statement) => prepared.getOrInsertComputed(statement, () => sqlite.prepare(statement));
}

type Turn = <T>(work: () => T) => Promise<T> | T;

function sqlOf<Name extends DatabaseName>(sqlite: Database, prepared: Statements, name: Name, turn: Turn, writeTurn = turn): Sql<Name> {
  const bound = <Values>(query: Query<Values, unknown>, values: StatementValues<Values>) => boundTo(sqliteDialect, query, values);
  return {
    name,
    dialect: sqliteDialect,
    get: async <Values, Row>(query: Query<Values, Row>, ...values: StatementValues<Values>) => {
      const [text, all] = bound(query, values);
      return turn(() => (prepared(text).get(...all) as Row | null) ?? undefined);
    },
    all: async <Values, Row>(query: Query<Values, Row>, ...values: StatementValues<Values>) => {
      const [text, all] = bound(query, values);
      return turn(() => prepared(text).all(...all) as Row[]);
    },
    insert: async (query, values) => {
      const [text, all] = bound(query, [values] as never);
      return writeTurn(() => Number(prepared(text).run(...all).lastInsertRowid));
    },
    run: async (query, ...values) => {
      const [text, all] = bound(query, values);
      return writeTurn(() => prepared(text).run(...all).changes);
    },
    each: async <Values, Row>(query: Query<Values, Row>, values: Values, take: (rows: Row[]) => void | Promise<void>) => {
      const [text, all] = bound(query, [values] as never);
      using rows = sqlite.prepare<Row, Value[]>(text); // Not the cached statement: it may run again before this one ends.
      let batch: Row[] = [];
      for (const row of rows.iterate(...all)) {
        if (batch.push(row) < BATCH_ROWS) continue;
        await take(batch);
        batch = [];
      }
      if (batch.length > 0) await take(batch);
    },
  };
}

function storageFaults(sqlite: Database): string[] {
  const dangling = sqlite.query<{ table: string; rowid: number }, []>("pragma foreign_key_check").all();
  return [...damageIn(sqlite), ...dangling.map(({ table, rowid }) => `row ${rowid} of ${table} refers to nothing`)];
}

function vacuum(sqlite: Database): boolean {
  sqlite.run("vacuum");
  return sqlite.query<{ busy: number }, []>("pragma wal_checkpoint(truncate)").get()?.busy === 0;
}
