/** The catalog as a server reads it: the database, and in memory the list index, the facets and documents, in step with every commit. */
import { asc, eq, max, sql } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { parameter, pick, query, select, selectBy } from "../../db/query.ts";
import { opportunities, settings } from "../../db/schema/sqlite/catalog.ts";
import { singleFlight } from "../runtime/single-flight.ts";
import { createDocuments, type Documents } from "./documents.ts";
import { addFacets, createFacets, type Facets, readFacets } from "./facets.ts";
import { append, compact, createListIndex, type ListIndex, needsCompaction, newestTime, recordCount, type Sizes } from "./list-index.ts";
import type { Position } from "./page.ts";

/** Rows read at a time: some 3 ms, after which other requests get their turn. */
const BATCH_ROWS = 5000;
/** From so many rows on, places are reserved for so many times as many. */
const FEW_ROWS = 250_000;
const GROWTH = 4;
/** Follows every id, in any collation: ids are hexadecimal. */
const AFTER_ALL_IDS = "z";

/** What follows the database. All of it is replaced at once. */
type Contents = {
  index: ListIndex;
  facets: Facets;
  /** The last record read, in the order of (`updated_at`, id). */
  readUntil: Position;
};

export type ReadModel = Contents & {
  db: CatalogDb;
  documents: Documents;
  /** Signs cursors. It lives in the catalog, so that cursors outlive restarts and work on copies (D-15). */
  cursorSecret: Uint8Array;
  /** What `db.commits()` returned before the newest commit that is in the contents was read. */
  lastSeenCommit: number;
  refreshOnce: () => Promise<void>;
  reloadOnce: () => Promise<void>;
  /** The newest `updated_at` in the snapshot on disk (ms); before all instants while there is none. */
  snapshotUntil: number;
  /** What steps through the index at the moment: one at a time, because compaction moves places. */
  stepping: Promise<void> | undefined;
};

/** Where loading begins, if not with an empty index: at a snapshot. */
export type Beginning = Pick<Contents, "index" | "readUntil">;

type Loading = {
  sizes?: Partial<Sizes>;
  readSnapshot?: (db: CatalogDb, cursorSecret: Uint8Array, sizes: Partial<Sizes>) => Promise<Beginning | undefined>;
};

/** Opens the catalog for reading. Loading takes half a second for a million records, in batches that do not hold up the event loop. */
export async function createReadModel(db: CatalogDb, { sizes = {}, readSnapshot }: Loading = {}): Promise<ReadModel> {
  const cursorSecret = await readCursorSecret(db);
  const model: ReadModel = {
    ...emptyContents({ ...sizes, capacity: 1 }), // `loadAll` replaces them.
    db,
    documents: createDocuments(),
    cursorSecret,
    lastSeenCommit: Number.NaN,
    refreshOnce: singleFlight(() => readNewer(model)),
    reloadOnce: singleFlight(() => loadAll(model, sizes)),
    snapshotUntil: newestTime(createListIndex({ capacity: 1 })),
    stepping: undefined,
  };
  const snapshot = await readSnapshot?.(db, cursorSecret, await sizesFor(db, sizes));
  await loadAll(model, sizes, snapshot);
  if (snapshot !== undefined) {
    if (await isComplete(model)) model.snapshotUntil = snapshot.readUntil.time;
    else await loadAll(model, sizes);
  }
  if (recordCount(model.index) > BATCH_ROWS) Bun.gc(true); // Collects the garbage of loading now.
  return model;
}

/** Brings the contents up to date with every commit made before the call. Each read calls it first. */
export function refresh(model: ReadModel): Promise<void> | undefined {
  return model.db.commits() === model.lastSeenCommit ? undefined : model.refreshOnce();
}

/** Loads the contents again. The present ones serve until then. */
export function reload(model: ReadModel): Promise<void> {
  return model.reloadOnce();
}

function emptyContents(sizes: Partial<Sizes>): Contents {
  const index = createListIndex(sizes);
  return { index, facets: createFacets(), readUntil: { time: newestTime(index), id: AFTER_ALL_IDS } };
}

const lastRow = query({}, () => select({ seq: max(opportunities.seq) }).from(opportunities));

async function rowsOf(db: CatalogDb): Promise<number> {
  return (await db.get(lastRow))?.seq ?? 0;
}

/** With room to grow: growing stops the event loop for as long as copying takes. */
async function sizesFor(db: CatalogDb, sizes: Partial<Sizes>): Promise<Partial<Sizes>> {
  const rows = await rowsOf(db);
  return rows > FEW_ROWS ? { ...sizes, capacity: GROWTH * rows } : sizes;
}

/** Loads everything, or what is newer than `snapshot`. */
async function loadAll(model: ReadModel, sizes: Partial<Sizes>, snapshot?: Beginning): Promise<void> {
  const { db } = model;
  const lastSeenCommit = db.commits(); // Before reading: a later commit changes it.
  const contents = snapshot === undefined ? emptyContents(await sizesFor(db, sizes)) : { facets: createFacets(), ...snapshot };
  await readNewFacets(db, contents.facets);
  await readInto(db, contents, () => true);
  Object.assign(model, contents, { lastSeenCommit });
}

/** Whether each row of the catalog is in the index: rows are numbered without gaps, and never deleted. */
async function isComplete({ db, index, facets }: ReadModel): Promise<boolean> {
  return recordCount(index) === (await rowsOf(db)) && index.facetEnd <= facets.end;
}

async function readNewer(model: ReadModel): Promise<void> {
  const { db, index } = model;
  const lastSeenCommit = db.commits();
  const isCurrent = () => model.index === index; // Until it is reloaded.
  await readInto(db, model, isCurrent);
  if (!isCurrent()) return;
  model.lastSeenCommit = lastSeenCommit;
  if (model.stepping === undefined && needsCompaction(index)) void stepThrough(model, () => compact(index, pause));
}

/** Runs work that steps through the places of the index, after any other such work. */
export async function stepThrough(model: ReadModel, work: () => Promise<void>): Promise<void> {
  while (model.stepping !== undefined) await model.stepping.catch(() => undefined);
  model.stepping = work().finally(() => {
    model.stepping = undefined;
  });
  return model.stepping;
}

/** Lets everything else have its turn. */
export const pause = () => new Promise<void>((resolve) => setImmediate(resolve));

const entriesAfter = query({ ...pick(opportunities, "updated_at", "id"), limit: parameter<number>() }, ({ updated_at, id, limit }) =>
  select(pick(opportunities, "updated_at", "seq", "facet_id"))
    .from(opportunities)
    .where(sql`(${opportunities.updated_at}, ${opportunities.id}) > (${updated_at}, ${id})`)
    .orderBy(asc(opportunities.updated_at), asc(opportunities.id))
    .limit(limit),
);
const idOfRow = query(pick(opportunities, "seq"), ({ seq }) =>
  select(pick(opportunities, "id")).from(opportunities).where(eq(opportunities.seq, seq)),
);

/**
 * Appends everything after `readUntil`, in batches with a pause after each. A commit between two batches does no harm: what it changes
 * comes after all that was there (D-31). A batch is read whole before it is appended, so that a failure leaves nothing half done.
 */
async function readInto(db: CatalogDb, contents: Contents, isCurrent: () => boolean): Promise<void> {
  const { index, facets } = contents;
  for (;;) {
    const { time, id } = contents.readUntil;
    const entries = await db.all(entriesAfter, { updated_at: time, id, limit: BATCH_ROWS });
    const last = entries.at(-1);
    if (last === undefined) return;
    const isLast = entries.length < BATCH_ROWS;
    const lastId = isLast ? AFTER_ALL_IDS : ((await db.get(idOfRow, { seq: last.seq }))?.id ?? AFTER_ALL_IDS);
    await readNewFacets(db, facets); // After the records: it has all that they refer to.
    if (!isCurrent()) return;
    for (const { updated_at, seq, facet_id } of entries) append(index, updated_at, seq, facet_id);
    contents.readUntil = { time: last.updated_at, id: lastId };
    if (isLast) return;
    await pause();
  }
}

async function readNewFacets(db: CatalogDb, facets: Facets): Promise<void> {
  for (;;) {
    const added = await readFacets(db, facets, BATCH_ROWS);
    addFacets(facets, added);
    if (added.length < BATCH_ROWS) return;
    await pause();
  }
}

const settingByName = selectBy(settings, "name");

export async function readCursorSecret(db: CatalogDb): Promise<Uint8Array> {
  const secret = await findCursorSecret(db);
  if (secret === undefined) throw new Error("The catalog has no cursor secret");
  return secret;
}

/** Each catalog makes one when it is made; its copies and replicas have the same. */
export async function findCursorSecret(db: CatalogDb): Promise<Uint8Array | undefined> {
  return (await db.get(settingByName, { name: "cursor_secret" }))?.value;
}
