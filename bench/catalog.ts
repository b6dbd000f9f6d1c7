/**
 * Creates a catalog of generated records and their histories: `bun bench/catalog.ts <empty directory> <records>`. It calls the same functions
 * as an import, but is faster: one transaction and no fsync.
 */
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { CatalogSql } from "../db/engine.ts";
import { imports } from "../db/schema/sqlite/catalog.ts";
import { migrations } from "../db/sqlite/migrate.ts";
import { fileNames, openCatalog } from "../db/sqlite/open.ts";
import { insertEvent, insertRecord } from "../src/changes/commit.ts";
import { prepareRecord } from "../src/changes/content.ts";
import { noChanges, saveCounts } from "../src/changes/counts.ts";
import { decideImport } from "../src/changes/decide.ts";
import { noteMovedKeys } from "../src/changes/link.ts";
import { type EventType, eventTypes, type OpportunityEvent, type Severity, severities } from "../src/events/event.ts";
import { validateRecord } from "../src/import/validate.ts";
import { opportunityId, uuid5 } from "../src/opportunities/identity.ts";
import { formatInstant } from "../src/text/instant.ts";
import { generateRecord, randomOf } from "./generate.ts";
import { LOAD_CORE, run, workDirectory } from "./processes.ts";

const SEED = 1;
/** The instant of the first chunk. Later chunks and changes follow, all in the past. */
const FIRST_INSTANT = Date.UTC(2024, 0, 1);
const CHUNK_EVERY_MS = 600_000;
/** Further events of the first record. All other records have about one. */
const LONG_HISTORY = 5000;

/** Returns the data directory of a catalog with this many records and twice as many events. Creates it on the first call, and again when its content would differ. */
export async function generatedCatalog(records: number): Promise<string> {
  const directory = join(workDirectory, `catalog-${records}-${version}`);
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  await run(LOAD_CORE, [process.execPath, import.meta.path, unfinished, String(records)]); // In another process, because it uses a gigabyte of memory.
  renameSync(unfinished, directory);
  return directory;
}

/** Reads the catalog once, so that the benchmark measures the program and not the disk. */
export async function warmFileCache(directory: string): Promise<void> {
  for await (const chunk of Bun.file(join(directory, fileNames.catalog)).stream()) void chunk;
}

/** Changes with everything that a catalog's content depends on: the schemas and the generator. */
const version = Bun.hash
  .crc32(
    [...migrations.catalog, ...migrations.state].map(({ sql }) => sql).join() + readFileSync(join(import.meta.dir, "generate.ts"), "utf8"),
  )
  .toString(36);

async function fill(directory: string, records: number): Promise<void> {
  const db = openCatalog(directory, Date.now());
  db.sqlite.run("pragma synchronous = off");
  db.sqlite.run("pragma cache_size = -1000000");
  const [begunImport] = drizzle(db.sqlite)
    .insert(imports)
    .values({
      format: "records",
      files: "[]",
      sources: "[]",
      snapshot: 0,
      started_at: FIRST_INSTANT,
      finished_at: FIRST_INSTANT,
      counts: "{}",
    })
    .returning()
    .all();
  await db.transaction((sql) => insertRecords(sql, records, begunImport?.id ?? 0));
  db.sqlite.run("pragma wal_checkpoint(truncate)");
  await db.close();
}

async function insertRecords(sql: CatalogSql, records: number, importId: number): Promise<void> {
  const random = randomOf(SEED, -2);
  const names = new Map<string, string>();
  const counts = noChanges();
  const movedKeys: string[] = [];
  let [chunk, leftInChunk] = [0, 0];
  for (let index = 0; index < records; index++) {
    if (leftInChunk-- === 0) {
      chunk++;
      leftInChunk = Math.floor(1000 * random());
    }
    const created_at = FIRST_INSTANT + chunk * CHUNK_EVERY_MS;
    // Three of ten have changed since, a few dozen at one instant, so the newest records are scattered over the file.
    const updated_at =
      random() < 0.3 ? FIRST_INSTANT + (records / 400 + Math.floor((random() * records) / 100)) * CHUNK_EVERY_MS : created_at;
    const record = validateRecord(generateRecord(SEED, index), names);
    const prepared = prepareRecord({ ...record, restored: { created_at, updated_at } });
    const writing = { sql, instant: updated_at, now: updated_at, counts, movedKeys };
    await insertRecord(writing, decideImport(undefined, prepared, writing), prepared, importId);
    const id = opportunityId(prepared.indexed.source.code, prepared.lineage);
    const further = index === 0 ? LONG_HISTORY : Math.floor(Math.log(1 - random()) / Math.log(0.5)); // One on average.
    for (let number = 0; number < further; number++) {
      const event = generatedEvent(id, number, created_at, updated_at, random);
      await insertEvent(sql, index + 1, event, importId, { ...event, imported_at: updated_at });
    }
  }
  await noteMovedKeys(sql, movedKeys);
  await saveCounts(sql, counts);
}

/** Returns the further event `number` of a record that was added and last changed at these instants. */
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
