/**
 * The list index: all records in list order, oldest first, in memory.
 *
 * The order is append-only, because a changed record always gets a later `updated_at` than all others (D-31). So a change appends a new
 * slot and leaves the record's former slot dead. Each live slot is linked to the next older and the next newer one of its facet:
 *
 *     slot      1   2   3   4   5   6   7   8 │ 9  10      end: 11
 *     facet     A   B   A   –   B   A   C   B │ A   B      slot 4 is dead
 *                                             │
 *     chain A   1 ───── 3 ───────── 6 ──────────9          heads:                A 9  B 10  C 7
 *     chain B       2 ───────── 5 ───────── 8 ─────10      checkpoint, end 9:    A 6  B 8   C 7
 *     chain C                           7
 *
 * A checkpoint keeps the heads of the chains as they were at its end. A list first scans slots backwards, at most to the next checkpoint.
 * If the page is not full by then, the rest comes from the chains of the allowed facets, starting at the checkpoint's heads. So the cost
 * of a list depends on the number of facets and on the distance between checkpoints, and not on the number of records.
 *
 * Once a sixth of the slots are dead, compaction moves live slots down over them, slice by slice. Between two slices there is a gap:
 *
 *     slot      1 … 6 │ 7 … 9 │ 10 … 17 │ end        7 … 9 are dead; the next live slot from 10 on moves to 7
 *               moved   gap     to move
 *
 * A slot takes 24 bytes, a row number 4, and checkpoints at most 2 bytes a slot: 28 to 36 bytes a record. Arrays are allocated larger than
 * needed, because growing copies them. Memory that was never written to costs nothing. (E-31)
 */
import type { EpochMs } from "../text/instant.ts";

/** The facet of a dead slot. */
export const DEAD = 0;
const BEFORE_ALL = -8.64e15;
/** By which each allowed facet lengthens the first scan: about what it costs in `followChains`. */
const FACET_COST = 3;

export type FacetSet = { flags: Uint8Array; ids: Uint32Array };

export type Sizes = {
  capacity: number;
  /** Least number of slots between two checkpoints. */
  checkpointEvery: number;
  /** Slots that every list may scan, in addition to those for its facets. */
  scannedFirst: number;
  fewDead: number;
  /** Slots that compaction handles between two pauses, in less than a millisecond. */
  slice: number;
};

const SIZES: Sizes = { capacity: 1_048_576, checkpointEvery: 65_536, scannedFirst: 512, fewDead: 1024, slice: 4096 };

/** The heads of all chains, not counting slots from `end` on. */
type Checkpoint = { end: number; heads: Uint32Array };

export type ListIndex = {
  sizes: Sizes;
  /** The first free slot. Slots count from 1, and 0 means none. */
  end: number;
  dead: number;
  /** Empty unless compaction is under way. */
  gap: { start: number; end: number };
  /** By slot: `updated_at`. Ascending, except in the gap. */
  times: Float64Array;
  seqs: Uint32Array;
  facets: Uint32Array;
  /** By slot: the next older and the next newer slot of the same facet. Meaningless for dead slots. */
  older: Uint32Array;
  newer: Uint32Array;
  slots: Uint32Array;
  heads: Uint32Array;
  /** One more than the greatest facet id. */
  facetEnd: number;
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
    seqs: new Uint32Array(capacity),
    facets: new Uint32Array(capacity),
    older: new Uint32Array(capacity),
    newer: new Uint32Array(capacity),
    slots: new Uint32Array(capacity),
    heads: new Uint32Array(1024),
    facetEnd: 1,
    checkpoints: [],
  };
}

/** The newest `updated_at`; earlier than any date while the index is empty. */
export function newestTime({ times, end }: ListIndex): EpochMs {
  return times[end - 1] as number; // The last slot is never dead: only a later one could replace it.
}

export function recordCount({ end, dead }: ListIndex): number {
  return end - 1 - dead;
}

/** The live slot of the record with a row number, or 0. */
export function slotOf({ slots }: ListIndex, seq: number): number {
  return slots[seq] ?? 0;
}

/** The first slot with a time later than `time`, never one in the gap; `end` if there is none. */
export function firstSlotAfter({ times, end, gap }: ListIndex, time: EpochMs): number {
  const isLater = (slot: number) => (times[slot] as number) > time;
  const slot = firstWhere(1, gap.start, isLater);
  return slot < gap.start ? slot : firstWhere(gap.end, end, isLater);
}

/** Whether this version of a record is the one in the list. */
export function isNewest(index: ListIndex, { seq, updated_at }: { seq: number; updated_at: EpochMs }): boolean {
  const slot = slotOf(index, seq);
  return slot !== 0 && index.times[slot] === updated_at;
}

/** Adds a record or its new version. `time` must not be earlier than any other in the index. */
export function append(index: ListIndex, time: EpochMs, seq: number, facet: number): void {
  const former = slotOf(index, seq);
  if (former !== 0) markDead(index, former);
  makeRoom(index, seq, facet);
  const slot = index.end++;
  const older = index.heads[facet] as number;
  index.times[slot] = time;
  index.seqs[slot] = seq;
  index.facets[slot] = facet;
  index.slots[seq] = slot;
  index.older[slot] = older;
  index.newer[slot] = 0;
  if (older !== 0) index.newer[older] = slot;
  index.heads[facet] = slot;
  if (index.end - (index.checkpoints.at(-1)?.end ?? 1) >= checkpointDistance(index))
    index.checkpoints.push({ end: index.end, heads: index.heads.slice(0, index.facetEnd) });
}

/** A checkpoint takes 4 bytes a facet: at this distance, at most 2 bytes a slot. */
function checkpointDistance({ sizes, facetEnd }: ListIndex): number {
  return Math.max(sizes.checkpointEvery, 2 * facetEnd);
}

function markDead(index: ListIndex, slot: number): void {
  relink(index, slot, index.older[slot] as number, index.newer[slot] as number);
  index.facets[slot] = DEAD;
  index.dead++;
}

/** Redirects all references to a slot: heads and the next newer slot then refer to `older`, the next older slot to `newer`. */
function relink(index: ListIndex, slot: number, older: number, newer: number): void {
  const facet = index.facets[slot] as number;
  const [nextOlder, nextNewer] = [index.older[slot] as number, index.newer[slot] as number];
  if (nextNewer === 0) index.heads[facet] = older;
  else index.older[nextNewer] = older;
  if (nextOlder !== 0) index.newer[nextOlder] = newer;

  const { checkpoints } = index;
  for (let number = firstCheckpointAfter(index, slot); number < checkpoints.length; number++) {
    const { heads } = checkpoints[number] as Checkpoint;
    if (heads[facet] !== slot) break; // This checkpoint and all later ones have a newer head.
    heads[facet] = older;
  }
}

function firstCheckpointAfter({ checkpoints }: ListIndex, slot: number): number {
  return firstWhere(0, checkpoints.length, (number) => (checkpoints[number] as Checkpoint).end > slot);
}

/** Up to `count` slots with an allowed facet, newest first, from `to` (exclusive) back to `from`. `null` allows every facet. */
export function newestFirst(index: ListIndex, allowed: FacetSet | null, from: number, to: number, count: number): number[] {
  const { gap, sizes } = index;
  const scanned = sizes.scannedFirst + FACET_COST * (allowed?.ids.length ?? index.facetEnd);
  const checkpoint = index.checkpoints[firstCheckpointAfter(index, to - scanned) - 1];
  const scanStart = Math.max(from, checkpoint?.end ?? 1);
  const found: number[] = [];
  scan(index, allowed, Math.max(scanStart, gap.end), to, count, found); // The slots after the gap, then those before it.
  scan(index, allowed, scanStart, Math.min(to, gap.start), count, found);
  if (found.length < count && checkpoint !== undefined && checkpoint.end > from)
    followChains(index, headsOf(checkpoint, allowed, from), from, count, found);
  return found;
}

function scan({ facets }: ListIndex, allowed: FacetSet | null, from: number, to: number, count: number, found: number[]): void {
  for (let slot = to - 1; slot >= from && found.length < count; slot--) {
    const facet = facets[slot] as number;
    if (facet !== DEAD && (allowed === null || allowed.flags[facet] === 1)) found.push(slot);
  }
}

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

/** `heap` starts with the newest slot of each chain. */
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

/** Whether enough slots are dead to call `compact`. */
export function needsCompaction({ end, dead, sizes }: ListIndex): boolean {
  return dead > sizes.fewDead && 6 * dead > end;
}

/** Works in place, because a copy takes long, with pauses. During a pause the index may be read and appended to, but not gone through in steps. */
export async function compact(index: ListIndex, pause: () => Promise<void>): Promise<void> {
  const { gap } = index;
  let moved = 0; // Checkpoints.
  for (; ; gap.end++) {
    if (gap.end % index.sizes.slice === 0) await pause();
    if (index.checkpoints[moved]?.end === gap.end && moveOrRemoveCheckpoint(index, moved)) moved++;
    if (gap.end === index.end) break;
    if (index.facets[gap.end] !== DEAD) move(index, gap.end, gap.start++);
  }
  index.dead -= gap.end - gap.start;
  index.end = gap.start;
  Object.assign(gap, { start: 1, end: 1 });
}

/** Moves it to the start of the gap, or removes it, and returns false, if the previous one is close enough. */
function moveOrRemoveCheckpoint(index: ListIndex, number: number): boolean {
  const { checkpoints, gap } = index;
  const isKept = gap.start - (checkpoints[number - 1]?.end ?? 1) >= checkpointDistance(index);
  if (isKept) (checkpoints[number] as Checkpoint).end = gap.start;
  else checkpoints.splice(number, 1);
  return isKept;
}

function move(index: ListIndex, slot: number, to: number): void {
  if (slot === to) return;
  relink(index, slot, to, to);
  for (const column of [index.times, index.seqs, index.facets, index.older, index.newer]) column[to] = column[slot] as number;
  index.slots[index.seqs[to] as number] = to;
  index.facets[slot] = DEAD;
}

/** Doubles full arrays. With millions of slots that takes a tenth of a second, so arrays start large. */
function makeRoom(index: ListIndex, seq: number, facet: number): void {
  if (index.end === index.times.length) {
    index.times = enlarged(index.times, new Float64Array(2 * index.end));
    for (const name of ["seqs", "facets", "older", "newer"] as const) index[name] = enlarged(index[name], new Uint32Array(2 * index.end));
  }
  if (seq >= index.slots.length) index.slots = enlarged(index.slots, new Uint32Array(2 * seq));
  if (facet >= index.heads.length) index.heads = enlarged(index.heads, new Uint32Array(2 * facet));
  if (facet >= index.facetEnd) index.facetEnd = facet + 1;
}

/** An array with room for more, with the values of the full one. */
export function enlarged<T extends Float64Array | Uint32Array>(full: T, larger: T): T {
  larger.set(full);
  return larger;
}

function firstWhere(from: number, to: number, holds: (number: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
