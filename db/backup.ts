/** Copies of both files that are consistent, checked and whole, or not there at all; and the way back. */
import { Database } from "bun:sqlite";
import { closeSync, copyFileSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type CatalogDb, fileNames, type StateDb } from "./open.ts";

export type BackedUp = { name: string; bytes: number };

/** A backup of what is committed now. An earlier backup in `directory` is replaced only once the new one is complete and checked. */
export function backUp({ catalog, state }: { catalog: CatalogDb; state: StateDb }, directory: string): BackedUp[] {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const sources = [
    { name: fileNames.catalog, sqlite: catalog.sqlite },
    { name: fileNames.state, sqlite: state.sqlite },
  ];
  for (const { name, sqlite } of sources) {
    const partial = join(directory, `${name}.partial`);
    rmSync(partial, { force: true }); // `vacuum into` refuses a file that is there.
    sqlite.query("vacuum into ?").run(partial);
    checkCopy(partial);
  }
  return sources.map(({ name }) => {
    putInPlace(join(directory, `${name}.partial`), join(directory, name));
    return { name, bytes: statSync(join(directory, name)).size };
  });
}

/** Replaces both files of `data` with those of a backup. Throws, with nothing changed, when the backup is damaged or the files are in use. */
export function restore(directory: string, data: string): void {
  for (const name of Object.values(fileNames)) {
    if (!existsSync(join(directory, name))) throw new Error(`Cannot restore from ${directory}: it has no ${name}`);
  }
  mkdirSync(data, { recursive: true, mode: 0o700 });
  for (const name of Object.values(fileNames)) {
    const partial = join(data, `${name}.partial`);
    copyFileSync(join(directory, name), partial);
    checkCopy(partial);
  }
  for (const name of Object.values(fileNames)) refuseOpenFile(join(data, name));
  for (const name of Object.values(fileNames)) putInPlace(join(data, `${name}.partial`), join(data, name));
}

/** Leaving write-ahead logging needs the file for oneself, so it fails while anybody else has it open. */
function refuseOpenFile(path: string): void {
  if (!existsSync(path)) return;
  const sqlite = new Database(path, { readwrite: true });
  try {
    sqlite.run("pragma busy_timeout = 1000");
    const mode = sqlite.query<{ journal_mode: string }, []>("pragma journal_mode = delete").get()?.journal_mode;
    if (mode !== "delete") throw new Error("it is in use");
  } catch (error) {
    throw new Error(`Cannot restore over ${path}: a server or an import has it open; stop that first`, { cause: error });
  } finally {
    sqlite.close();
  }
}

function putInPlace(from: string, to: string): void {
  for (const stale of [`${to}-wal`, `${to}-shm`]) rmSync(stale, { force: true }); // A stale log would be replayed into the new file.
  const descriptor = openSync(from, "r+");
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(from, to);
}

function checkCopy(path: string): void {
  const sqlite = new Database(path, { readwrite: true });
  try {
    const result = sqlite.query<{ integrity_check: string }, []>("pragma integrity_check").get()?.integrity_check;
    if (result !== "ok") throw new Error(result ?? "no answer");
  } catch (error) {
    throw new Error(`Cannot trust the copy ${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    sqlite.close();
  }
}
