/** Makes a catalogue of the generated records and their histories through the product's own writer, faster than by imports: one transaction, no fsync. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../db/open.ts";
import { decide, insert, insertImportedEvent } from "../src/changes/commit.ts";
import { type EventType, eventTypes, type OpportunityEvent, type Severity, severities } from "../src/events/event.ts";
import { judgeRecord } from "../src/import/judge.ts";
import { formatInstant } from "../src/instant.ts";
import { opportunityId, uuid5 } from "../src/opportunities/identity.ts";
import { generateRecord, randomOf } from "./generate.ts";
import { workDirectory } from "./processes.ts";

const SEED = 1;
/** The first import's instant; later chunks and changes follow it, all of them in the past. */
const BEGAN = Date.UTC(2024, 0, 1);
const CHUNK_EVERY_MS = 600_000;
/** How many of a record's events there are beside its addition, at most, save for the first record's. */
const LONG_HISTORY = 5000;

/** The data directory of the catalogue with so many records and twice as many events; made when it is not there yet. */
export function catalogueOf(records: number): string {
  const directory = join(workDirectory, `catalogue-${records}`);
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  fill(unfinished, records);
  renameSync(unfinished, directory);
  return directory;
}

function fill(directory: string, records: number): void {
  const db = openCatalog(directory, Date.now());
  db.sqlite.run("pragma synchronous = off");
  db.sqlite.run("pragma cache_size = -1000000");
  db.sqlite.run("begin");
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
    const incoming = { ...judgeRecord(generateRecord(SEED, index), names), restored: { created_at, updated_at } };
    insert(db, decide(undefined, incoming, updated_at), incoming, updated_at, 0);
    const id = opportunityId(incoming.content.source.code, incoming.lineage);
    const further = index === 0 ? LONG_HISTORY : Math.floor(Math.log(1 - random()) / Math.log(0.5)); // One on average.
    for (let event = 0; event < further; event++) addEvent(db, index + 1, id, event, created_at, updated_at, random);
  }
  db.sqlite.run("commit");
  db.sqlite.run("pragma wal_checkpoint(truncate)");
  db.sqlite.close();
}

function addEvent(
  db: ReturnType<typeof openCatalog>,
  row: number,
  opportunity_id: string,
  number: number,
  from: number,
  to: number,
  random: () => number,
): void {
  const type = eventTypes[1 + Math.floor((eventTypes.length - 1) * random())] as EventType;
  const severity = severities[Math.floor(severities.length * random())] as Severity;
  const detected_at = from + Math.floor(random() * ((to - from) / CHUNK_EVERY_MS + 1)) * CHUNK_EVERY_MS;
  const change = { field: "dates.closes_at", previous: "2026-01-02T23:59:59-05:00", current: "2026-01-09T23:59:59-05:00" };
  const event: OpportunityEvent = {
    id: uuid5(`${opportunity_id}\n${number}`),
    opportunity_id,
    type,
    severity,
    summary: `${change.field} changed from ${change.previous} to ${change.current}`,
    changed_fields: [change.field],
    changes: [change],
    detected_at: formatInstant(detected_at),
  };
  insertImportedEvent(db, row, event, { type, severity, detected_at }, 0);
}
