/**
 * The search index, `search.db`: the texts of all opportunities for full-text search, and the columns that filters compare. Made from the
 * catalog, so it can be deleted at any time. (E-44)
 */
import { Database } from "bun:sqlite";
import { accessSync, chmodSync, constants, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { headerNumber, markOwnFile, requireOwnFile, WAIT_MS } from "../../db/own-file.ts";
import { codeOf, Failure, reasonOf } from "../../db/reason.ts";
import { officesVersion } from "../agencies/offices.ts";
import { tableVersion } from "../agencies/table.ts";
import { columns } from "../filter/columns.ts";
import { CREATE_TEXTS } from "../filter/texts.ts";
import { temporaryDirectory } from "../runtime/left-behind.ts";
import { COMMON_TABLES } from "./common-rows.ts";
import { WORD_TABLES } from "./vocabulary.ts";
import { beginBuild, finishBuild } from "./write.ts";

const SEARCH_FILE = "search.db";

/** Raise this with any change of the tables or of what is written to them. An index of another version is built again. */
const VERSION = 24;

/** The number in the file's header. It also changes with the table of agencies. */
const MARK = Bun.hash.crc32(`${VERSION} ${tableVersion} ${officesVersion}`) >>> 1;

const TABLES = `
create table progress (
  only integer primary key check (only = 1),
  identity text not null, stored_at integer not null, id text not null,
  is_built integer not null, is_checked integer not null, is_same integer not null, judged_until integer not null,
  counted_until integer not null
);
create table records (seq integer primary key, id text not null, stored_at integer not null, number text not null, number_key text not null,
  due_at integer, obstacle text, turns_at integer,
  canonical_id text, duplicate_of text, ${Object.keys(columns).join(", ")});
create table agency_names (row integer primary key, words text not null unique);
create table eligibilities (row integer primary key, requirements text not null);
${WORD_TABLES};
${COMMON_TABLES};
${CREATE_TEXTS};
`;

export type SearchFile = {
  sqlite: Database;
  /** Whether the path still has the file that was opened. It can be deleted at any time, and SQLite does not write to a deleted file. */
  isInPlace: () => boolean;
  close: () => void;
};

/** Opens the index in a directory, and creates it if there is none. Throws an Error whose message is one sentence. */
export function openSearchFile(directory: string): SearchFile {
  const path = join(directory, SEARCH_FILE);
  let sqlite: Database | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.W_OK);
    sqlite = new Database(path, { create: true, strict: true });
    sqlite.run(`pragma busy_timeout = ${WAIT_MS}`);
    requireOwnFile(sqlite, SEARCH_FILE);
    prepare(sqlite);
    chmodSync(path, 0o600);
    const [opened, inode] = [sqlite, inodeOf(path)];
    return { sqlite, isInPlace: () => inodeOf(path) === inode, close: () => opened.close() };
  } catch (error) {
    sqlite?.close();
    const advice = /^SQLITE_CORRUPT/.test(codeOf(error))
      ? "it is damaged; delete it, and the next search builds it again"
      : reasonOf(error);
    throw new Failure(`Cannot open ${path}: ${advice}`, { cause: error });
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** How long a statement waits for a program that commits to the index. */
const READ_WAIT_MS = 1000;

/**
 * Opens the index in a directory for reading only, while another program may write it. Undefined if there is none that this program can read.
 */
export function openSearchFileToRead(directory: string): SearchFile | undefined {
  const path = join(directory, SEARCH_FILE);
  if (inodeOf(path) === undefined) return undefined;
  let sqlite: Database | undefined;
  try {
    sqlite = new Database(path, { readwrite: true, create: false, strict: true }); // A journal of a killed writer must be played back.
    tune(sqlite);
    sqlite.run("pragma query_only = on");
    requireOwnFile(sqlite, SEARCH_FILE);
    if (isCurrent(sqlite)) {
      sqlite.run(`pragma busy_timeout = ${READ_WAIT_MS}`);
      const [opened, inode] = [sqlite, inodeOf(path)];
      return { sqlite, isInPlace: () => inodeOf(path) === inode, close: () => opened.close() };
    }
  } catch (error) {
    if (!isBusy(error)) throw new Failure(`Cannot open ${path}: ${reasonOf(error)}`, { cause: error });
  }
  sqlite?.close();
  return undefined;
}

/** Whether another program has locked the index, as it does during a build. */
function isBusy(error: unknown): boolean {
  return /^SQLITE_BUSY/.test(codeOf(error));
}

/** Whether an index is whole, and how many rows it has. Undefined if another program has locked it. */
export function buildOf({ sqlite }: SearchFile): { isBuilt: boolean; rows: number } | undefined {
  sqlite.run("pragma busy_timeout = 0");
  try {
    const state = sqlite
      .query<{ is_built: number; rows: number | null }, []>("select is_built, (select max(seq) from records) as rows from progress")
      .get();
    return { isBuilt: state?.is_built === 1, rows: state?.rows ?? 0 };
  } catch (error) {
    if (isBusy(error)) return undefined;
    throw error;
  } finally {
    sqlite.run(`pragma busy_timeout = ${READ_WAIT_MS}`);
  }
}

/** An empty index in memory. */
export function openEmptySearchFile(): SearchFile {
  const index = openTemporarySearchFile();
  finishBuild(index.sqlite);
  index.sqlite.run("update progress set is_built = 1, is_checked = 1, is_same = 1");
  return index;
}

/** An index without a name: nothing is left of it, however the program ends. */
export function openTemporarySearchFile(): SearchFile {
  const directory = temporaryDirectory("search");
  try {
    const { sqlite, close } = openSearchFile(directory);
    sqlite.run("pragma journal_mode = memory"); // SQLite writes to no deleted file that has a journal next to it.
    sqlite.run("pragma synchronous = off"); // It is not needed after a loss of power.
    return { sqlite, isInPlace: () => true, close };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** True if the directory cannot be written to; the caller then uses a temporary index. */
export function isUnwritable(error: unknown): boolean {
  const { cause } = error as Error;
  return /^(SQLITE_(READONLY|CANTOPEN|PERM|FULL|IOERR)|EACCES|EPERM|EROFS|ENOSPC)/.test(codeOf(cause));
}

/** Whether SQLite finds damage in the index. Used to find out which of the index and the catalog is damaged. */
export function isDamaged({ sqlite }: SearchFile): boolean {
  try {
    return sqlite.query<{ quick_check: string }, []>("pragma quick_check(1)").get()?.quick_check !== "ok";
  } catch {
    return true;
  }
}

/** Drops all tables of the index and creates them again. Call it in a transaction. */
export function createIndexTables(sqlite: Database, identity: string): void {
  for (const table of [
    "progress",
    "records",
    "agency_names",
    "eligibilities",
    "texts",
    "words",
    "common_stems",
    "common_rows",
    "deleted_rows",
  ])
    sqlite.run(`drop table if exists ${table}`);
  sqlite.run(TABLES);
  beginBuild(sqlite);
  sqlite.query("insert into progress values (1, ?, -8640000000000000, '', 0, 0, 0, -8640000000000000, 0)").run(identity);
}

/**
 * The largest part of the file that SQLite maps into memory. Without mapping, half the time of a filter, which reads all rows, is spent in
 * system calls.
 */
const MAPPED_MAX = 0x7fff0000;

/** A rollback journal is harmless if the index is deleted next to it. SQLite would apply a leftover write-ahead log to the new file. */
function prepare(sqlite: Database): void {
  tune(sqlite);
  sqlite.run("pragma synchronous = normal");
  requireWritable(sqlite);
  if (isCurrent(sqlite)) return;
  sqlite
    .transaction(() => {
      if (isCurrent(sqlite)) return; // Another command was faster, and may have filled them.
      markOwnFile(sqlite, SEARCH_FILE);
      sqlite.run(`pragma user_version = ${MARK}`);
      createIndexTables(sqlite, "");
    })
    .immediate();
}

function tune(sqlite: Database): void {
  sqlite.run("pragma temp_store = memory");
  sqlite.run("pragma cache_size = -32000");
  sqlite.run(`pragma mmap_size = ${MAPPED_MAX}`); // See MAPPED_MAX.
}

/** Whether the file has the tables of this version. */
function isCurrent(sqlite: Database): boolean {
  return headerNumber(sqlite, "user_version") === MARK;
}

/** Takes and releases the write lock, so that a read-only file is noticed here. */
function requireWritable(sqlite: Database): void {
  sqlite.run("begin immediate");
  sqlite.run("rollback");
}
