/**
 * The list index: every record's place in the list, in memory, oldest first.
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

export type ListIndex = {
  /** Entries in use, dead ones included. */
  length: number;
  dead: number;
  times: Float64Array;
  rows: Uint32Array;
  facets: Uint32Array;
  /** By row number: place + 1, or 0. */
  places: Uint32Array;
};

export function createListIndex(): ListIndex {
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

/** What was committed since the index's end: an index range of exactly what changed. */
export async function readNewer(db: CatalogDb, index: ListIndex): Promise<Entry[]> {
  return db.all(entriesAfter, { updated_at: newestTime(index) });
}

/** The newest `updated_at` in the index (ms); before all instants while it is empty. */
export function newestTime(index: ListIndex): number {
  return index.length === 0 ? BEFORE_ALL : (index.times[index.length - 1] as number); // The last entry is never a dead one.
}

/** The index of all records there are. In portions: a million must not stand in memory as objects. */
export async function loadListIndex(db: CatalogDb): Promise<ListIndex> {
  const index = createListIndex();
  await db.each(entriesAfter, { updated_at: BEFORE_ALL }, (entries) => appendAll(index, entries));
  return index;
}

/** Appends what `readNewer` read. */
export function appendAll(index: ListIndex, entries: readonly Entry[]): void {
  for (const { updated_at, seq, facet_id } of entries) append(index, updated_at, seq, facet_id);
  if (index.dead > 1024 && index.dead * 4 > index.length) compact(index);
}

/** Up to `count` places from `to` (exclusive) back to `from`, newest first, whose facet is allowed; `null` allows every facet. */
export function newestFirst(index: ListIndex, allowed: Uint8Array | null, from: number, to: number, count: number): number[] {
  const places: number[] = [];
  for (let place = to - 1; place >= from && places.length < count; place--) {
    const facet = index.facets[place] as number; // In range: from ≥ 0 and to ≤ length.
    if (facet !== DEAD && (allowed === null || allowed[facet] === 1)) places.push(place);
  }
  return places;
}

/** The first place whose time is later than `time`. */
export function firstAfter(index: ListIndex, time: number): number {
  return firstWhere(0, index.length, (place) => (index.times[place] as number) > time);
}

/** The place of a row, or -1. */
export function placeOf(index: ListIndex, seq: number): number {
  return (index.places[seq] ?? 0) - 1;
}

/** Whether a version of a record, by its row number and `updated_at`, is the one in the list. */
export function isNewest(index: ListIndex, { seq, updated_at }: { seq: number; updated_at: number }): boolean {
  const place = placeOf(index, seq);
  return place >= 0 && index.times[place] === updated_at;
}

function append(index: ListIndex, time: number, row: number, facet: number): void {
  if (index.length === index.times.length) grow(index, index.length * 2);
  if (row >= index.places.length) index.places = enlarged(index.places, new Uint32Array(Math.max(row + 1, index.places.length * 2)));
  const old = index.places[row] as number;
  if (old !== 0) {
    index.facets[old - 1] = DEAD;
    index.dead++;
  }
  index.times[index.length] = time;
  index.rows[index.length] = row;
  index.facets[index.length] = facet;
  index.length++;
  index.places[row] = index.length;
}

function compact(index: ListIndex): void {
  let length = 0;
  for (let place = 0; place < index.length; place++) {
    if (index.facets[place] === DEAD) continue;
    index.times[length] = index.times[place] as number;
    index.rows[length] = index.rows[place] as number;
    index.facets[length] = index.facets[place] as number;
    length++;
    index.places[index.rows[place] as number] = length;
  }
  index.length = length;
  index.dead = 0;
}

function grow(index: ListIndex, capacity: number): void {
  index.times = enlarged(index.times, new Float64Array(capacity));
  index.rows = enlarged(index.rows, new Uint32Array(capacity));
  index.facets = enlarged(index.facets, new Uint32Array(capacity));
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
