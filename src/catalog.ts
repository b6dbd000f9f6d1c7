/** The catalogue as a server reads it: the database, and the list log and facets in memory, kept in step with every commit. */
import type { CatalogDb } from "../db/open.ts";
import { createFacets, type Facets, readNewFacets } from "./opportunities/facets.ts";
import { appendNewer, createListLog, type ListLog } from "./opportunities/list-log.ts";

export type Catalog = { db: CatalogDb; log: ListLog; facets: Facets };

/** Loads the list log: about a third of a second for a million records. */
export function createCatalog(db: CatalogDb): Catalog {
  const catalog = { db, log: createListLog(), facets: createFacets() };
  inSnapshot(catalog, () => undefined);
  Bun.gc(true); // The load's garbage, once, instead of for as long as the server lives.
  return catalog;
}

/**
 * Runs `read` on one state of the database, the newest there is, with log and facets in step with it: whatever was committed since
 * has a later `updated_at` (D-31), so looking beyond the log's end finds it. `read` must be synchronous and short: a held snapshot
 * keeps the write-ahead log from being checkpointed. Every statement but the first is spared the file locks that it would take alone.
 */
export function inSnapshot<T>(catalog: Catalog, read: () => T): T {
  const { sqlite } = catalog.db;
  sqlite.query("begin").run();
  try {
    catchUp(catalog);
    return read();
  } finally {
    sqlite.query("commit").run();
  }
}

function catchUp({ db, log, facets }: Catalog): void {
  try {
    if (appendNewer(log, db) > 0) readNewFacets(facets, db);
  } catch (error) {
    Object.assign(log, createListLog()); // Half a commit would never be completed: whoever asks next begins anew.
    throw error;
  }
}

/** The secret that signs cursors; it lives in the catalogue, so that cursors outlive restarts and work on copies (D-15). */
export function cursorSecret({ db }: Catalog): Uint8Array {
  const row = db.sqlite.query<{ value: Uint8Array }, []>("select value from settings where name = 'cursor_secret'").get();
  if (row === null) throw new Error("The catalogue has no cursor secret");
  return row.value;
}
