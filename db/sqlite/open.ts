/** Opens the files of a data directory. */
import { Database } from "bun:sqlite";
import { closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseName, Engine } from "../engine.ts";
import { identityOf } from "../file-identity.ts";
import { missingOf } from "../migration.ts";
import { cannotOpen, isReading, migrated, NoData, type Opening, olderVersion } from "../opening.ts";
import { headerNumber, markOwnFile, requireOwnFile, WAIT_MS } from "../own-file.ts";
import { codeOf, reasonOf } from "../reason.ts";
import { sqliteEngine, sqliteReader } from "./engine.ts";
import { hasForeignLog } from "./log-owner.ts";
import { appliedTo, migrate, migrations } from "./migrate.ts";
import { openToRead, type ReadFile } from "./read-file.ts";

/** With the connection itself, for backups and tests. Everything else uses the engine. */
export type DatabaseFile<Name extends DatabaseName> = Engine<Name> & { sqlite: Database };

/** Documents of a few KB leave half of a 4 KB page empty; with 16 KB, an import also makes half as many system calls. */
const PAGE_BYTES = { catalog: 16_384, state: 4096, watch: 4096 };

/** With SQLite's 4 MB, each chunk of an import starts a checkpoint, and takes four times as long. */
const CHECKPOINT_BYTES = 64_000_000;

export const fileNames = { catalog: "catalog.db", state: "state.db", watch: "watch.db" } as const;

/** `waitMs` is how long a writer waits for another one, and a reader for a restore. */
export type FileOpening = Opening & { waitMs?: number };

const opener =
  <Name extends DatabaseName>(kind: Name) =>
  (directory: string, now: number, opening: FileOpening = {}): DatabaseFile<Name> =>
    openFile(kind, directory, now, opening);

/** `directory` is a path, or ":memory:". Throws an Error whose message is one sentence. */
export const openCatalog = opener("catalog");
export const openState = opener("state");
export const openWatchFile = opener("watch");

function openFile<Name extends DatabaseName>(kind: Name, directory: string, now: number, opening: FileOpening): DatabaseFile<Name> {
  const { mode = "create" } = opening;
  if (!isReading(mode)) {
    const sqlite = open(directory, kind, now, opening);
    return { ...sqliteEngine(sqlite, kind), sqlite };
  }
  try {
    return openReader(directory, kind, mode, opening);
  } catch (error) {
    if (!(error instanceof NoData)) throw error;
    // Before the first watch or key is stored, a new file in memory holds the same.
    if (kind === "watch" || (kind === "state" && isThere(directory, "catalog"))) return openFile(kind, ":memory:", now, {});
    throw error;
  }
}

/** Whether a directory has a watch.db. */
export function hasWatches(directory: string): boolean {
  return isThere(directory, "watch");
}

function open(
  directory: string,
  kind: DatabaseName,
  now: number,
  { mode = "create", waitMs = WAIT_MS, onMigrated }: FileOpening,
): Database {
  const path = pathOf(directory, kind);
  return naming(path, () => {
    if (mode === "change") requireThere(directory, kind);
    if (path !== ":memory:") makeFile(directory, path);
    const opened = openPresent(path, kind, WAIT_MS, () => ({
      sqlite: new Database(path, { create: true, strict: true }),
      finish: () => undefined,
    }));
    return closingOnFailure(opened, ({ sqlite, isMarked }) => {
      useWriteAheadLog(sqlite);
      if (!isMarked) markOwnFile(sqlite, fileNames[kind]);
      sqlite.run("pragma foreign_keys = on");
      sqlite.run(`pragma synchronous = ${kind === "state" ? "normal" : "full"}`); // state.db may lose a second (D-25).
      sqlite.run(`pragma wal_autocheckpoint = ${Math.floor(CHECKPOINT_BYTES / headerNumber(sqlite, "page_size"))}`);
      const before = migrate(sqlite, migrations[kind], now);
      const known = migrations[kind].length;
      if (before > 0 && before < known) onMigrated?.(migrated(path, before, known));
      // Checked first, because even an insert without effect waits for a writer.
      if (kind === "catalog" && sqlite.query("select 1 from settings where name = 'cursor_secret'").get() === null)
        sqlite.run("insert into settings (name, value) values ('cursor_secret', randomblob(32)) on conflict do nothing");
      sqlite.run(`pragma busy_timeout = ${waitMs}`); // Last: until here, programs that open a new file at once wait for each other.
      return sqlite;
    });
  });
}

function openReader<Name extends DatabaseName>(directory: string, kind: Name, mode: "read" | "inspect", { waitMs = WAIT_MS }: FileOpening) {
  const path = pathOf(directory, kind);
  return naming(path, () => {
    requireThere(directory, kind);
    return closingOnFailure(
      openPresent(path, kind, waitMs, () => openToRead(path, waitMs)),
      ({ sqlite, finish }) => {
        const [applied, known] = [appliedTo(sqlite), migrations[kind].length];
        const missing = missingOf(migrations[kind], applied).length;
        if (applied.length === 0) throw noData(directory, kind); // The command that created it was killed at once.
        if (missing > 0 && mode === "read") throw olderVersion(applied.length, known);
        return { ...sqliteReader(sqlite, kind, finish), sqlite };
      },
    );
  });
}

/** Makes an empty file first, so that `openPresent` notices if it is replaced. */
function makeFile(directory: string, path: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  requireOwnLog(path);
  if (identityOf(path) === undefined) closeSync(openSync(path, "a", 0o600));
}

/** Opens the file once it can be read. A program that waited for a restore has the old file open, and must open the new one. */
function openPresent(path: string, kind: DatabaseName, waitMs: number, open: () => ReadFile): ReadFile & { isMarked: boolean } {
  for (;;) {
    if (path !== ":memory:") requireOwnLog(path, waitMs);
    const identity = path === ":memory:" ? undefined : identityOf(path);
    const file = closingOnFailure(open(), (opened) => {
      opened.sqlite.run(`pragma busy_timeout = ${waitMs}`); // First, so that the next statements wait for a writer of another process.
      opened.sqlite.run(`pragma page_size = ${PAGE_BYTES[kind]}`); // It has an effect only before the first write.
      return { ...opened, isMarked: requireOwnFile(opened.sqlite, fileNames[kind]) };
    });
    if (path === ":memory:" || identityOf(path) === identity) return file;
    file.sqlite.close();
    file.finish();
  }
}

/** How long to wait for a server to remove the log of a replaced file. */
const [WAIT_FOR_REMOVAL_MS, LOOK_EVERY_MS] = [3000, 50];

/** Refuses a file if the log next to it belongs to another file. SQLite would apply that log. */
export function requireOwnLog(path: string, waitMs = WAIT_FOR_REMOVAL_MS): void {
  for (let waitedMs = 0; hasForeignLog(path); waitedMs += LOOK_EVERY_MS) {
    if (waitedMs >= Math.min(waitMs, WAIT_FOR_REMOVAL_MS))
      throw new Error(
        `the log ${path}-wal belongs to a file that was replaced, and would damage the one there now; stop all programs that use the directory, remove the log and ${path}-shm, and try again`,
      );
    Bun.sleepSync(LOOK_EVERY_MS);
  }
}

function pathOf(directory: string, kind: DatabaseName): string {
  return directory === ":memory:" ? directory : join(directory, fileNames[kind]);
}

function requireThere(directory: string, kind: DatabaseName): void {
  if (!isThere(directory, kind)) throw noData(directory, kind);
}

/** An empty file was left by a command that was killed. */
function isThere(directory: string, kind: DatabaseName): boolean {
  try {
    const file = statSync(join(directory, fileNames[kind]));
    return !file.isFile() || file.size > 0;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

function noData(directory: string, kind: DatabaseName): NoData {
  if (kind === "watch") return new NoData(`no watches in ${directory}; fundfeed watch add makes one`);
  const [other, maker] = kind === "catalog" ? (["state", "fundfeed import"] as const) : (["catalog", "fundfeed keys create"] as const);
  if (isThere(directory, other))
    return new NoData(`${directory} has a ${fileNames[other]}, but no ${fileNames[kind]} yet; ${maker} or fundfeed serve makes it`);
  return new NoData(
    `no fundfeed data in ${directory}; name the right directory with --data or FUNDFEED_DATA, or make one with: fundfeed import`,
  );
}

function naming<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw cannotOpen(path, reasonOf(error), error);
  }
}

function closingOnFailure<File extends ReadFile, T>(file: File, work: (file: File) => T): T {
  try {
    return work(file);
  } catch (error) {
    file.sqlite.close();
    file.finish();
    throw error;
  }
}

/** Two processes that switch a new file at once can fail despite the busy timeout. */
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
