/** Opens a SQLite file for reading. It changes no file and leaves no new one. (E-34) */
import { constants, Database } from "bun:sqlite";
import { accessSync, copyFileSync, existsSync, constants as fs, mkdtempSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { fingerprintOf } from "../file-identity.ts";
import { codeOf, Failure } from "../reason.ts";

/** `finish`, called after closing `sqlite`, throws if what was read cannot be trusted. */
export type ReadFile = { sqlite: Database; finish: () => void };

/** The index of a log starts with 32 KB. */
const ROOM_FOR_INDEX_BYTES = 65_536;

/** `waitMs` is how long to wait for a program that has locked the file. */
export function openToRead(path: string, waitMs: number, copy = copyFileSync): ReadFile {
  const [hasLog, hasIndex] = [existsSync(`${path}-wal`), existsSync(`${path}-shm`)];
  if (hasLog && hasIndex) return openInUse(path, waitMs);
  if (!hasLog) return canMakeIndex(path) ? openBesideWriters(path) : openUnchanging(path);
  // File and log were copied without the index, as by a file system snapshot. SQLite would create an index and leave it there.
  try {
    return openPrivateCopy(path, copy);
  } catch (error) {
    if (existsSync(`${path}-wal`) && !existsSync(`${path}-shm`)) throw error;
    return openToRead(path, waitMs, copy); // A program was closing or opening the file: SQLite removes the index before the log.
  }
}

/** A server or an import has it open, or was killed. A read-only connection leaves the log in place when it closes. */
function openInUse(path: string, waitMs: number): ReadFile {
  const sqlite = new Database(path, { readonly: true, strict: true });
  sqlite.run(`pragma busy_timeout = ${waitMs}`);
  try {
    sqlite.query("select 1 from sqlite_master").get();
    return { sqlite, finish: () => undefined };
  } catch (error) {
    sqlite.close(true);
    // A full disk keeps SQLite from creating the index.
    if (!/^SQLITE_(FULL|IOERR|CANTOPEN)/.test(codeOf(error))) throw error;
    return statSync(`${path}-wal`).size === 0 ? openUnchanging(path) : openPrivateCopy(path);
  }
}

/** With log and index, so that a writer that starts meanwhile sees the reader. SQLite removes both when the last connection closes. */
function openBesideWriters(path: string): ReadFile {
  const sqlite = new Database(path, { readwrite: true, strict: true });
  sqlite.run("pragma query_only = on");
  return { sqlite, finish: () => undefined };
}

/** Without locks, log or index: the only way on a read-only file system or a full disk. */
function openUnchanging(path: string): ReadFile {
  const sqlite = new Database(`${pathToFileURL(path).href}?immutable=1`, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  return { sqlite, finish: requireUnchanged(path) };
}

function openPrivateCopy(path: string, copy = copyFileSync): ReadFile {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-read-"));
  try {
    const check = requireUnchanged(path);
    const copied = join(directory, basename(path));
    for (const suffix of ["", "-wal"]) copy(`${path}${suffix}`, `${copied}${suffix}`);
    check();
    const sqlite = new Database(copied, { readwrite: true, strict: true });
    sqlite.query("select 1 from sqlite_master").get(); // Opens the log, too.
    return { sqlite, finish: () => undefined };
  } finally {
    rmSync(directory, { recursive: true, force: true }); // What is open stays readable, and nothing is left if the program is killed.
  }
}

function requireUnchanged(path: string): () => void {
  const before = fingerprintOf(path);
  return () => {
    if (fingerprintOf(path) !== before)
      throw new Failure(`Cannot trust what was read from ${path}: it was changed meanwhile; run the command again`);
  };
}

function canMakeIndex(path: string): boolean {
  try {
    for (const each of [path, dirname(path)]) accessSync(each, fs.W_OK);
    return freeBytes(path) >= ROOM_FOR_INDEX_BYTES;
  } catch {
    return false;
  }
}

/** How much room this user has on the disk of a path. Of a file system that reports no sizes, no end is known. */
export function freeBytes(path: string): number {
  const { bavail, blocks, bsize } = statfsSync(path);
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}
