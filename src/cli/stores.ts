/** The two files as a server holds them: opened, loaded into memory, and watched for being replaced. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { type CatalogDb, close, fileNames, openCatalog, openState, type StateDb } from "../../db/open.ts";
import { type Access, createAccess } from "../accounts/access.ts";
import { type Catalog, createCatalog } from "../catalog.ts";

/** How long the server's own small writes wait for another writer: for that long it answers nobody. */
const OWN_WRITES_WAIT_MS = 100;

export type Stores = {
  catalog: Catalog;
  access: Access;
  /** The clock writes through a connection of its own: what it commits is then seen like any other process's commit. */
  clock: CatalogDb;
  /** Whether other files bear the names by now. Throws when none do. */
  areReplaced: () => boolean;
  close: () => void;
};

export async function openStores(directory: string, now: number): Promise<Stores> {
  using opened = new DisposableStack();
  const keep = <T extends CatalogDb | StateDb>(db: T): T => opened.adopt(db, close);
  const catalog = keep(openCatalog(directory, now));
  const clock = keep(openCatalog(directory, now, OWN_WRITES_WAIT_MS));
  const state = keep(openState(directory, now, OWN_WRITES_WAIT_MS));
  const files = identityOf(directory);
  const stores = {
    catalog: await createCatalog(catalog),
    access: await createAccess(state, now),
    clock,
    areReplaced: () => identityOf(directory) !== files,
  };
  const closing = opened.move(); // Only now: what fails above closes what was opened.
  return { ...stores, close: () => closing.dispose() };
}

function identityOf(directory: string): string {
  return Object.values(fileNames)
    .map((name) => statSync(join(directory, name), { bigint: true }))
    .map(({ dev, ino }) => `${dev}:${ino}`)
    .join();
}
