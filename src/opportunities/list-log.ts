/**
 * The list log: every record's place in the list, in memory, oldest first.
 *
 * D-31 makes the order append-only: a changed record always gets an `updated_at` later than everything before it. So taking in
 * another process's commit means reading the index from the last known instant on, and the record's old place is marked dead.
 * A list is a binary search and a scan backwards. 20 bytes a record: time, row number, facet; row number → place.
 */
import type { CatalogDb } from "../../db/open.ts";
import type { Position } from "../page.ts";

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

/** Appends what was committed since the last call and tells how much that was. Reads an index range of exactly what changed. */
export function appendNewer(log: ListLog, { sqlite }: CatalogDb): number {
  const newest = log.length === 0 ? BEFORE_ALL : (log.times[log.length - 1] as number);
  const newer = sqlite.query<{ updated_at: number; seq: number; facet_id: number }, [number]>(
    "select updated_at, seq, facet_id from opportunities where updated_at > ? order by updated_at, id",
  );
  const before = log.length;
  // Iterated: a million rows must not stand in memory as objects.
  for (const { updated_at, seq, facet_id } of newer.iterate(newest)) append(log, updated_at, seq, facet_id);
  const appended = log.length - before;
  if (log.dead > 1024 && log.dead * 4 > log.length) compact(log);
  return appended;
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

/** The place at which a page that follows `position` ends. `idOf` names a row; a dead entry still has its row's id, so the order holds. */
export function placeOf(log: ListLog, position: Position, idOf: (row: number) => string): number {
  const first = firstAfter(log, position.time - 1);
  const end = firstAfter(log, position.time);
  return firstWhere(first, end, (place) => idOf(log.rows[place] as number) >= position.id);
}

/** Whether a version of a record, by its row number and `updated_at`, is the one in the list. */
export function isNewest(log: ListLog, { row, updated_at }: { row: number; updated_at: number }): boolean {
  const place = (log.places[row] ?? 0) - 1;
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
