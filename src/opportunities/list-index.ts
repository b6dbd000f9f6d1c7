/**
 * The list index: the place of every record in the list, oldest first, in memory.
 *
 * D-31 makes the order append-only: a changed record always gets an `updated_at` later than all others. So changes are appended, and a
 * record's former place is dead. Each live place is linked to the next older and the next newer one of its facet:
 *
 *     place     1   2   3   4   5   6   7   8 │ 9  10      end: 11
 *     facet     A   B   A   –   B   A   C   B │ A   B      place 4 is dead
 *                                             │
 *     chain A   1 ───── 3 ───────── 6 ──────────9          heads:                A 9  B 10  C 7
 *     chain B       2 ───────── 5 ───────── 8 ─────10      checkpoint, end 9:    A 6  B 8   C 7
 *     chain C                           7
 *
 * A checkpoint keeps the heads of all places before its end. A list first scans places backwards. If the page is not full then, the scan
 * goes on to the next checkpoint, and the rest of the page comes from the chains of the allowed facets, from the checkpoint's heads on.
 * So the cost of a list depends on the number of facets and on the distance between checkpoints, and not on the number of records.
 *
 * Once a sixth of the places are dead, live places move down over them, slice by slice. Between two slices there is a gap:
 *
 *     place     1 … 6 │ 7 … 9 │ 10 … 17 │ end        7 … 9 are dead; the next live place from 10 on moves to 7
 *               moved   gap     to move
 *
 * A place takes 24 bytes, a row number 4 and checkpoints at most 2 a place: 28 to 36 bytes a record. Arrays are reserved in advance,
 * because growing copies them: memory that was never written to costs nothing.
 */

/** The facet of a dead place. */
const DEAD = 0;
/** Earlier than any instant that a date can name. */
const BEFORE_ALL = -8.64e15;
/** What an allowed facet adds to the first scan: about the cost of its part in `followChains`, in places scanned. */
const FACET_COST = 3;

/** Facets by id: a flag for each, and the ids of those flagged. */
export type FacetSet = { flags: Uint8Array; ids: Uint32Array };

export type Sizes = {
  /** How many places and rows to reserve. */
  capacity: number;
  /** Places between two checkpoints, at least. */
  checkpointEvery: number;
  /** Places that every list may scan. */
  scannedFirst: number;
  /** Fewer dead places than this are never compacted. */
  fewDead: number;
  /** Places that compaction looks at between two pauses: less than a millisecond. */
  slice: number;
};

const SIZES: Sizes = { capacity: 1_048_576, checkpointEvery: 65_536, scannedFirst: 512, fewDead: 1024, slice: 4096 };

type Checkpoint = { end: number; heads: Uint32Array };

export type ListIndex = {
  sizes: Sizes;
  /** The first free place. Places count from 1; 0 means none. */
  end: number;
  dead: number;
  /** Dead places, from `start` to before `end`, while compaction is under way; otherwise empty. */
  gap: { start: number; end: number };
  /** By place. Times ascend, except in the gap. */
  times: Float64Array;
  rows: Uint32Array;
  facets: Uint32Array;
  /** The next older and the next newer place of the same facet. Meaningless for a dead place. */
  older: Uint32Array;
  newer: Uint32Array;
  /** By row number: its live place. */
  places: Uint32Array;
  /** By facet: its newest place. */
  heads: Uint32Array;
  /** One more than the greatest facet. */
  facetEnd: number;
  /** Oldest first. */
  checkpoints: Checkpoint[];
};

export function createListIndex(sizes: Partial<Sizes> = {}): ListIndex {
  const all = { ...SIZES, ...sizes };
  const { capacity } = all;
  const times = new Float64Array(capacity);
  times[0] = BEFORE_ALL;
  return {
    sizes: all,
    end: 1,
    dead: 0,
    gap: { start: 1, end: 1 },
    times,
    rows: new Uint32Array(capacity),
    facets: new Uint32Array(capacity),
    older: new Uint32Array(capacity),
    newer: new Uint32Array(capacity),
    places: new Uint32Array(capacity),
    heads: new Uint32Array(1024),
    facetEnd: 1,
    checkpoints: [],
  };
}

/** The newest `updated_at` (ms); before all instants while the index is empty. */
export function newestTime({ times, end }: ListIndex): number {
  return times[end - 1] as number; // The last place is never dead.
}

/** How many records there are. */
export function recordCount({ end, dead }: ListIndex): number {
  return end - 1 - dead;
}

/** The live place of a row, or 0. */
export function placeOf({ places }: ListIndex, row: number): number {
  return places[row] ?? 0;
}

/** The first place whose time is later than `time`, never one in the gap. */
export function firstAfter({ times, end, gap }: ListIndex, time: number): number {
  const isLater = (place: number) => (times[place] as number) > time;
  const place = firstWhere(1, gap.start, isLater);
  return place < gap.start ? place : firstWhere(gap.end, end, isLater);
}

/** Whether a version of a record, by its row number and `updated_at`, is the one in the list. */
export function isNewest(index: ListIndex, { seq, updated_at }: { seq: number; updated_at: number }): boolean {
  const place = placeOf(index, seq);
  return place !== 0 && index.times[place] === updated_at;
}

/** Adds a record, or a new version of it. `time` is not before any other in the index. */
export function append(index: ListIndex, time: number, row: number, facet: number): void {
  const former = placeOf(index, row);
  if (former !== 0) kill(index, former);
  const place = appendNew(index, time, row, facet);
  const older = index.older[place] as number;
  index.newer[place] = 0;
  if (older !== 0) index.newer[older] = place;
}

/** Adds a record that is not in the index. After the last one `linkNewer` must be called: the links it makes are quicker made all at once. */
export function appendNew(index: ListIndex, time: number, row: number, facet: number): number {
  makeRoom(index, row, facet);
  const place = index.end++;
  index.times[place] = time;
  index.rows[place] = row;
  index.facets[place] = facet;
  index.places[row] = place;
  index.older[place] = index.heads[facet] as number;
  index.heads[facet] = place;
  if (index.end - (index.checkpoints.at(-1)?.end ?? 1) >= checkpointDistance(index))
    index.checkpoints.push({ end: index.end, heads: index.heads.slice(0, index.facetEnd) });
  return place;
}

/** Links each place to the next newer one of its facet. From the newest on, so that memory is written in order. */
export async function linkNewer({ end, facets, newer, facetEnd, sizes }: ListIndex, pause: () => Promise<void>): Promise<void> {
  const nextNewer = new Uint32Array(facetEnd);
  for (let place = end - 1; place > 0; place--) {
    if (place % (16 * sizes.slice) === 0) await pause();
    const facet = facets[place] as number;
    newer[place] = nextNewer[facet] as number;
    nextNewer[facet] = place;
  }
}

/** With many facets checkpoints are further apart: 4 bytes a facet in each are at most 2 bytes a place. */
function checkpointDistance({ sizes, facetEnd }: ListIndex): number {
  return Math.max(sizes.checkpointEvery, 2 * facetEnd);
}

function kill(index: ListIndex, place: number): void {
  relink(index, place, index.older[place] as number, index.newer[place] as number);
  index.facets[place] = DEAD;
  index.dead++;
}

/** Makes all that refers to a place refer to others: heads and the next newer place to `older`, the next older place to `newer`. */
function relink(index: ListIndex, place: number, older: number, newer: number): void {
  const facet = index.facets[place] as number;
  const [nextOlder, nextNewer] = [index.older[place] as number, index.newer[place] as number];
  if (nextNewer === 0) index.heads[facet] = older;
  else index.older[nextNewer] = older;
  if (nextOlder !== 0) index.newer[nextOlder] = newer;

  const { checkpoints } = index;
  for (let number = firstCheckpointAfter(index, place); number < checkpoints.length; number++) {
    const { heads } = checkpoints[number] as Checkpoint;
    if (heads[facet] !== place) break; // This checkpoint and all later ones have a newer head.
    heads[facet] = older;
  }
}

/** The first checkpoint that ends after a place. */
function firstCheckpointAfter({ checkpoints }: ListIndex, place: number): number {
  return firstWhere(0, checkpoints.length, (number) => (checkpoints[number] as Checkpoint).end > place);
}

/** Up to `count` places from `to` (exclusive) back to `from`, newest first, whose facet is allowed; `null` allows every facet. */
export function newestFirst(index: ListIndex, allowed: FacetSet | null, from: number, to: number, count: number): number[] {
  const { gap, sizes } = index;
  const scanned = sizes.scannedFirst + FACET_COST * (allowed?.ids.length ?? index.facetEnd);
  const checkpoint = index.checkpoints[firstCheckpointAfter(index, to - scanned) - 1];
  const stop = Math.max(from, checkpoint?.end ?? 1);
  const found: number[] = [];
  scan(index, allowed, Math.max(stop, gap.end), to, count, found);
  scan(index, allowed, stop, Math.min(to, gap.start), count, found);
  if (found.length < count && checkpoint !== undefined && checkpoint.end > from)
    followChains(index, headsOf(checkpoint, allowed, from), from, count, found);
  return found;
}

/** Adds places to `found`, newest first, until there are `count`. */
function scan({ facets }: ListIndex, allowed: FacetSet | null, from: number, to: number, count: number, found: number[]): void {
  for (let place = to - 1; place >= from && found.length < count; place--) {
    const facet = facets[place] as number;
    if (facet !== DEAD && (allowed === null || allowed.flags[facet] === 1)) found.push(place);
  }
}

/** The newest places of the allowed facets before a checkpoint, from `from` on. */
function headsOf({ heads }: Checkpoint, allowed: FacetSet | null, from: number): Uint32Array {
  const length = allowed?.ids.length ?? heads.length;
  const newest = new Uint32Array(length);
  let size = 0;
  for (let number = 0; number < length; number++) {
    const head = heads[allowed === null ? number : (allowed.ids[number] as number)] ?? 0; // A facet may be newer than the checkpoint.
    if (head >= from) newest[size++] = head;
  }
  return newest.subarray(0, size);
}

/** Adds places to `found`, newest first, until there are `count`. `heap` has the newest place of each chain. */
function followChains({ older }: ListIndex, heap: Uint32Array, from: number, count: number, found: number[]): void {
  let size = heap.length;
  for (let root = (size >> 1) - 1; root >= 0; root--) sink(heap, size, root);
  while (size > 0 && found.length < count) {
    const newest = heap[0] as number;
    found.push(newest);
    const next = older[newest] as number;
    heap[0] = next >= from ? next : (heap[--size] as number);
    sink(heap, size, 0);
  }
}

/** Moves the value at `root` down a binary heap that has its greatest value on top. */
function sink(heap: Uint32Array, size: number, root: number): void {
  const value = heap[root] as number;
  let parent = root;
  for (;;) {
    let child = 2 * parent + 1;
    if (child + 1 < size && (heap[child + 1] as number) > (heap[child] as number)) child++;
    if (child >= size || (heap[child] as number) <= value) break;
    heap[parent] = heap[child] as number;
    parent = child;
  }
  heap[parent] = value;
}

export function needsCompaction({ end, dead, sizes }: ListIndex): boolean {
  return dead > sizes.fewDead && 6 * dead > end;
}

/**
 * Moves live places down over dead ones, with a pause after each slice. In the pauses the index is read and appended to as ever, but
 * nothing else may step through its places. In place, because memory is neither needed for a copy nor given back, which takes long.
 */
export async function compact(index: ListIndex, pause: () => Promise<void>): Promise<void> {
  const { gap } = index;
  let passed = 0;
  for (; ; gap.end++) {
    if (gap.end % index.sizes.slice === 0) await pause();
    if (index.checkpoints[passed]?.end === gap.end && keepsCheckpoint(index, passed)) passed++;
    if (gap.end === index.end) break;
    if (index.facets[gap.end] !== DEAD) move(index, gap.end, gap.start++);
  }
  index.dead -= gap.end - gap.start;
  index.end = gap.start;
  Object.assign(gap, { start: 1, end: 1 });
}

/** Moves a checkpoint to the start of the gap, or removes it where the last one is now near enough. */
function keepsCheckpoint(index: ListIndex, number: number): boolean {
  const { checkpoints, gap } = index;
  const isKept = gap.start - (checkpoints[number - 1]?.end ?? 1) >= checkpointDistance(index);
  if (isKept) (checkpoints[number] as Checkpoint).end = gap.start;
  else checkpoints.splice(number, 1);
  return isKept;
}

function move(index: ListIndex, place: number, to: number): void {
  if (place === to) return;
  relink(index, place, to, to);
  for (const column of [index.times, index.rows, index.facets, index.older, index.newer]) column[to] = column[place] as number;
  index.places[index.rows[to] as number] = to;
  index.facets[place] = DEAD;
}

/** Doubles what is full. With millions of places that takes a tenth of a second, so it should not happen often. */
function makeRoom(index: ListIndex, row: number, facet: number): void {
  if (index.end === index.times.length) {
    index.times = enlarged(index.times, new Float64Array(2 * index.end));
    for (const name of ["rows", "facets", "older", "newer"] as const) index[name] = enlarged(index[name], new Uint32Array(2 * index.end));
  }
  if (row >= index.places.length) index.places = enlarged(index.places, new Uint32Array(2 * row));
  if (facet >= index.heads.length) index.heads = enlarged(index.heads, new Uint32Array(2 * facet));
  if (facet >= index.facetEnd) index.facetEnd = facet + 1;
}

function enlarged<T extends Float64Array | Uint32Array>(full: T, larger: T): T {
  larger.set(full);
  return larger;
}

/** The first number of a range for which a condition holds that holds for all after it; `to` where it holds for none. */
function firstWhere(from: number, to: number, holds: (number: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Bytes in use: those reserved but never written to take no memory. */
export function bytesInUse(index: ListIndex): number {
  const checkpoints = index.checkpoints.reduce((sum, { heads }) => sum + heads.byteLength, 0);
  return 24 * index.end + 4 * recordCount(index) + index.heads.byteLength + checkpoints;
}

/** Throws where the structure contradicts itself. For tests: it looks at every place. */
export function checkListIndex(index: ListIndex): void {
  const { end, gap, times, rows, facets, older, newer, places, heads, checkpoints, facetEnd } = index;
  const require = (holds: boolean, what: string) => {
    if (!holds) throw new Error(`The list index is broken: ${what}`);
  };
  const newest = new Uint32Array(heads.length);
  let [dead, checkpoint] = [0, 0];
  let last = 0;
  for (let place = 1; place <= end; place++) {
    if (checkpoints[checkpoint]?.end === place) {
      require(place <= gap.start || place >= gap.end, `checkpoint ${checkpoint} is in the gap`);
      const kept = (checkpoints[checkpoint] as Checkpoint).heads;
      require(kept.every((head, facet) => head === newest[facet]), `heads of checkpoint ${checkpoint}`);
      require(newest.subarray(kept.length).every((head) => head === 0), `a facet is missing in checkpoint ${checkpoint}`);
      checkpoint++;
    }
    if (place === end) break;
    const facet = facets[place] as number;
    const isGap = place >= gap.start && place < gap.end;
    require(!isGap || facet === DEAD, `place ${place} is in the gap, and not dead`);
    if (!isGap) {
      require((times[place] as number) >= (times[last] as number), `the time of place ${place} is before that of the last one`);
      last = place;
    }
    require((places[rows[place] as number] === place) === (facet !== DEAD), `place ${place} is dead, or is not that of its row`);
    if (facet === DEAD) {
      dead++;
      continue;
    }
    require(facet < facetEnd, `the facet of place ${place}`);
    require(older[place] === newest[facet], `the next older place of ${place}`);
    if (older[place] !== 0) require(newer[older[place] as number] === place, `the next newer place of ${older[place]}`);
    newest[facet] = place;
  }
  require(checkpoint === checkpoints.length, "a checkpoint is after the end, or out of order");
  require(heads.every((head, facet) => head === newest[facet]), "heads");
  require(heads.every((head) => head === 0 || newer[head] === 0), "a head has a newer place");
  require(dead === index.dead, `${index.dead} dead places are counted, and there are ${dead}`);
  require(places.reduce((sum, place) => sum + (place === 0 ? 0 : 1), 0) === recordCount(index), "rows");
}
