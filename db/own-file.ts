/** Tells the SQLite files of this program from those of others: SQLite's header has a field for the program that made a file. */
import type { Database } from "bun:sqlite";

const applicationIds = {
  "catalog.db": 0x66666374,
  "state.db": 0x66667374,
  "watch.db": 0x66667761,
  "search.db": 0x66667372,
  copy: 0x66666d72,
  export: 0x66666578,
};

type OwnFileName = keyof typeof applicationIds;

/** How long to wait for another program that is writing. A server sets less, since waiting stalls every request. */
export const WAIT_MS = 30_000;

/** Returns whether the file is marked as this one. An empty file may get the mark. Throws for a file of another program. */
export function requireOwnFile(sqlite: Database, name: OwnFileName): boolean {
  // First, since a program that is creating the file marks it before the first table.
  const isEmpty = sqlite.query("select 1 from sqlite_master").get() === null;
  const id = headerNumber(sqlite, "application_id");
  if (id === applicationIds[name]) return true;
  if (id !== 0 || !isEmpty) throw new Error(`it is not a fundfeed ${name}`);
  return false;
}

/** Call it before the first table is made, so that a kill leaves no file that looks foreign. */
export function markOwnFile(sqlite: Database, name: OwnFileName): void {
  sqlite.run(`pragma application_id = ${applicationIds[name]}`);
}

/** A number in the header of a file. */
export function headerNumber(sqlite: Database, field: "application_id" | "user_version" | "page_size"): number {
  return sqlite.query<Record<string, number>, []>(`pragma ${field}`).get()?.[field] ?? 0;
}
