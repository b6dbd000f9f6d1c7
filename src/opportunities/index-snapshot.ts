/**
 * The index snapshot: the list index in a file in the data directory, so that a server with millions of records starts sooner.
 *
 * It may be deleted at any time. A server reads it only when it starts, and only if it is complete and belongs to this catalog. The server
 * reads newer records, or all records, from the catalog.
 *
 * The file is a sequence of blocks: length of the content (8 bytes), its xxHash64 (8 bytes), the content. The first block holds the header
 * as JSON. Each following block holds some records, oldest first: their times (8 bytes each), row numbers and facets (4 bytes each). The
 * last block is empty.
 */
import { createHmac } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { desc, inArray } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { listOf, pick, query, select, selectBy } from "../../db/query.ts";
import { imports, opportunities } from "../../db/schema/sqlite/catalog.ts";
import { appendNew, createListIndex, DEAD, firstSlotAfter, type ListIndex, linkNewer, recordCount, type Sizes } from "./list-index.ts";
import type { Position } from "./page.ts";
import { maintain, pause, type ReadModel, type SnapshotContents } from "./read-model.ts";

/** The snapshot's file name in the data directory. */
export const SNAPSHOT_NAME = "index.snapshot";

/** Loading so many records takes a tenth of a second, which is not worth a file. */
const FEW_RECORDS = 100_000;
/** A new snapshot is written when one in so many records is newer than the last snapshot. */
const NEWER_SHARE = 16;
/** Records in a block, 1 to 3 ms of work. */
const BLOCK_RECORDS = 16_384;
const BYTES_PER_RECORD = 16;
const BLOCK_HEAD_BYTES = 16;
/** How many of the newest records, and how many spread over all, are compared with the catalog. */
const COMPARED = 100;

type Header = {
  format: 1;
  /** Identifies the catalog: an HMAC with its cursor secret as the key. */
  catalog: string;
  readUntil: Position;
  /** The newest import when the snapshot was written. After a restore from a backup, that id belongs to a different import or to none. */
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

/** Writes a snapshot if there is none or it is too old to be of use. Skips catalogs with at most `fewRecords` new records. */
export async function keepSnapshot(model: ReadModel, path: string, fewRecords = FEW_RECORDS): Promise<void> {
  const { index, snapshotUntil } = model;
  const newer = index.end - firstSlotAfter(index, snapshotUntil);
  if (newer > Math.max(fewRecords, recordCount(index) / NEWER_SHARE)) await maintain(model, () => writeSnapshot(model, path));
}

/** Writes the snapshot to `path`. The file gets that name once it is complete. */
export async function writeSnapshot(model: ReadModel, path: string): Promise<void> {
  const partial = `${path}.partial`;
  await rm(partial, { force: true });
  const { index, readUntil } = model;
  const { end } = index; // Later slots are newer than `readUntil` and not part of the snapshot.
  const lastImport = (await model.db.get(newestImport)) ?? null; // Read after `end`, so that the index has no record of a later import.
  const header: Header = { format: 1, catalog: catalogOf(model.cursorSecret), readUntil, lastImport };
  const file = await open(partial, "wx", 0o600);
  try {
    await writeBlock(file, Buffer.from(JSON.stringify(header)));
    for (let slot = 1; slot < end; slot += BLOCK_RECORDS) {
      const content = blockOf(index, slot, Math.min(slot + BLOCK_RECORDS, end));
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

/** The live slots of a range as a block's content. A slot that dies before that has a successor that is newer than the snapshot. */
function blockOf({ times, seqs, facets }: ListIndex, from: number, to: number): Uint8Array {
  const live: number[] = [];
  for (let slot = from; slot < to; slot++) if (facets[slot] !== DEAD) live.push(slot);
  const content = new Uint8Array(live.length * BYTES_PER_RECORD);
  const columns = columnsOf(content);
  live.forEach((slot, number) => {
    columns.times[number] = times[slot] as number;
    columns.seqs[number] = seqs[slot] as number;
    columns.facets[number] = facets[slot] as number;
  });
  return content;
}

/** Views of a block's columns. */
function columnsOf({ buffer, byteOffset, byteLength }: Uint8Array) {
  const count = byteLength / BYTES_PER_RECORD;
  return {
    times: new Float64Array(buffer, byteOffset, count),
    seqs: new Uint32Array(buffer, byteOffset + 8 * count, count),
    facets: new Uint32Array(buffer, byteOffset + 12 * count, count),
  };
}

/** The snapshot at `path`, or `undefined` if there is none, it is damaged, or it belongs to another state of the catalog. */
export async function readSnapshot(
  path: string,
  db: CatalogDb,
  cursorSecret: Uint8Array,
  sizes: Partial<Sizes>,
): Promise<SnapshotContents | undefined> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const header = JSON.parse(Buffer.from((await readBlock(file)) ?? []).toString()) as Header;
    if (header.format !== 1 || header.catalog !== catalogOf(cursorSecret) || !(await hasImport(db, header))) return undefined;
    const index = createListIndex(sizes);
    const isWhole = await readRecords(file, index);
    return isWhole && (await matchesCatalog(db, index, header)) ? { index, readUntil: header.readUntil } : undefined;
  } catch {
    return undefined; // The header is not JSON, or the file cannot be read.
  } finally {
    await file.close();
  }
}

/** The content of the next block, or `undefined` if it is damaged. */
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

/** Reads all records into `index`; false if a block is missing or damaged. Other work goes on while a thread reads the next block. */
async function readRecords(file: FileHandle, index: ListIndex): Promise<boolean> {
  for (;;) {
    const content = await readBlock(file);
    if (content === undefined) return false;
    if (content.length === 0) break;
    const { times, seqs, facets } = columnsOf(content);
    for (let number = 0; number < times.length; number++)
      appendNew(index, times[number] as number, seqs[number] as number, facets[number] as number);
  }
  await linkNewer(index, pause);
  return true;
}

async function hasImport(db: CatalogDb, { lastImport }: Header): Promise<boolean> {
  if (lastImport === null) return (await db.get(newestImport)) === undefined;
  return (await db.get(importById, { id: lastImport.id }))?.started_at === lastImport.started_at;
}

/** Whether the newest records and a sample of all are the same in the catalog, or have changed since the snapshot. */
async function matchesCatalog(db: CatalogDb, { end, times, seqs, facets }: ListIndex, { readUntil }: Header): Promise<boolean> {
  const slots = Array.from({ length: Math.min(COMPARED, end - 1) }, (_, number) => [
    end - 1 - number,
    1 + Math.floor((number * (end - 1)) / COMPARED),
  ]);
  const compared = new Map(slots.flat().map((slot) => [seqs[slot] as number, slot]));
  const found = await db.all(rowsBySeq, { seqs: [...compared.keys()] });
  if (found.length !== compared.size) return false;
  return found.every(({ seq, updated_at, facet_id }) => {
    const slot = compared.get(seq) as number;
    return updated_at > readUntil.time || (updated_at === times[slot] && facet_id === facets[slot]);
  });
}
