/** Backs up the files of a data directory consistently, or not at all, and restores them. */
import { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { identityOf } from "../file-identity.ts";
import { missingOf } from "../migration.ts";
import { requireOwnFile, WAIT_MS } from "../own-file.ts";
import { attempt, codeOf, reasonOf } from "../reason.ts";
import { damageIn } from "./damage.ts";
import { tryLockIn } from "./lock.ts";
import { appliedTo, migrations } from "./migrate.ts";
import { type DatabaseFile, fileNames, hasWatches, requireOwnLog } from "./open.ts";
import { openToRead } from "./read-file.ts";

export type BackedUp = { name: string; bytes: number };

/** In the order of copying: no watch may be ahead of the catalog. */
const kinds = ["watch", "catalog", "state"] as const;
type Kind = (typeof kinds)[number];
const LOCK = "partial";

/** Windows neither replaces nor removes a file that a program has open, this one included. */
const keepsOpenFiles = process.platform === "win32";

export type BackupReport = (step: "copying" | "checking", name: string, bytes: number) => void;

/** Backs up `data`, whatever its version. Replaces an earlier backup only after the new one is complete and checked. */
export function backUp(
  databases: { catalog: DatabaseFile<"catalog">; state: DatabaseFile<"state">; watch?: DatabaseFile<"watch"> | undefined },
  data: string,
  directory: string,
  report: BackupReport = () => undefined,
): BackedUp[] {
  const copied = kinds.filter((kind) => databases[kind] !== undefined);
  const copy = (kind: Kind, partial: string) => {
    const { sqlite } = databases[kind] ?? databases.catalog;
    // Before the first key there is no state.db, and an empty one is copied.
    report("copying", fileNames[kind], statSync(join(data, fileNames[kind]), { throwIfNoEntry: false })?.size ?? 0);
    sqlite.run("pragma query_only = off"); // With it on, SQLite would also refuse to write the copy.
    sqlite.query("vacuum into ?").run(partial);
  };
  const names = copied.map((kind) => fileNames[kind]).sort();
  return attempt(`Cannot back up to ${directory}`, () => {
    if (existsSync(directory)) {
      refuseSame(directory, data);
      using held = holdBoth(directory, { replacesDamaged: false, createsMissing: false });
      replaceAll(directory, copied, report, copy, held);
      if (!copied.includes("watch")) remove(join(directory, fileNames.watch)); // Of an earlier backup.
    } else {
      createDirectory(resolve(directory), names, (partial) => replaceAll(partial, copied, report, copy));
    }
    return names.map((name) => ({ name, bytes: statSync(join(directory, name)).size }));
  });
}

/** Replaces all files of `data`, but for watches that the backup lacks, or none, if it is damaged or they are in use. Other programs wait. */
export function restore(
  directory: string,
  data: string,
  { report = () => undefined, copy = copyFileSync }: { report?: BackupReport; copy?: (from: string, to: string) => void } = {},
): void {
  const restored = kinds.filter((kind) => kind !== "watch" || hasWatches(directory));
  attempt(`Cannot restore from ${directory}`, () => {
    for (const kind of restored) {
      refuseUnfinished(directory, fileNames[kind]);
      refuseOtherSchema(directory, kind);
    }
  });
  attempt(`Cannot restore ${data}`, () => {
    mkdirSync(data, { recursive: true, mode: 0o700 });
    refuseSame(directory, data);
    using held = holdBoth(data, { replacesDamaged: true, createsMissing: true });
    const make = (kind: Kind, partial: string) => {
      const from = join(directory, fileNames[kind]);
      report("copying", fileNames[kind], statSync(from).size);
      copy(from, partial);
    };
    replaceAll(data, restored, report, make, held);
  });
}

/** Fills a directory under another name first, so that a killed backup leaves none that looks complete. */
function createDirectory(directory: string, names: readonly string[], fill: (partial: string) => void): void {
  const partial = `${directory}.partial`;
  const created = mkdirSync(partial, { recursive: true, mode: 0o700 });
  try {
    fill(partial);
    renameSync(partial, directory);
  } catch (error) {
    if (!(error instanceof DirectoryInUse)) for (const name of names) rmSync(join(partial, name), { force: true });
    removeEmpty(partial, resolve(created ?? partial));
    throw error;
  }
}

function removeEmpty(directory: string, top: string): void {
  try {
    for (let path = directory; path.startsWith(top); path = dirname(path)) rmdirSync(path);
  } catch {
    // It is not empty.
  }
}

/** All or none: each new file is made and checked before any is replaced. */
function replaceAll(
  directory: string,
  which: readonly Kind[],
  report: BackupReport,
  make: (kind: Kind, partial: string) => void,
  held?: DisposableStack,
): void {
  const files = which.map((kind) => {
    const path = join(directory, fileNames[kind]);
    return { kind, path, partial: `${path}.partial` };
  });
  using _ = lockPartialFiles(directory);
  try {
    for (const { kind, partial } of files) {
      remove(partial); // Left by a killed program. `vacuum into` refuses an existing file.
      make(kind, partial);
      report("checking", fileNames[kind], statSync(partial).size);
      checkCopy(partial, kind);
    }
    if (keepsOpenFiles) held?.dispose();
    for (const { path, partial } of files) putInPlace(partial, path);
  } finally {
    for (const { partial } of files) remove(partial);
  }
}

class DirectoryInUse extends Error {}

/** Another program that replaces the files uses the same partial files. */
function lockPartialFiles(directory: string): Disposable {
  const removeLockFile = () => rmSync(join(directory, `${LOCK}.lock`), { force: true });
  let lock: Disposable | undefined;
  try {
    lock = tryLockIn(directory, LOCK);
  } catch (error) {
    removeLockFile(); // A full disk leaves it without a lock.
    throw error;
  }
  if (lock === undefined) throw new DirectoryInUse("another backup or restore is at work there");
  using held = new DisposableStack();
  if (keepsOpenFiles) held.defer(removeLockFile);
  held.use(lock);
  if (!keepsOpenFiles) held.defer(removeLockFile); // Runs before the release: no program may lock a file that is then removed.
  return held.move();
}

function remove(path: string): void {
  removeLogs(path);
  rmSync(path, { force: true });
}

/** SQLite would apply them to the next file at the path. */
function removeLogs(path: string): void {
  for (const suffix of ["-wal", "-shm", "-journal"]) rmSync(`${path}${suffix}`, { force: true });
}

function refuseSame(backup: string, data: string): void {
  if (realpathSync(backup) === realpathSync(data)) throw new Error("it is the data directory itself");
}

/** The newest changes of a file that was not closed are in a log next to it. */
function refuseUnfinished(directory: string, name: string): void {
  const path = join(directory, name);
  if (!existsSync(path)) throw new Error(`it has no ${name}`);
  if (existsSync(`${path}-wal`) && statSync(`${path}-wal`).size > 0)
    throw new Error(
      `its ${name} is in use, or was not closed; make a complete copy with: fundfeed backup NEW --data ${directory}, and restore that`,
    );
}

/** Such a file could not be opened once it has replaced the present one. Damage is left to the check of the copy. */
function refuseOtherSchema(directory: string, kind: Kind): void {
  let applied: { hash: string }[];
  try {
    const { sqlite, finish } = openToRead(join(directory, fileNames[kind]), WAIT_MS);
    try {
      requireOwnFile(sqlite, fileNames[kind]);
      applied = appliedTo(sqlite);
    } finally {
      sqlite.close();
      finish();
    }
  } catch {
    return;
  }
  attempt(`its ${fileNames[kind]} cannot be opened`, () => missingOf(migrations[kind], applied));
}

/** `createsMissing` also keeps other programs from creating missing files. */
type Holding = { replacesDamaged: boolean; createsMissing: boolean };

function holdBoth(directory: string, holding: Holding): DisposableStack {
  using held = new DisposableStack();
  for (const kind of kinds) held.defer(hold(directory, kind, holding));
  return held.move();
}

/** Switching off write-ahead logging fails while another program has the file open, and an exclusive transaction keeps others out. */
function hold(directory: string, kind: Kind, { replacesDamaged, createsMissing }: Holding): () => void {
  const path = join(directory, fileNames[kind]);
  const isThere = existsSync(path);
  if (!isThere && !createsMissing) return () => undefined;
  if (isThere) requireOwnLog(path);
  const sqlite = new Database(path, { create: true });
  const placeholder = isThere ? undefined : identityOf(path);
  const release = () => {
    sqlite.close(true);
    if (placeholder !== undefined && identityOf(path) === placeholder) rmSync(path);
  };
  try {
    sqlite.run("pragma busy_timeout = 1000");
    requireOwnFile(sqlite, fileNames[kind]);
    sqlite.run("pragma journal_mode = delete");
    sqlite.run("begin exclusive");
    // Another program may have opened it between the two.
    const mode = sqlite.query<{ journal_mode: string }, []>("pragma journal_mode").get()?.journal_mode;
    if (mode !== "delete") throw new Error(`${fileNames[kind]} is in use`);
    return release;
  } catch (error) {
    release();
    const code = codeOf(error);
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(code) && replacesDamaged) return () => undefined; // No other program can open it either.
    if (code.startsWith("SQLITE_BUSY"))
      throw new Error(`${fileNames[kind]} is in use: a server or an import has it open; stop it first`, { cause: error });
    throw new Error(`${fileNames[kind]} there must not be replaced: ${reasonOf(error)}`, { cause: error });
  }
}

function putInPlace(from: string, to: string): void {
  chmodSync(from, 0o600); // A copy has the backup's mode.
  removeLogs(to);
  const descriptor = openSync(from, "r+");
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(from, to);
}

function checkCopy(path: string, kind: Kind): void {
  try {
    using sqlite = new Database(path, { readwrite: true });
    const [damage] = damageIn(sqlite);
    if (damage !== undefined) throw new Error(damage);
    if (!requireOwnFile(sqlite, fileNames[kind])) throw new Error("it is empty");
  } catch (error) {
    throw new Error(`the copy of ${fileNames[kind]} cannot be trusted: ${reasonOf(error)}`, { cause: error });
  }
}
