/**
 * What the domain knows of a database. Two engines implement it: bun:sqlite on the files of a data directory, and PostgreSQL for several
 * servers. Both run the statements of `query.ts`.
 */
import type { Dialect } from "./dialect.ts";
import type { Arguments, Query } from "./query.ts";

/** Numbers are integers up to 2^53: PostgreSQL would round a fraction where SQLite keeps it. */
export type Value = string | number | null | Uint8Array;

/** There are two databases. The name keeps the one from being passed where the other is meant. */
export type DatabaseName = "catalog" | "state";

/** Rows in one batch of `each`. */
export const BATCH_ROWS = 1000;

/** Integers come back as numbers, booleans as 1 or 0, bytes as a Uint8Array. */
export type Sql<Name extends DatabaseName> = {
  readonly name: Name;
  readonly dialect: Dialect;
  /** The first row, or `undefined`. */
  get<Values, Row>(query: Query<Values, Row>, ...values: Arguments<Values>): Promise<Row | undefined>;
  all<Values, Row>(query: Query<Values, Row>, ...values: Arguments<Values>): Promise<Row[]>;
  /** Inserts one row and returns the value of `query.key`. SQLite needs no `returning` for it, which would copy the row with its document. */
  insert<Values>(query: Query<Values, never>, values: NoInfer<Values>): Promise<number>;
  /** Returns how many rows it wrote. */
  run<Values, Row>(query: Query<Values, Row>, ...values: Arguments<Values>): Promise<number>;
  /** Reads any number of rows in one read transaction and passes them to `take` in batches. `take` must not use the engine. */
  each<Values, Row>(query: Query<Values, Row>, values: NoInfer<Values>, take: (rows: Row[]) => void | Promise<void>): Promise<void>;
};

/** How long to wait for readers, in milliseconds, and who is told of it, once. On files it is the time that a writer waits for another. */
export type Patience = { forMs: number; onWait: () => void };

/**
 * State of an open database file.
 * - `intact`: the open file is the one at its path.
 * - `missing`: there is no file at its path.
 * - `replaced`: another file is at its path, for example after `mv`. The open file is still whole.
 * - `overwritten`: another program wrote into it, for example `cp`. What is read from it cannot be trusted.
 */
export type FileState = "intact" | "missing" | "replaced" | "overwritten";

/**
 * A database. Within `transaction` and `snapshot` whoever asks must ask the `sql` that is handed in: on SQLite, with its one connection,
 * asking the engine itself would wait for ever.
 */
export type Engine<Name extends DatabaseName> = Sql<Name> & {
  /** All of `write` or none of it. The write lock is taken before anything is read, so writers come one after the other (D-31). */
  transaction<T>(write: (sql: Sql<Name>) => Promise<T>): Promise<T>;
  /** One state of the database for several reads. */
  readTransaction<T>(read: (sql: Sql<Name>) => Promise<T>): Promise<T>;
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
  /** Whether `vacuum` is allowed to whoever asks: to be asked before anything is erased. */
  mayVacuum(): Promise<boolean>;
  /** Rewrites what is stored, so that what was erased is in no unused page. False where a reader keeps it from being complete. */
  vacuum(patience?: Patience): Promise<boolean>;
  /**
   * Whether the open file is still the one at its path, and only SQLite wrote to it. If not, removes its log, which would damage the new
   * file. Always `intact` on PostgreSQL.
   */
  checkFile(): FileState;
  close(): Promise<void>;
};

export type CatalogDb = Engine<"catalog">;
/** The catalog, or a transaction of it. */
export type CatalogSql = Sql<"catalog">;
export type StateDb = Engine<"state">;
export type StateSql = Sql<"state">;

/** A value that no engine is to store. */
export class Unstorable extends Error {}

/** Refuses what one of the engines would alter or not take: lone surrogates, NUL, fractions and numbers that a double rounds. */
export function requireStorable(values: readonly Value[]): void {
  for (const value of values) {
    if (typeof value === "string" && (!value.isWellFormed() || value.includes("\0"))) {
      throw new Unstorable("Cannot store a text that has NUL or half of a surrogate pair in it");
    }
    if (typeof value === "number" && !Number.isSafeInteger(value))
      throw new Unstorable(`Cannot store ${value}: it is no integer below 2^53`);
  }
}
