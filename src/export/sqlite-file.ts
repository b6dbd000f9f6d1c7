/** An SQLite file that an export writes: under another name until it is complete, so a file with the final name always is. */
import { Database } from "bun:sqlite";
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync } from "node:fs";
import { markOwnFile, requireOwnFile } from "../../db/own-file.ts";
import type { OpportunityEvent } from "../events/event.ts";
import type { FlatOpportunity } from "../facts/columns.ts";
import { putInPlace, targetOf } from "../runtime/replace-file.ts";
import { completeTables, createFileTables, type FileProgress, putInto } from "../sql/file.ts";

const ABOUT = "create table export (made_at text not null, filter text not null) strict";

/** `amounts_left_out` counts those that have more digits than a column of Parquet takes. */
type Written = { records: number; events: number; amounts_left_out?: number };

/** `finish` awaits `pause` before each step, and gives the file its name. `abandon` removes it, unless it is finished. */
export type ExportFile = {
  put: (opportunity: FlatOpportunity, history: readonly OpportunityEvent[], text: string) => void;
  finish: (pause: (next: FileProgress) => Promise<void>) => Written | Promise<Written>;
  abandon: () => void;
};

/** `about` is stored in the file. Throws if a file exists at `path` that is no export. */
export function createExportFile(path: string, about: { filter: string; made_at: string }): ExportFile {
  const target = targetOf(path);
  const partialPath = `${target}.partial`;
  refuseOtherFile(target);
  rmSync(partialPath, { force: true }); // Left by a killed export.
  closeSync(openSync(partialPath, "wx", 0o600));
  const { ino } = statSync(partialPath);
  const sqlite = new Database(partialPath, { strict: true });
  for (const setting of ["journal_mode = memory", "synchronous = off", "cache_size = -32000"]) sqlite.run(`pragma ${setting}`); // A partial file is never read.
  markOwnFile(sqlite, "export");
  createFileTables(sqlite);
  sqlite.run(ABOUT);
  sqlite.query("insert into export values ($made_at, $filter)").run(about);
  sqlite.run("begin");
  const put = putInto(sqlite);
  const written = { records: 0, events: 0 };
  return {
    put: (opportunity, history, text) => {
      const events = history.map((event) => ({ id: event.id, at: event.detected_at, text: JSON.stringify(event) }));
      put({ id: opportunity.id, at: opportunity.updated_at, text }, events, opportunity);
      written.records++;
      written.events += history.length;
    },
    finish: async (pause) => {
      for (const next of completeTables(sqlite)) await pause(next);
      sqlite.run("commit; analyze");
      sqlite.close();
      sync(partialPath);
      if (statSync(partialPath).ino !== ino) throw new Error(`another program also writes to ${path}`);
      putInPlace(partialPath, target);
      return written;
    },
    abandon: () => {
      sqlite.close();
      if (existsSync(partialPath) && statSync(partialPath).ino === ino) rmSync(partialPath);
    },
  };
}

/** A journal of the file that is replaced would be applied to the new one. */
function refuseOtherFile(path: string): void {
  if (!existsSync(path)) return;
  if (!statSync(path).isFile() || !isExport(path)) throw new Error("it exists and is not an export of this program; use another file");
  for (const journal of [`${path}-journal`, `${path}-wal`])
    if (existsSync(journal)) throw new Error(`${journal} exists: another program has the file open; close it there`);
}

function isExport(path: string): boolean {
  try {
    using sqlite = new Database(path, { readonly: true });
    return requireOwnFile(sqlite, "export");
  } catch {
    return false;
  }
}

function sync(path: string): void {
  const file = openSync(path, "r+");
  fsyncSync(file);
  closeSync(file);
}
