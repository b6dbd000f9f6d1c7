/** Opens the databases for the time of a command's work. */
import type { CatalogDb, StateDb } from "../../db/engine.ts";
import { type DatabaseLocation, openCatalogAt, openStateAt } from "../../db/open.ts";
import type { Cli } from "./command.ts";

/** Opens the catalog, runs `work` and closes the catalog. Throws if the catalog cannot be opened. */
export async function withCatalog<T>({ machine }: Cli, location: DatabaseLocation, work: (db: CatalogDb) => Promise<T>): Promise<T> {
  return useAndClose(await openCatalogAt(location, machine.now(), { onMigrated: machine.printError }), work);
}

/** Opens the state, runs `work` and closes the state. Throws if the state cannot be opened. */
export async function withState<T>({ machine }: Cli, location: DatabaseLocation, work: (db: StateDb) => Promise<T>): Promise<T> {
  return useAndClose(await openStateAt(location, machine.now(), { onMigrated: machine.printError }), work);
}

/** Runs `work` and closes what it worked on. */
export async function useAndClose<Db extends { close(): Promise<void> } | undefined, T>(db: Db, work: (db: Db) => Promise<T>): Promise<T> {
  try {
    return await work(db);
  } finally {
    await db?.close();
  }
}
