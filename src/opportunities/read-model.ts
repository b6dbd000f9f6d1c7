/** The read model: the catalog's database, and in memory its list index, facets and recent documents, updated after every commit. (E-31) */
import { asc, max, sql } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { parameter, pick, query, select, selectBy, selectFrom, selectSome } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { opportunities, settings } from "../../db/schema/sqlite/catalog.ts";
import { singleFlight } from "../runtime/single-flight.ts";
import { createDocuments, type Documents, documentFields, keepDocument, keptDocument, type StoredDocument } from "./documents.ts";
import { addFacets, createFacets, type Facets, readFacets } from "./facets.ts";
import { append, compact, createListIndex, isNewest, type ListIndex, needsCompaction, newestTime, type Sizes } from "./list-index.ts";
import type { Position } from "./page.ts";

/** It takes some 2 ms, during which the server handles no other request. */
export const LOADED_AT_ONCE = 2000;
const FEW_ROWS = 250_000;
const GROWTH = 4;
/** Sorts after every id in any collation, because ids are hexadecimal. */
const AFTER_ALL_IDS = "z";

type Contents = {
  index: ListIndex;
  facets: Facets;
  readUntil: Position;
};

export type ReadModel = Contents & {
  db: CatalogDb;
  documents: Documents;
  /** Stored in the catalog, so that cursors survive restarts and work with copies (D-15). */
  cursorSecret: Uint8Array;
  /** What `db.commits()` returned before the contents were last read. */
  lastSeenCommit: number;
  updateOnce: () => Promise<void>;
  /** The present contents stay in use until then. */
  reload: () => Promise<void>;
  /** There is one at a time, because it moves slots. */
  compaction: Promise<void> | undefined;
};

/** Loads the read model: a million records in half a second, in batches that do not block. Throws if there is no cursor secret. */
export async function createReadModel(db: CatalogDb, { sizes = {} }: { sizes?: Partial<Sizes> } = {}): Promise<ReadModel> {
  const cursorSecret = await readCursorSecret(db);
  const model: ReadModel = {
    ...emptyContents({ ...sizes, capacity: 1 }), // `loadAll` replaces them.
    db,
    documents: createDocuments(),
    cursorSecret,
    lastSeenCommit: Number.NaN,
    updateOnce: singleFlight(() => loadNewer(model)),
    reload: singleFlight(() => loadAll(model, sizes)),
    compaction: undefined,
  };
  await loadAll(model, sizes);
  return model;
}

/** Adds every commit made before the call to the contents. Call it before each read. Returns `undefined` if there is nothing to add. */
export function updateModel(model: ReadModel): Promise<void> | undefined {
  return model.db.commits() === model.lastSeenCommit ? undefined : model.updateOnce();
}

function emptyContents(sizes: Partial<Sizes>): Contents {
  const index = createListIndex(sizes);
  return { index, facets: createFacets(), readUntil: { time: newestTime(index), id: AFTER_ALL_IDS } };
}

const lastRow = query({}, () => select({ seq: max(opportunities.seq) }).from(opportunities));

async function loadAll(model: ReadModel, sizes: Partial<Sizes>): Promise<void> {
  const { db } = model;
  const lastSeenCommit = db.commits(); // Before reading: a later commit changes it.
  const rows = (await db.get(lastRow))?.seq ?? 0;
  // Room to grow, because copying a grown array blocks the event loop.
  const contents = emptyContents(rows > FEW_ROWS ? { ...sizes, capacity: GROWTH * rows } : sizes);
  await loadNewFacets(db, contents.facets);
  await appendNewer(db, contents, () => true);
  Object.assign(model, contents, { lastSeenCommit });
}

async function loadNewer(model: ReadModel): Promise<void> {
  const { db, index } = model;
  const lastSeenCommit = db.commits();
  const isCurrent = () => model.index === index; // False after a reload.
  await appendNewer(db, model, isCurrent);
  if (!isCurrent()) return;
  model.lastSeenCommit = lastSeenCommit;
  if (!needsCompaction(index)) return;
  model.compaction ??= compact(index, pause).finally(() => {
    model.compaction = undefined;
  });
}

const pause = () => new Promise<void>((resolve) => setImmediate(resolve));

const entriesAfter = query({ ...pick(opportunities, "updated_at", "id"), limit: parameter<number>() }, ({ updated_at, id, limit }) =>
  selectFrom(opportunities, "updated_at", "seq", "facet_id")
    .where(sql`(${opportunities.updated_at}, ${opportunities.id}) > (${updated_at}, ${id})`)
    .orderBy(asc(opportunities.updated_at), asc(opportunities.id))
    .limit(limit),
);
const idOfRow = selectSome(opportunities, ["id"], "seq");

/** Each batch is read whole first; commits in between change only what comes later. */
async function appendNewer(db: CatalogDb, contents: Contents, isCurrent: () => boolean): Promise<void> {
  const { index, facets } = contents;
  for (;;) {
    const { time, id } = contents.readUntil;
    const entries = await db.all(entriesAfter, { updated_at: time, id, limit: LOADED_AT_ONCE });
    const last = entries.at(-1);
    if (last === undefined) return;
    const isLast = entries.length < LOADED_AT_ONCE;
    const lastId = isLast ? AFTER_ALL_IDS : ((await db.get(idOfRow, { seq: last.seq }))?.id ?? AFTER_ALL_IDS);
    await loadNewFacets(db, facets); // After the records, so that all facets of theirs are there.
    if (!isCurrent()) return;
    for (const { updated_at, seq, facet_id } of entries) append(index, updated_at, seq, facet_id);
    contents.readUntil = { time: last.updated_at, id: lastId };
    if (isLast) return;
    await pause();
  }
}

async function loadNewFacets(db: CatalogDb, facets: Facets): Promise<void> {
  for (;;) {
    const added = await readFacets(db, facets, LOADED_AT_ONCE);
    addFacets(facets, added);
    if (added.length < LOADED_AT_ONCE) return;
    await pause();
  }
}

const settingByName = selectBy(settings, "name");

/** The catalog's cursor secret. Throws if there is none. */
export async function readCursorSecret(db: CatalogDb): Promise<Uint8Array> {
  const secret = await findCursorSecret(db);
  if (secret === undefined) throw new Failure("Cannot read the catalog: it has no cursor secret. Restore it from a backup");
  return secret;
}

/** The identity of the catalog, in hexadecimal: no two catalogs have the same cursor secret, and copies have the same. */
export async function catalogIdentity(db: CatalogDb): Promise<string> {
  return new Bun.CryptoHasher("sha256").update(await readCursorSecret(db)).digest("hex");
}

/** The catalog's cursor secret, or `undefined` if there is none. It is made with the catalog; copies and replicas have the same. */
export async function findCursorSecret(db: CatalogDb): Promise<Uint8Array | undefined> {
  return (await db.get(settingByName, { name: "cursor_secret" }))?.value;
}

const documentById = selectSome(opportunities, documentFields, "id");

/** The newest version of an opportunity, or `undefined` if there is none with this `id`, a UUID in lower case. */
export async function getOpportunity(model: ReadModel, id: string): Promise<StoredDocument | undefined> {
  await updateModel(model);
  const kept = keptDocument(model.documents, id);
  if (kept !== undefined && isNewest(model.index, kept)) return kept;
  const read = await model.db.get(documentById, { id });
  if (read !== undefined) keepDocument(model.documents, read);
  return read;
}
