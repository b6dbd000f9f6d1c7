/** Opens the two files of a data directory, creating and migrating them where needed. */
import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { CatalogDb, StateDb } from "./engine.ts";
import { migrate, migrations } from "./migrate.ts";
import { reasonOf } from "./reason.ts";
import { sqliteEngine } from "./sqlite-engine.ts";

/** For who is concerned with files themselves: backups, and tests. Everybody else asks the engine. */
export type CatalogFile = CatalogDb & { sqlite: Database };
export type StateFile = StateDb & { sqlite: Database };

/** How long a writer waits for another, in milliseconds. A server waits for nobody: waiting would stall every request. */
export const WRITER_WAITS_MS = 30_000;

/** Of new files. Catalogues hold documents of some KB, which leave half of a page of 4 KB empty, and an import makes half as many system calls with 16 KB. */
const PAGE_BYTES = { catalog: 16_384, state: 4096 };

/** How much the write-ahead log holds before it is checkpointed: at SQLite's 4 MB each chunk of an import would be written twice at once, four times as slow. */
const CHECKPOINT_BYTES = 64_000_000;

/** "ffct" and "ffst" in ASCII: how SQLite's header says whose file it is. */
const APPLICATION_IDS = { catalog: 0x66666374, state: 0x66667374 };

export const fileNames = { catalog: "catalog.db", state: "state.db" };

/** `directory` is a path, or ":memory:". Throws an Error with one sentence. */
export function openCatalog(directory: string, now: number, waitMs = WRITER_WAITS_MS): CatalogFile {
  const sqlite = open(directory, "catalog", now, waitMs);
  // Looked for first: even an insert that does nothing would wait for a writer.
  if (sqlite.query("select 1 from settings where name = 'cursor_secret'").get() === null)
    sqlite.run("insert into settings (name, value) values ('cursor_secret', randomblob(32)) on conflict do nothing");
  return { ...sqliteEngine(sqlite, "catalog"), sqlite };
}

export function openState(directory: string, now: number, waitMs = WRITER_WAITS_MS): StateFile {
  const sqlite = open(directory, "state", now, waitMs);
  return { ...sqliteEngine(sqlite, "state"), sqlite };
}

function open(directory: string, kind: "catalog" | "state", now: number, waitMs: number): Database {
  const path = directory === ":memory:" ? directory : join(directory, fileNames[kind]);
  let sqlite: Database | undefined;
  try {
    if (path !== ":memory:") mkdirSync(directory, { recursive: true, mode: 0o700 });
    sqlite = new Database(path, { create: true, strict: true });
    sqlite.run(`pragma busy_timeout = ${WRITER_WAITS_MS}`); // First, so that a writer in another process is waited for from here on.
    sqlite.run(`pragma page_size = ${PAGE_BYTES[kind]}`); // Before anything is written, and of no effect later.
    const isMarked = refuseForeignFile(sqlite, kind);
    useWriteAheadLog(sqlite);
    if (!isMarked) sqlite.run(`pragma application_id = ${APPLICATION_IDS[kind]}`); // Before the first table, in case we are killed in between.
    sqlite.run("pragma foreign_keys = on");
    sqlite.run(`pragma synchronous = ${kind === "catalog" ? "full" : "normal"}`); // state.db may forget a second (D-25).
    sqlite.run(`pragma wal_autocheckpoint = ${Math.floor(CHECKPOINT_BYTES / pageBytesOf(sqlite))}`);
    migrate(sqlite, migrations[kind], now);
    sqlite.run(`pragma busy_timeout = ${waitMs}`);
    return sqlite;
  } catch (error) {
    sqlite?.close();
    throw new Error(`Cannot open ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

function pageBytesOf(sqlite: Database): number {
  return sqlite.query<{ page_size: number }, []>("pragma page_size").get()?.page_size ?? PAGE_BYTES.catalog;
}

/** Whether the file bears our mark already; one that is empty may get it. */
export function refuseForeignFile(sqlite: Database, kind: "catalog" | "state"): boolean {
  const { application_id } = sqlite.query<{ application_id: number }, []>("pragma application_id").get() ?? { application_id: 0 };
  if (application_id === APPLICATION_IDS[kind]) return true;
  const tables = sqlite.query<{ count: number }, []>("select count(*) as count from sqlite_master").get();
  if (application_id !== 0 || (tables !== null && tables.count > 0)) throw new Error(`it is not a fundfeed ${fileNames[kind]}`);
  return false;
}

/** Two processes that switch a new file together can fail despite a busy timeout, so the mode is read first and the switch tried again. */
function useWriteAheadLog(sqlite: Database): void {
  for (let attempt = 1; ; attempt++) {
    const mode = sqlite.query<{ journal_mode: string }, []>("pragma journal_mode").get()?.journal_mode;
    if (mode === "wal" || mode === "memory") return;
    try {
      sqlite.run("pragma journal_mode = wal");
    } catch (error) {
      if (attempt === 5) throw error;
      Bun.sleepSync(50);
    }
  }
}
