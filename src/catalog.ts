/** The catalogue as a server reads it: the database, and in memory the list log, the facets and documents, in step with every commit. */
import { commitMark } from "../db/commits.ts";
import type { CatalogDb } from "../db/open.ts";
import { createDocuments, type Documents } from "./opportunities/documents.ts";
import { createFacets, type Facets, readNewFacets } from "./opportunities/facets.ts";
import { appendNewer, createListLog, type ListLog } from "./opportunities/list-log.ts";

export type Catalog = {
  db: CatalogDb;
  log: ListLog;
  facets: Facets;
  documents: Documents;
  commits: () => number;
  /** The mark of the last commit that log and facets know. */
  seen: number;
};

/** Loads the list log: about a third of a second for a million records. */
export function createCatalog(db: CatalogDb): Catalog {
  const catalog = {
    db,
    log: createListLog(),
    facets: createFacets(),
    documents: createDocuments(),
    commits: commitMark(db.sqlite),
    seen: Number.NaN,
  };
  catchUp(catalog);
  Bun.gc(true); // The load's garbage, once, instead of for as long as the server lives.
  return catalog;
}

/** Brings log and facets to the newest state of the database: to be called by each read before it looks into them. */
export function catchUp(catalog: Catalog): void {
  const { db, log, facets } = catalog;
  const commits = catalog.commits(); // Before the rows: a later commit moves it again.
  if (commits === catalog.seen) return;
  try {
    if (appendNewer(log, db) > 0) readNewFacets(facets, db);
    catalog.seen = commits;
  } catch (error) {
    startAnew(catalog); // Half a commit would never be completed.
    throw error;
  }
}

/** Forgets the list log: the next read loads it again. */
export function startAnew(catalog: Catalog): void {
  Object.assign(catalog.log, createListLog());
  catalog.seen = Number.NaN;
}

/** The secret that signs cursors; it lives in the catalogue, so that cursors outlive restarts and work on copies (D-15). */
export function cursorSecret({ db }: Catalog): Uint8Array {
  const row = db.sqlite.query<{ value: Uint8Array }, []>("select value from settings where name = 'cursor_secret'").get();
  if (row === null) throw new Error("The catalogue has no cursor secret");
  return row.value;
}
