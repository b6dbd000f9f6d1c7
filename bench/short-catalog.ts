/**
 * Creates a catalog of millions of short records. The filtered columns are as in the generated records, but a document has about 300 bytes, so
 * ten million records fit on a small disk. It uses plain inserts, and each record has one event.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../db/sqlite/migrate.ts";
import { openCatalog } from "../db/sqlite/open.ts";
import { recountIfBehind } from "../src/changes/counts.ts";
import { generateRecord, randomOf } from "./generate.ts";
import { workDirectory } from "./processes.ts";

const SEED = 1;
/** How many generated records determine the facets and their proportions. */
const SAMPLES = 150_000;
const FIRST_INSTANT = Date.UTC(2024, 0, 1);
const CHUNK_RECORDS = 500;
const CHUNK_EVERY_MS = 60_000;

/** Returns the data directory of such a catalog. Creates it on the first call, and again when the schema changes. */
export async function shortCatalog(records: number): Promise<string> {
  const version = Bun.hash.crc32(migrations.catalog.map(({ sql }) => sql).join()).toString(36);
  const directory = join(workDirectory, `short-catalog-${records}-${version}`);
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  await fill(unfinished, records);
  renameSync(unfinished, directory);
  return directory;
}

async function fill(directory: string, records: number): Promise<void> {
  const db = openCatalog(directory, Date.now());
  const { sqlite } = db;
  for (const pragma of ["synchronous = off", "cache_size = -1000000", "locking_mode = exclusive"]) sqlite.run(`pragma ${pragma}`);
  sqlite.run(
    `insert into imports (format, files, sources, snapshot, started_at, finished_at, last_instant, counts)
     values ('records', '[]', '["SAM_GOV"]', 0, ${FIRST_INSTANT}, ${FIRST_INSTANT}, ${FIRST_INSTANT}, '{}')`,
  );
  const facet = sqlite.prepare<{ id: number }, [string, string, string, string]>(
    "insert into facets (status, source, program_type, agency) values (?, ?, ?, ?) returning id",
  );
  const insert = sqlite.prepare(
    `insert into opportunities (seq, id, source, lineage, source_opportunity_id, created_at, updated_at, facet_id, status_basis, hash, document, sidecar)
     values (?, ?, ?, ?, ?, ?, ?, ?, 'stated', ?, ?, ?)`,
  );
  const insertEvent = sqlite.prepare(
    `insert into events (id, opportunity_seq, detected_at, type, severity, origin, import_id, document)
     values (?, ?, ?, 'opportunity_added', 'info', 'detected', 1, ?)`,
  );
  sqlite.run("begin");
  const samples = Array.from({ length: SAMPLES }, (_, index) => {
    const { status, source, program, organization } = generateRecord(SEED, index);
    return { status, source: source.code, program_type: program.type ?? "", agency: organization.agency };
  });
  const ids = new Map<string, number>();
  const facetIds = samples.map(({ status, source, program_type, agency }) => {
    const key = JSON.stringify([status, source, program_type, agency]);
    const id = ids.get(key) ?? facet.get(status, source, program_type, agency)?.id ?? 0;
    ids.set(key, id);
    return id;
  });
  const random = randomOf(SEED, -3);
  const [hash, sidecar, event] = [new Uint8Array(32), Buffer.from("{}"), Buffer.from(`{"type":"opportunity_added"}`)];
  const chunks = Math.ceil(records / CHUNK_RECORDS);
  for (let seq = 1; seq <= records; seq++) {
    const created_at = FIRST_INSTANT + Math.floor(seq / CHUNK_RECORDS) * CHUNK_EVERY_MS;
    // Three of ten have changed since, a few at one instant.
    const updated_at = random() < 0.3 ? FIRST_INSTANT + (chunks + Math.floor(random() * chunks)) * CHUNK_EVERY_MS : created_at;
    const sample = Math.floor(random() * SAMPLES);
    const { status, source, program_type, agency } = samples[sample] as (typeof samples)[number];
    const id = idOf(seq, "a");
    const document = JSON.stringify({
      id,
      title: `Opportunity ${seq}`,
      status,
      source: { code: source },
      program_type,
      agency,
      updated_at,
    });
    insert.run(
      seq,
      id,
      source,
      `N${seq}`,
      `N${seq}`,
      created_at,
      updated_at,
      facetIds[sample] as number,
      hash,
      Buffer.from(document),
      sidecar,
    );
    insertEvent.run(idOf(seq, "b"), seq, created_at, event);
  }
  sqlite.run("commit");
  await recountIfBehind(db);
  sqlite.run("pragma locking_mode = normal");
  sqlite.run("pragma wal_checkpoint(truncate)");
  await db.close();
}

/** Returns ids in ascending order, so that indexes are written sequentially. */
function idOf(number: number, kind: string): string {
  return `${number.toString(16).padStart(8, "0")}-0000-4000-8000-00000000000${kind}`;
}

if (import.meta.main) process.stdout.write(`${await shortCatalog(Number(Bun.argv[2] ?? 1_000_000))}\n`);
