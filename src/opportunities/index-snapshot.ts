/**
 * The index snapshot: the list index in a file beside the catalog, so that a server of millions of records starts sooner.
 *
 * It may be deleted at any time. A server reads it at its start, and only where it is whole and of this very catalog; otherwise, and
 * for all that is newer, it reads the catalog. What a server reads from the catalog later never comes from here.
 *
 * The file is a sequence of blocks: length of the content (8 bytes), its xxHash64 (8), content. The first block has the header as JSON,
 * each other one times (8 bytes each), rows and facets (4 each) of some records, oldest first; the last one is empty.
 */
import { createHmac } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { desc, inArray } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { listOf, pick, query, select, selectBy } from "../../db/query.ts";
import { imports, opportunities } from "../../db/schema/sqlite/catalog.ts";
import { appendNew, createListIndex, firstAfter, type ListIndex, linkNewer, recordCount, type Sizes } from "./list-index.ts";
import type { Position } from "./page.ts";
import { type Beginning, pause, type ReadModel, stepThrough } from "./read-model.ts";

/** Where the snapshot is, in the data directory. */
export const SNAPSHOT_NAME = "index.snapshot";

/** Reading so many records takes a tenth of a second: not worth a file. */
const FEW_RECORDS = 100_000;
/** A new snapshot is written once one record in so many is newer than the last one. */
const NEWER_SHARE = 16;
/** Records in a block: 1 to 3 ms of work. */
const BLOCK_RECORDS = 16_384;
const BYTES_PER_RECORD = 16;
const BLOCK_HEAD_BYTES = 16;
/** How many of the newest records, and how many of all, are compared with the catalog. */
const COMPARED = 100;

type Header = {
  format: 1;
  /** From the catalog's secret, which nobody learns from this. */
  catalog: string;
  readUntil: Position;
  /** The newest import when the snapshot was written: a catalog that was restored from a backup has another one under that number. */
  lastImport: { id: number; started_at: number } | null;
};

const newestImport = query({}, () =>
  select(pick(imports, "id", "started_at"))
    .from(imports)
    .orderBy(desc(imports.id))
    .limit(1),
);
const importById = selectBy(imports, "id");
const rowsBySeq = query({ seqs: listOf(opportunities.seq) }, ({ seqs }) =>
  select(pick(opportunities, "seq", "updated_at", "facet_id"))
    .from(opportunities)
    .where(inArray(opportunities.seq, seqs)),
);

const catalogOf = (cursorSecret: Uint8Array) => createHmac("sha256", cursorSecret).update("index snapshot").digest("hex");

/** Writes a snapshot if the last one is missing or too old to be of use. */
export async function keepSnapshot(model: ReadModel, path: string, fewRecords = FEW_RECORDS): Promise<void> {
  const { index, snapshotUntil } = model;
  const newer = index.end - firstAfter(index, snapshotUntil);
  if (newer > Math.max(fewRecords, recordCount(index) / NEWER_SHARE)) await stepThrough(model, () => writeSnapshot(model, path));
}

/** The file gets its name once it is complete. */
export async function writeSnapshot(model: ReadModel, path: string): Promise<void> {
  const partial = `${path}.partial`;
  await rm(partial, { force: true });
  const { index, readUntil } = model;
  const { end } = index; // What is appended from here on is newer than `readUntil`, and is not part of the snapshot.
  const lastImport = (await model.db.get(newestImport)) ?? null; // Last, so that no import is missing that the index knows.
  const header: Header = { format: 1, catalog: catalogOf(model.cursorSecret), readUntil, lastImport };
  const file = await open(partial, "wx", 0o600);
  try {
    await writeBlock(file, Buffer.from(JSON.stringify(header)));
    for (let place = 1; place < end; place += BLOCK_RECORDS) {
      const content = contentOf(index, place, Math.min(place + BLOCK_RECORDS, end));
      if (content.length > 0) await writeBlock(file, content);
    }
    await writeBlock(file, new Uint8Array());
    await file.sync();
    await file.close();
    await rename(partial, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw error;
  }
  model.snapshotUntil = readUntil.time;
}

async function writeBlock(file: FileHandle, content: Uint8Array): Promise<void> {
  const head = new DataView(new ArrayBuffer(BLOCK_HEAD_BYTES));
  head.setBigUint64(0, BigInt(content.length), true);
  head.setBigUint64(8, Bun.hash.xxHash64(content), true);
  await file.writeFile(Buffer.concat([new Uint8Array(head.buffer), content]));
}

/** The live places of a range. A place that dies before it is written has a successor that is newer than the snapshot. */
function contentOf({ times, rows, facets }: ListIndex, from: number, to: number): Uint8Array {
  const live: number[] = [];
  for (let place = from; place < to; place++) if (facets[place] !== 0) live.push(place);
  const content = new Uint8Array(live.length * BYTES_PER_RECORD);
  const columns = columnsOf(content);
  live.forEach((place, number) => {
    columns.times[number] = times[place] as number;
    columns.rows[number] = rows[place] as number;
    columns.facets[number] = facets[place] as number;
  });
  return content;
}

function columnsOf({ buffer, byteOffset, byteLength }: Uint8Array) {
  const count = byteLength / BYTES_PER_RECORD;
  return {
    times: new Float64Array(buffer, byteOffset, count),
    rows: new Uint32Array(buffer, byteOffset + 8 * count, count),
    facets: new Uint32Array(buffer, byteOffset + 12 * count, count),
  };
}

/** The index of the snapshot at `path`, or `undefined` if there is none that can be trusted. */
export async function readSnapshot(
  path: string,
  db: CatalogDb,
  cursorSecret: Uint8Array,
  sizes: Partial<Sizes>,
): Promise<Beginning | undefined> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const header = JSON.parse(Buffer.from((await readBlock(file)) ?? []).toString()) as Header;
    if (header.format !== 1 || header.catalog !== catalogOf(cursorSecret) || !(await hasImport(db, header))) return undefined;
    const index = createListIndex(sizes);
    const isWhole = await readRecords(file, index);
    return isWhole && (await agrees(db, index, header)) ? { index, readUntil: header.readUntil } : undefined;
  } catch {
    return undefined; // Damaged, or not a snapshot at all.
  } finally {
    await file.close();
  }
}

/** The content of the next block; `undefined` where it is damaged. */
async function readBlock(file: FileHandle): Promise<Uint8Array | undefined> {
  const head = await readBytes(file, BLOCK_HEAD_BYTES);
  if (head === undefined) return undefined;
  const view = new DataView(head.buffer);
  const length = Number(view.getBigUint64(0, true));
  if (length > BLOCK_RECORDS * BYTES_PER_RECORD) return undefined;
  const content = await readBytes(file, length);
  return content !== undefined && Bun.hash.xxHash64(content) === view.getBigUint64(8, true) ? content : undefined;
}

async function readBytes(file: FileHandle, length: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const bytes = new Uint8Array(length);
  if (length === 0) return bytes;
  const { bytesRead } = await file.read(bytes, 0, length, null);
  return bytesRead === length ? bytes : undefined;
}

/** Whether all blocks were there. Each is read by another thread, so other work has its turn between two of them. */
async function readRecords(file: FileHandle, index: ListIndex): Promise<boolean> {
  for (;;) {
    const content = await readBlock(file);
    if (content === undefined) return false;
    if (content.length === 0) break;
    const { times, rows, facets } = columnsOf(content);
    for (let number = 0; number < times.length; number++)
      appendNew(index, times[number] as number, rows[number] as number, facets[number] as number);
  }
  await linkNewer(index, pause);
  return true;
}

async function hasImport(db: CatalogDb, { lastImport }: Header): Promise<boolean> {
  if (lastImport === null) return (await db.get(newestImport)) === undefined;
  return (await db.get(importById, { id: lastImport.id }))?.started_at === lastImport.started_at;
}

/** Whether the newest records, and some others, are in the catalog as they are in the snapshot, or have changed since. */
async function agrees(db: CatalogDb, { end, times, rows, facets }: ListIndex, { readUntil }: Header): Promise<boolean> {
  const places = Array.from({ length: Math.min(COMPARED, end - 1) }, (_, number) => [
    end - 1 - number,
    1 + Math.floor((number * (end - 1)) / COMPARED),
  ]);
  const compared = new Map(places.flat().map((place) => [rows[place] as number, place]));
  const found = await db.all(rowsBySeq, { seqs: [...compared.keys()] });
  if (found.length !== compared.size) return false;
  return found.every(({ seq, updated_at, facet_id }) => {
    const place = compared.get(seq) as number;
    return updated_at > readUntil.time || (updated_at === times[place] && facet_id === facets[place]);
  });
}
