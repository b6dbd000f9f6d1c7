/**
 * The list log: every record's place in the list, in memory, oldest first.
 *
 * D-31 makes the order append-only: a changed record always gets an `updated_at` later than everything before it. So taking in
 * another process's commit means reading the index from the last known instant on, and the record's old place is marked dead.
 * A list is a binary search and a scan backwards. A record takes 20 bytes (time, row number, facet; row number → place), and as the arrays
 * grow by doubling, 21 at a million records.
 */
import { asc, gt } from "drizzle-orm";
import { opportunities } from "../../db/catalog.ts";
import type { CatalogDb } from "../../db/engine.ts";
import { pick, query, type Row, select } from "../../db/query.ts";

/** No facet: the record has moved to a later place. */
const DEAD = 0;
/** Earlier than any instant that a date can name. */
const BEFORE_ALL = -8.64e15;

export type ListLog = {
  /** Entries in use, dead ones included. */
  length: number;
  dead: number;
  times: Float64Array;
  rows: Uint32Array;
  facets: Uint32Array;
  /** By row number: place + 1, or 0. */
  places: Uint32Array;
};

export function createListLog(): ListLog {
  return {
    length: 0,
    dead: 0,
    times: new Float64Array(1024),
    rows: new Uint32Array(1024),
    facets: new Uint32Array(1024),
    places: new Uint32Array(1024),
  };
}

const entryColumns = pick(opportunities, "updated_at", "seq", "facet_id");

/** A record's newest place. */
type Entry = Row<typeof entryColumns>;

const entriesAfter = query({ updated_at: opportunities.updated_at }, ({ updated_at }) =>
  select(entryColumns)
    .from(opportunities)
    .where(gt(opportunities.updated_at, updated_at))
    .orderBy(asc(opportunities.updated_at), asc(opportunities.id)),
);

/** What was committed since the log's end: an index range of exactly what changed. */
export async function readNewer(db: CatalogDb, log: ListLog): Promise<Entry[]> {
  return db.all(entriesAfter, { updated_at: newestTime(log) });
}

/** The newest `updated_at` in the log (ms); before all instants while it is empty. */
export function newestTime(log: ListLog): number {
  return log.length === 0 ? BEFORE_ALL : (log.times[log.length - 1] as number); // The last entry is never a dead one.
}

/** The log of all records there are. In portions: a million must not stand in memory as objects. */
export async function loadListLog(db: CatalogDb): Promise<ListLog> {
  const log = createListLog();
  await db.each(entriesAfter, { updated_at: BEFORE_ALL }, (entries) => appendAll(log, entries));
  return log;
}

/** Appends what `readNewer` read. */
export function appendAll(log: ListLog, entries: readonly Entry[]): void {
  for (const { updated_at, seq, facet_id } of entries) append(log, updated_at, seq, facet_id);
  if (log.dead > 1024 && log.dead * 4 > log.length) compact(log);
}

/** Up to `count` places from `to` (exclusive) back to `from`, newest first, whose facet is allowed; `null` allows every facet. */
export function newestFirst(log: ListLog, allowed: Uint8Array | null, from: number, to: number, count: number): number[] {
  const places: number[] = [];
  for (let place = to - 1; place >= from && places.length < count; place--) {
    const facet = log.facets[place] as number; // In range: from ≥ 0 and to ≤ length.
    if (facet !== DEAD && (allowed === null || allowed[facet] === 1)) places.push(place);
  }
  return places;
}

/** The first place whose time is later than `time`. */
export function firstAfter(log: ListLog, time: number): number {
  return firstWhere(0, log.length, (place) => (log.times[place] as number) > time);
}

/** The place of a row, or -1. */
export function placeOf(log: ListLog, seq: number): number {
  return (log.places[seq] ?? 0) - 1;
}

/** Whether a version of a record, by its row number and `updated_at`, is the one in the list. */
export function isNewest(log: ListLog, { seq, updated_at }: { seq: number; updated_at: number }): boolean {
  const place = placeOf(log, seq);
  return place >= 0 && log.times[place] === updated_at;
}

function append(log: ListLog, time: number, row: number, facet: number): void {
  if (log.length === log.times.length) grow(log, log.length * 2);
  if (row >= log.places.length) log.places = enlarged(log.places, new Uint32Array(Math.max(row + 1, log.places.length * 2)));
  const old = log.places[row] as number;
  if (old !== 0) {
    log.facets[old - 1] = DEAD;
    log.dead++;
  }
  log.times[log.length] = time;
  log.rows[log.length] = row;
  log.facets[log.length] = facet;
  log.length++;
  log.places[row] = log.length;
}

function compact(log: ListLog): void {
  let length = 0;
  for (let place = 0; place < log.length; place++) {
    if (log.facets[place] === DEAD) continue;
    log.times[length] = log.times[place] as number;
    log.rows[length] = log.rows[place] as number;
    log.facets[length] = log.facets[place] as number;
    length++;
    log.places[log.rows[place] as number] = length;
  }
  log.length = length;
  log.dead = 0;
}

function grow(log: ListLog, capacity: number): void {
  log.times = enlarged(log.times, new Float64Array(capacity));
  log.rows = enlarged(log.rows, new Uint32Array(capacity));
  log.facets = enlarged(log.facets, new Uint32Array(capacity));
}

function enlarged<T extends Float64Array | Uint32Array>(old: T, larger: T): T {
  larger.set(old);
  return larger;
}

function firstWhere(from: number, to: number, holds: (place: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
