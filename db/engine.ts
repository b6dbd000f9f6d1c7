/** What the domain knows of a database: bun:sqlite for the files of a data directory, or PostgreSQL for several servers. */
import type { Dialect } from "./dialect.ts";
import type { Query, StatementValues } from "./query.ts";

/** That of the watches is always a file. With the name in its type, one database cannot be passed in place of another. */
export type DatabaseName = "catalog" | "state" | "watch";

export const BATCH_ROWS = 1000;

/** Runs statements. Integers come back as numbers, booleans as 1 or 0, bytes as a Uint8Array. */
export type Sql<Name extends DatabaseName> = {
  readonly name: Name;
  readonly dialect: Dialect;
  get<Values, Row>(query: Query<Values, Row>, ...values: StatementValues<Values>): Promise<Row | undefined>;
  all<Values, Row>(query: Query<Values, Row>, ...values: StatementValues<Values>): Promise<Row[]>;
  /** Inserts one row and returns the value of its column `query.key`. On SQLite without `returning`, which would copy the whole row. */
  insert<Values>(query: Query<Values, never>, values: NoInfer<Values>): Promise<number>;
  run<Values, Row>(query: Query<Values, Row>, ...values: StatementValues<Values>): Promise<number>;
  /** Passes any number of rows to `take` in batches, in one read transaction. `take` must not use the engine. */
  each<Values, Row>(query: Query<Values, Row>, values: NoInfer<Values>, take: (rows: Row[]) => void | Promise<void>): Promise<void>;
};

/** How long to wait for readers (on files, for another writer), and what to call once when the wait begins. */
export type Patience = { forMs: number; onWait: () => void };

/** Whether the open file is the one at its path, or that has gone, or is another one, as after `mv`. The open file is whole in any case. */
export type FileState = "intact" | "missing" | "replaced";

/** Within a transaction use its `sql`: SQLite has one connection, so a statement on the engine would wait for ever. */
export type Engine<Name extends DatabaseName> = Sql<Name> &
  AsyncDisposable & {
    /** Takes the write lock before anything is read, so writers run one after the other (D-31). */
    transaction<T>(write: (sql: Sql<Name>) => Promise<T>): Promise<T>;
    readTransaction<T>(read: (sql: Sql<Name>) => Promise<T>): Promise<T>;
    /** A number that changes with every commit of any process. NaN, which never equals itself, on PostgreSQL. */
    commits(): number;
    /** Locks a name for all programs; undefined while another has it. On PostgreSQL it ends with its connection, so it protects no data. */
    tryLock(name: string): Promise<Disposable | AsyncDisposable | undefined>;
    makeRoomForWrites(): Promise<void>;
    storageFaults(): Promise<string[]>;
    /** Whether this user may `vacuum`. Ask before erasing anything. */
    mayVacuum(): Promise<boolean>;
    /** So that erased data is in no unused page. False if a reader kept it from being complete. */
    vacuum(patience?: Patience): Promise<boolean>;
    /** If the file is no longer intact, removes its log, which would damage the next file at the path. */
    checkFile(): FileState;
    close(): Promise<void>;
  };

export type CatalogDb = Engine<"catalog">;
export type CatalogSql = Sql<"catalog">;
export type StateDb = Engine<"state">;
export type StateSql = Sql<"state">;
export type WatchDb = Engine<"watch">;
export type WatchSql = Sql<"watch">;
