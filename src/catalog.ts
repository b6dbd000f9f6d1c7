/** The catalogue as a server reads it: the database, and in memory the list log, the facets and documents, in step with every commit. */
import { settings } from "../db/catalog.ts";
import type { CatalogDb } from "../db/engine.ts";
import { selectBy } from "../db/query.ts";
import { createDocuments, type Documents } from "./opportunities/documents.ts";
import { addFacets, createFacets, type Facets, readFacets } from "./opportunities/facets.ts";
import { appendAll, createListLog, type ListLog, loadListLog, readNewer } from "./opportunities/list-log.ts";
import { sharedRun } from "./shared-run.ts";

export type Catalog = {
  db: CatalogDb;
  log: ListLog;
  facets: Facets;
  documents: Documents;
  /** Signs cursors. It lives in the catalogue, so that cursors outlive restarts and work on copies (D-15). */
  cursorSecret: Uint8Array;
  /** What `db.commits()` said of the last commit that log and facets know. */
  seen: number;
  /** Takes in what was committed since, once for all who ask meanwhile. */
  look: () => Promise<void>;
};

/** Loads the list log: about half a second for a million records. */
export async function createCatalog(db: CatalogDb): Promise<Catalog> {
  const catalog: Catalog = {
    db,
    log: createListLog(),
    facets: createFacets(),
    documents: createDocuments(),
    cursorSecret: await readCursorSecret(db),
    seen: Number.NaN,
    look: sharedRun(() => takeInNewer(catalog)),
  };
  await startAnew(catalog);
  Bun.gc(true); // The load's garbage, once, instead of for as long as the server lives.
  return catalog;
}

/** Brings log and facets to the newest state of the database: to be called by each read before it looks into them. */
export function catchUp(catalog: Catalog): Promise<void> | undefined {
  return catalog.db.commits() === catalog.seen ? undefined : catalog.look();
}

/** Loads log and facets again. Those at hand serve until then. */
export async function startAnew(catalog: Catalog): Promise<void> {
  const { db } = catalog;
  const seen = db.commits(); // Before the rows: a later commit moves it again.
  const log = await loadListLog(db);
  const facets = createFacets();
  addFacets(facets, await readFacets(db, facets));
  Object.assign(catalog, { log, facets, seen });
}

/** All of it is read before any of it is taken in: nobody may see half a commit, also when the reading fails. */
async function takeInNewer(catalog: Catalog): Promise<void> {
  const { db, log, facets } = catalog;
  const seen = db.commits();
  const newer = await readNewer(db, log);
  const added = newer.length === 0 ? [] : await readFacets(db, facets); // After the records: it has all that they refer to.
  if (catalog.log !== log) return; // Loaded anew meanwhile: whoever asks next looks again.
  appendAll(log, newer);
  addFacets(facets, added);
  catalog.seen = seen;
}

const settingByName = selectBy(settings, "name");

export async function readCursorSecret(db: CatalogDb): Promise<Uint8Array> {
  const secret = await findCursorSecret(db);
  if (secret === undefined) throw new Error("The catalogue has no cursor secret");
  return secret;
}

/** Each catalogue makes one when it is made; its copies and replicas have the same. */
export async function findCursorSecret(db: CatalogDb): Promise<Uint8Array | undefined> {
  return (await db.get(settingByName, { name: "cursor_secret" }))?.value;
}
