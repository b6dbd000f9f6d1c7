/** The catalogue as a server reads it: the database, and in memory the list index, the facets and documents, in step with every commit. */
import { settings } from "../../db/catalog.ts";
import type { CatalogDb } from "../../db/engine.ts";
import { selectBy } from "../../db/query.ts";
import { sharedRun } from "../shared-run.ts";
import { createDocuments, type Documents } from "./documents.ts";
import { addFacets, createFacets, type Facets, readFacets } from "./facets.ts";
import { appendAll, createListIndex, type ListIndex, loadListIndex, readNewer } from "./list-index.ts";

export type ReadModel = {
  db: CatalogDb;
  index: ListIndex;
  facets: Facets;
  documents: Documents;
  /** Signs cursors. It lives in the catalogue, so that cursors outlive restarts and work on copies (D-15). */
  cursorSecret: Uint8Array;
  /** What `db.commits()` said of the last commit that log and facets know. */
  lastSeenCommit: number;
  /** Takes in what was committed since, once for all who ask meanwhile. */
  refreshOnce: () => Promise<void>;
};

/** Loads the list index: about half a second for a million records. */
export async function createReadModel(db: CatalogDb): Promise<ReadModel> {
  const model: ReadModel = {
    db,
    index: createListIndex(),
    facets: createFacets(),
    documents: createDocuments(),
    cursorSecret: await readCursorSecret(db),
    lastSeenCommit: Number.NaN,
    refreshOnce: sharedRun(() => takeInNewer(model)),
  };
  await reload(model);
  Bun.gc(true); // The load's garbage, once, instead of for as long as the server lives.
  return model;
}

/** Brings log and facets to the newest state of the database: to be called by each read before it looks into them. */
export function refresh(model: ReadModel): Promise<void> | undefined {
  return model.db.commits() === model.lastSeenCommit ? undefined : model.refreshOnce();
}

/** Loads log and facets again. Those at hand serve until then. */
export async function reload(model: ReadModel): Promise<void> {
  const { db } = model;
  const lastSeenCommit = db.commits(); // Before the rows: a later commit moves it again.
  const index = await loadListIndex(db);
  const facets = createFacets();
  addFacets(facets, await readFacets(db, facets));
  Object.assign(model, { index, facets, lastSeenCommit });
}

/** All of it is read before any of it is taken in: nobody may see half a commit, also when the reading fails. */
async function takeInNewer(model: ReadModel): Promise<void> {
  const { db, index, facets } = model;
  const lastSeenCommit = db.commits();
  const newer = await readNewer(db, index);
  const added = newer.length === 0 ? [] : await readFacets(db, facets); // After the records: it has all that they refer to.
  if (model.index !== index) return; // Reloaded in the meantime.
  appendAll(index, newer);
  addFacets(facets, added);
  model.lastSeenCommit = lastSeenCommit;
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
