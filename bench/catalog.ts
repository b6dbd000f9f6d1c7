/**
 * Makes a catalog of the generated records and their histories through the product's own writer, faster than by imports: one transaction,
 * no fsync. `bun bench/catalog.ts <empty directory> <records>`
 */
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { CatalogSql } from "../db/engine.ts";
import { imports } from "../db/schema/sqlite/catalog.ts";
import { migrations } from "../db/sqlite/migrate.ts";
import { fileNames, openCatalog } from "../db/sqlite/open.ts";
import { insertImportedEvent, insertRecord } from "../src/changes/commit.ts";
import { prepareRecord } from "../src/changes/content.ts";
import { decideImport } from "../src/changes/decide.ts";
import { type EventType, eventTypes, type OpportunityEvent, type Severity, severities } from "../src/events/event.ts";
import { validateRecord } from "../src/import/validate.ts";
import { opportunityId, uuid5 } from "../src/opportunities/identity.ts";
import { formatInstant } from "../src/text/instant.ts";
import { generateRecord, randomOf } from "./generate.ts";
import { LOAD_CORE, run, workDirectory } from "./processes.ts";

const SEED = 1;
/** The first import's instant; later chunks and changes follow it, all of them in the past. */
const BEGAN = Date.UTC(2024, 0, 1);
const CHUNK_EVERY_MS = 600_000;
/** How many of a record's events there are beside its addition, at most, save for the first record's. */
const LONG_HISTORY = 5000;

/** The data directory of the catalog with so many records and twice as many events; made when it is not there yet. */
export async function catalogOf(records: number): Promise<string> {
  const directory = join(workDirectory, `catalog-${records}-${shape}`);
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  await run(LOAD_CORE, [process.execPath, import.meta.path, unfinished, String(records)]); // Elsewhere: it takes a gigabyte of memory.
  renameSync(unfinished, directory);
  return directory;
}

/** Reads the files once, so that what follows measures the program and not the disk. */
export async function warm(directory: string): Promise<void> {
  for await (const chunk of Bun.file(join(directory, fileNames.catalog)).stream()) chunk.byteLength;
}

/** What a catalog's content depends on; when it changes, catalogs are made anew. */
const shape = Bun.hash
  .crc32(
    [...migrations.catalog, ...migrations.state].map(({ sql }) => sql).join() + readFileSync(join(import.meta.dir, "generate.ts"), "utf8"),
  )
  .toString(36);

async function fill(directory: string, records: number): Promise<void> {
  const db = openCatalog(directory, Date.now());
  db.sqlite.run("pragma synchronous = off");
  db.sqlite.run("pragma cache_size = -1000000");
  const [begun] = drizzle(db.sqlite)
    .insert(imports)
    .values({ format: "records", files: "[]", sources: "[]", snapshot: 0, started_at: BEGAN, finished_at: BEGAN, counts: "{}" })
    .returning()
    .all();
  await db.transaction((sql) => write(sql, records, begun?.id ?? 0));
  db.sqlite.run("pragma wal_checkpoint(truncate)");
  await db.close();
}

async function write(sql: CatalogSql, records: number, importId: number): Promise<void> {
  const random = randomOf(SEED, -2);
  const names = new Map<string, string>();
  let [chunk, leftInChunk] = [0, 0];
  for (let index = 0; index < records; index++) {
    if (leftInChunk-- === 0) {
      chunk++;
      leftInChunk = Math.floor(1000 * random());
    }
    const created_at = BEGAN + chunk * CHUNK_EVERY_MS;
    // Three of ten changed since, a few dozen at an instant, so that the newest stand anywhere on disk.
    const updated_at = random() < 0.3 ? BEGAN + (records / 400 + Math.floor((random() * records) / 100)) * CHUNK_EVERY_MS : created_at;
    const record = validateRecord(generateRecord(SEED, index), names);
    const prepared = prepareRecord({ ...record, restored: { created_at, updated_at } });
    await insertRecord(sql, decideImport(undefined, prepared, updated_at), prepared, updated_at, importId);
    const id = opportunityId(prepared.indexed.source.code, prepared.lineage);
    const further = index === 0 ? LONG_HISTORY : Math.floor(Math.log(1 - random()) / Math.log(0.5)); // One on average.
    for (let number = 0; number < further; number++) {
      const event = generatedEvent(id, number, created_at, updated_at, random);
      const { type, severity, detected_at } = event;
      await insertImportedEvent(sql, index + 1, event, { type, severity, detected_at: Date.parse(detected_at) }, importId);
    }
  }
}

/** The `number`th further event of a record that was added and last changed at these instants. */
function generatedEvent(opportunity_id: string, number: number, added: number, changed: number, random: () => number): OpportunityEvent {
  const change = { field: "dates.closes_at", previous: "2026-01-02T23:59:59-05:00", current: "2026-01-09T23:59:59-05:00" };
  return {
    id: uuid5(`${opportunity_id}\n${number}`),
    opportunity_id,
    type: eventTypes[1 + Math.floor((eventTypes.length - 1) * random())] as EventType,
    severity: severities[Math.floor(severities.length * random())] as Severity,
    summary: `${change.field} changed from ${change.previous} to ${change.current}`,
    changed_fields: [change.field],
    changes: [change],
    detected_at: formatInstant(added + Math.floor(random() * ((changed - added) / CHUNK_EVERY_MS + 1)) * CHUNK_EVERY_MS),
  };
}

if (import.meta.main) {
  const [directory = "", records] = process.argv.slice(2);
  await fill(directory, Number(records));
}
