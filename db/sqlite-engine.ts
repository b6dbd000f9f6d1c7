/** bun:sqlite behind the seam: everything answers at once, and one connection does one transaction after the other. */
import { Database, type Statement } from "bun:sqlite";
import { dirname, join } from "node:path";
import { drizzle } from "drizzle-orm/sqlite-proxy";
import { commitMark } from "./commits.ts";
import { sqliteDialect } from "./dialect.ts";
import { type Engine, PORTION, requireStorable, type Sql, type Value } from "./engine.ts";
import { codeOf } from "./reason.ts";

/** Pages that an import keeps in memory (KB): ids and hashes fall anywhere in their indexes, which at SQLite's 2 MB are read back again and again. */
const WRITER_CACHE_KB = 32_000;

/** An opened and migrated file as an engine. */
export function sqliteEngine<Tables>(sqlite: Database, tables: Tables): Engine<Tables> {
  const statements = statementCache(sqlite);
  const inside = sqlOf(sqlite, statements, tables, (work) => work());
  /** The transaction or snapshot under way; whatever else asks comes after it, and not in between. */
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
      return await bracketed(sqlite, begin, work);
    } finally {
      underWay = undefined;
      resolve();
    }
  }

  const outside = sqlOf(sqlite, statements, tables, whenFree);
  return {
    ...outside,
    each: (statement, values, take) => alone("begin", () => inside.each(statement, values, take)),
    transaction: (write) => alone("begin immediate", () => write(inside)),
    snapshot: (read) => alone("begin", () => read(inside)),
    commits: commitMark(sqlite),
    tryLock: async (name) => tryLock(sqlite.filename, name),
    makeRoomForWrites: () => whenFree(() => makeRoomForWrites(sqlite)),
    storageFaults: () => whenFree(() => storageFaults(sqlite)),
    mayDropUnusedPages: async () => true,
    dropUnusedPages: () => whenFree(() => dropUnusedPages(sqlite)),
    close: async () => sqlite.close(true), // With every statement on it: one left open would keep the file and its log.
  };
}

async function bracketed<T>(sqlite: Database, begin: string, work: () => Promise<T>): Promise<T> {
  sqlite.run(begin);
  try {
    const result = await work();
    sqlite.run("commit");
    return result;
  } catch (error) {
    if (sqlite.inTransaction) sqlite.run("rollback"); // A full disk has rolled back by itself.
    throw error;
  }
}

type Statements = (statement: string) => Statement<unknown, Value[]>;

/** Keeps every statement: there are as many as the program spells, and `sqlite.query` keeps twenty. */
function statementCache(sqlite: Database): Statements {
  const prepared = new Map<string, Statement<unknown, Value[]>>();
  return (statement) => {
    const known = prepared.get(statement);
    if (known !== undefined) return known;
    const made = sqlite.prepare<unknown, Value[]>(statement);
    prepared.set(statement, made);
    return made;
  };
}

function sqlOf<Tables>(sqlite: Database, prepared: Statements, tables: Tables, turn: <T>(work: () => T) => Promise<T> | T): Sql<Tables> {
  return {
    get: async <Row>(statement: string, ...values: Value[]) => {
      requireStorable(values);
      return turn(() => (prepared(statement).get(...values) as Row | null) ?? undefined);
    },
    all: async <Row>(statement: string, ...values: Value[]) => {
      requireStorable(values);
      return turn(() => prepared(statement).all(...values) as Row[]);
    },
    insert: async (_key, statement, ...values) => {
      requireStorable(values);
      return turn(() => Number(prepared(statement).run(...values).lastInsertRowid));
    },
    run: async (statement, ...values) => {
      requireStorable(values);
      return turn(() => prepared(statement).run(...values).changes);
    },
    each: async <Row>(statement: string, values: readonly Value[], take: (rows: Row[]) => void | Promise<void>) => {
      requireStorable(values);
      using rows = sqlite.prepare<Row, Value[]>(statement); // Its own: the same statement may be asked again meanwhile.
      let portion: Row[] = [];
      for (const row of rows.iterate(...values)) {
        if (portion.push(row) < PORTION) continue;
        await take(portion);
        portion = [];
      }
      if (portion.length > 0) await take(portion);
    },
    drizzle: drizzle(async (statement, values, method) =>
      turn(() => {
        if (method === "run") return { rows: [prepared(statement).run(...values)] };
        const rows = prepared(statement).values(...values);
        return { rows: method === "get" ? (rows[0] as unknown[]) : rows };
      }),
    ),
    tables,
    dialect: sqliteDialect,
  };
}

/** An exclusive transaction on an empty file beside the database: the operating system ends it with the process. The file is never written. */
function tryLock(path: string, name: string): (() => Promise<void>) | undefined {
  if (path === "" || path === ":memory:") return async () => undefined;
  const lock = new Database(join(dirname(path), `${name}.lock`), { create: true, strict: true });
  try {
    lock.run("begin exclusive");
    return async () => lock.close();
  } catch (error) {
    lock.close();
    if (codeOf(error).startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
}

/** Room for the indexes' pages, and memory instead of files for what a statement may undo. */
function makeRoomForWrites(sqlite: Database): void {
  sqlite.run(`pragma cache_size = -${WRITER_CACHE_KB}`);
  sqlite.run("pragma temp_store = memory");
}

function storageFaults(sqlite: Database): string[] {
  const damaged = sqlite.query<{ integrity_check: string }, []>("pragma integrity_check").all();
  const dangling = sqlite.query<{ table: string; rowid: number }, []>("pragma foreign_key_check").all();
  return [
    ...damaged.map(({ integrity_check }) => integrity_check).filter((fault) => fault !== "ok"),
    ...dangling.map(({ table, rowid }) => `row ${rowid} of ${table} refers to nothing`),
  ];
}

function dropUnusedPages(sqlite: Database): boolean {
  sqlite.run("vacuum");
  return sqlite.query<{ busy: number }, []>("pragma wal_checkpoint(truncate)").get()?.busy === 0;
}
