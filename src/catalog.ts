/** The catalogue as a server reads it: the database, and the list log and facets in memory, kept in step with every commit. */
import type { CatalogDb } from "../db/open.ts";
import { createFacets, type Facets, readNewFacets } from "./opportunities/facets.ts";
import { appendNewer, createListLog, type ListLog } from "./opportunities/list-log.ts";

export type Catalog = { db: CatalogDb; log: ListLog; facets: Facets; seenVersion: string };

/** Loads the list log: about a third of a second for a million records. */
export function createCatalog(db: CatalogDb): Catalog {
  const catalog = { db, log: createListLog(), facets: createFacets(), seenVersion: "" };
  inSnapshot(catalog, () => undefined);
  return catalog;
}

/**
 * Runs `read` on one state of the database, the newest there is, with log and facets in step with it.
 * `read` must be synchronous and short: a held snapshot keeps the write-ahead log from being checkpointed.
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

/** The secret that signs cursors; it lives in the catalogue, so that cursors outlive restarts and work on copies (D-15). */
export function cursorSecret({ db }: Catalog): Uint8Array {
  const row = db.sqlite.query<{ value: Uint8Array }, []>("select value from settings where name = 'cursor_secret'").get();
  if (row === null) throw new Error("The catalogue has no cursor secret");
  return row.value;
}

function catchUp(catalog: Catalog): void {
  // `data_version` moves with other connections' commits, `total_changes()` with this one's.
  const version = catalog.db.sqlite
    .query<[number, number], []>("select data_version, total_changes() from pragma_data_version")
    .values()
    .join();
  if (version === catalog.seenVersion) return;
  readNewFacets(catalog.facets, catalog.db);
  appendNewer(catalog.log, catalog.db);
  catalog.seenVersion = version;
}
