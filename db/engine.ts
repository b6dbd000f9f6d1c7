/**
 * The seam between the domain and the two engines: bun:sqlite on the files of a data directory, PostgreSQL on several servers' behalf.
 *
 * Statements are written once, in the SQL that both understand; `dialect` has what they spell differently.
 */
import type { BaseSQLiteDatabase } from "drizzle-orm/sqlite-core";
import type * as catalogTables from "./catalog.ts";
import type { Dialect } from "./dialect.ts";
import type * as stateTables from "./state.ts";

/** Integers alone, up to 2^53: PostgreSQL would round a fraction where SQLite keeps it. */
export type Value = string | number | null | Uint8Array;

export type CatalogTables = typeof catalogTables;
export type StateTables = typeof stateTables;

/** Rows that `each` hands over at a time. */
export const PORTION = 1000;

/**
 * Statements have `?` for each value, and there are as many as the program spells: each is kept prepared. Integers come back as numbers,
 * truth as 1 or 0, bytes as a Uint8Array.
 */
export type Sql<Tables> = {
  get<Row>(statement: string, ...values: Value[]): Promise<Row | undefined>;
  all<Row>(statement: string, ...values: Value[]): Promise<Row[]>;
  /** Inserts one row and answers with its primary key, the integer column `key`. SQLite's `returning` would copy the row, a document too. */
  insert(key: string, statement: string, ...values: Value[]): Promise<number>;
  /** How many rows it wrote. */
  run(statement: string, ...values: Value[]): Promise<number>;
  /** As many rows as there are, in portions; what it reads is one state of the database. `take` asks nothing of an engine that is doing this. */
  each<Row>(statement: string, values: readonly Value[], take: (rows: Row[]) => void | Promise<void>): Promise<void>;
  /** Drizzle's builder on `tables`. */
  drizzle: BaseSQLiteDatabase<"async", unknown>;
  tables: Tables;
  dialect: Dialect;
};

/** How long to wait for readers, in milliseconds, and who is told of it, once. On files it is the time that a writer waits for another. */
export type Patience = { forMs: number; onWait: () => void };

/**
 * A database. Within `transaction` and `snapshot` whoever asks must ask the `sql` that is handed in: on SQLite, with its one connection,
 * asking the engine itself would wait for ever.
 */
export type Engine<Tables> = Sql<Tables> & {
  /** All of `write` or none of it. The write lock is taken before anything is read, so writers come one after the other (D-31). */
  transaction<T>(write: (sql: Sql<Tables>) => Promise<T>): Promise<T>;
  /** One state of the database for several reads. */
  snapshot<T>(read: (sql: Sql<Tables>) => Promise<T>): Promise<T>;
  /** A number that differs from before when anybody has committed since. NaN, which differs from itself, where only asking would tell. */
  commits(): number;
  /**
   * Takes a lock among all programs that use the database, and answers with its release; `undefined` while another program has it. It
   * ends with its program, however that ends. (On PostgreSQL with its connection too: a convenience, and no protection of what is stored.)
   */
  tryLock(name: string): Promise<(() => Promise<void>) | undefined>;
  /** Says that much is going to be written: where memory is the program's own, it takes what writing needs. */
  makeRoomForWrites(): Promise<void>;
  /** What is wrong with the storage itself: pages, indexes, references. Faults of the content are `check`'s. */
  storageFaults(): Promise<string[]>;
  /** Whether `dropUnusedPages` is allowed to whoever asks: to be asked before anything is erased. */
  mayDropUnusedPages(): Promise<boolean>;
  /** Rewrites what is stored, so that what was erased is in no unused page. False where a reader keeps it from being complete. */
  dropUnusedPages(patience?: Patience): Promise<boolean>;
  close(): Promise<void>;
};

export type CatalogDb = Engine<CatalogTables>;
/** The catalogue, or a transaction or snapshot of it. */
export type CatalogSql = Sql<CatalogTables>;
export type StateDb = Engine<StateTables>;

/** Refuses what one of the engines would alter or not take: lone surrogates, NUL, fractions and numbers that a double rounds. */
export function requireStorable(values: readonly Value[]): void {
  for (const value of values) {
    if (typeof value === "string" && (!value.isWellFormed() || value.includes("\0"))) {
      throw new Error("Cannot store a text that has NUL or half of a surrogate pair in it");
    }
    if (typeof value === "number" && !Number.isSafeInteger(value)) throw new Error(`Cannot store ${value}: it is no integer below 2^53`);
  }
}
