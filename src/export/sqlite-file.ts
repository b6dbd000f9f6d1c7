/** An SQLite file that an export writes: under another name until it is complete, so a file with the final name always is. */
import { Database } from "bun:sqlite";
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync } from "node:fs";
import { markOwnFile, requireOwnFile } from "../../db/own-file.ts";
import { attempt } from "../../db/reason.ts";
import { putInPlace, targetOf } from "../runtime/replace-file.ts";
import { completeTables, createFileTables, type FileProgress, type Put, putInto } from "../sql/file.ts";

const ABOUT = "create table export (made_at text not null, filter text not null) strict";

/** `finish` builds the indexes, awaiting `pause` before each step, and gives the file its name. `abandon` removes it, unless it is finished. */
type ExportFile = { put: Put; finish: (pause: (next: FileProgress) => Promise<void>) => Promise<void>; abandon: () => void };

/** `filter` and `madeAt` are stored in the file. Throws if a file exists at `path` that is no export. */
export function createExportFile(path: string, { filter, madeAt }: { filter: string; madeAt: string }): ExportFile {
  const target = targetOf(path);
  const partialPath = `${target}.partial`;
  return attempt(`Cannot export into ${path}`, () => {
    refuseOtherFile(target);
    rmSync(partialPath, { force: true }); // Left by a killed export.
    closeSync(openSync(partialPath, "wx", 0o600));
    const { ino } = statSync(partialPath);
    const sqlite = new Database(partialPath, { strict: true });
    for (const setting of ["journal_mode = memory", "synchronous = off", "cache_size = -32000"]) sqlite.run(`pragma ${setting}`); // A partial file is never read.
    markOwnFile(sqlite, "export");
    createFileTables(sqlite);
    sqlite.run(ABOUT);
    sqlite.query("insert into export values (?, ?)").run(madeAt, filter);
    sqlite.run("begin");
    return {
      put: putInto(sqlite),
      finish: async (pause) => {
        for (const next of completeTables(sqlite)) await pause(next);
        sqlite.run("commit; analyze");
        sqlite.close();
        sync(partialPath);
        if (statSync(partialPath).ino !== ino) throw new Error(`another program also writes to ${path}`);
        putInPlace(partialPath, target);
      },
      abandon: () => {
        sqlite.close();
        if (existsSync(partialPath) && statSync(partialPath).ino === ino) rmSync(partialPath);
      },
    };
  });
}

/** A journal of the file that is replaced would be applied to the new one. */
function refuseOtherFile(path: string): void {
  if (!existsSync(path)) return;
  if (!statSync(path).isFile() || !isExport(path)) throw new Error("it exists and is not an export of this program; use another file");
  for (const journal of [`${path}-journal`, `${path}-wal`])
    if (existsSync(journal)) throw new Error(`${journal} exists: another program has the file open; close it there`);
}

function isExport(path: string): boolean {
  let sqlite: Database | undefined;
  try {
    sqlite = new Database(path, { readonly: true });
    return requireOwnFile(sqlite, "export");
  } catch {
    return false;
  } finally {
    sqlite?.close();
  }
}

function sync(path: string): void {
  const file = openSync(path, "r+");
  fsyncSync(file);
  closeSync(file);
}
