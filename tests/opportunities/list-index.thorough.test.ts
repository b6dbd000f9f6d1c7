/** The list index compared with an array of all records. Small sizes make every branch run, during appends and compaction. */
import { expect, test } from "bun:test";
import { randomOf } from "../../bench/generate.ts";
import {
  append,
  compact,
  createListIndex,
  type FacetSet,
  firstSlotAfter,
  isNewest,
  type ListIndex,
  needsCompaction,
  newestFirst,
  newestTime,
  recordCount,
  slotOf,
} from "../../src/opportunities/list-index.ts";
import { bytesInUse, checkListIndex } from "../support/check-list-index.ts";

const SEED = Number(process.env.FUNDFEED_SEED ?? 20260301);
/** Each round has a new index and some 1,500 lists. */
const ROUNDS = Number(process.env.FUNDFEED_INDEX_ROUNDS ?? 12);
const STEPS = 50;
const LISTS = 25;

type Random = () => number;
type Record = { time: number; seq: number; facet: number };
type World = { index: ListIndex; records: Map<number, Record>; time: number; facets: number; greatestSeq: number; random: Random };

const below = (random: Random, limit: number) => Math.floor(random() * limit);

function aWorld(random: Random): World {
  const sizes = {
    capacity: 1 + below(random, 200),
    checkpointEvery: 1 + below(random, 200),
    scannedFirst: below(random, 20),
    fewDead: below(random, 50),
    slice: 1 + below(random, 300),
  };
  const [facets, greatestSeq] = [1 + below(random, random() < 0.5 ? 8 : 300), 50 + below(random, 2000)];
  return { index: createListIndex(sizes), records: new Map(), time: 0, facets, greatestSeq, random };
}

/** Several records share an instant. Some steps change neighboring records, which makes long runs of dead slots. */
function change(world: World): void {
  const { index, records, random, greatestSeq } = world;
  const cluster = below(random, greatestSeq);
  const isClustered = random() < 0.5;
  for (let left = below(random, 150); left > 0; left--) {
    if (random() < 0.3) world.time++;
    const seq = 1 + (isClustered ? (cluster + below(random, 100)) % greatestSeq : below(random, greatestSeq));
    const facet = 1 + Math.floor(world.facets * random() ** 3);
    append(index, world.time, seq, facet);
    records.delete(seq); // Keeps the map in the order of last changes.
    records.set(seq, { time: world.time, seq, facet });
  }
  world.time++;
}

function aFacetSet({ random, facets }: World): FacetSet | null {
  if (random() < 0.15) return null;
  const share = random() ** 4;
  const ids = Array.from({ length: facets }, (_, id) => id + 1).filter(() => random() < share);
  const flags = new Uint8Array(facets + 1);
  for (const id of ids) flags[id] = 1;
  return { flags, ids: Uint32Array.from(ids) };
}

/** Compares one random list: some facets, since an instant, after a record or an instant. */
function compareList(world: World): void {
  const { index, records, random } = world;
  const all = [...records.values()];
  const allowed = aFacetSet(world);
  const since = random() < 0.5 ? null : below(random, world.time + 1) - 1;
  const cursor = all[below(random, all.length)];
  const until = random() < 0.3 || cursor === undefined ? null : random() < 0.5 ? cursor : cursor.time;
  const count = 1 + below(random, 101);

  const from = since === null ? 1 : firstSlotAfter(index, since);
  const to = until === null ? index.end : typeof until === "number" ? firstSlotAfter(index, until) : slotOf(index, until.seq) + 1;
  const seqs = newestFirst(index, allowed, from, to, count).map((slot) => index.seqs[slot] as number);

  const last = until === null ? all.length : typeof until === "number" ? all.findIndex(({ time }) => time > until) : all.indexOf(until) + 1;
  const expected = all
    .slice(0, last === -1 ? all.length : last)
    .filter(({ time, facet }) => (since === null || time > since) && (allowed === null || allowed.flags[facet] === 1))
    .reverse()
    .slice(0, count)
    .map(({ seq }) => seq);
  if (!Bun.deepEquals(seqs, expected))
    expect({ seed: SEED, since, until, count, seqs }).toEqual({ seed: SEED, since, until, count, seqs: expected });
}

function compare(world: World): void {
  const { index, records } = world;
  checkListIndex(index);
  if (recordCount(index) !== records.size) expect(recordCount(index)).toBe(records.size);
  for (let list = 0; list < LISTS; list++) compareList(world);
}

test(
  "lists equal a search through all records, also during compaction with changes in its pauses",
  async () => {
    let [compactions, pauses, checkpoints, chained] = [0, 0, 0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const world = aWorld(randomOf(SEED, round));
      const { index, random } = world;
      for (let step = 0; step < STEPS; step++) {
        change(world);
        compare(world);
        if (!needsCompaction(index)) continue;
        let changes = 4; // With more, compaction might never end.
        await compact(index, async () => {
          pauses++;
          if (random() < 0.1 && changes-- > 0) change(world);
          if (random() < 0.1) compare(world);
        });
        compactions++;
        compare(world);
      }
      checkpoints += index.checkpoints.length;
      chained += newestFirst(index, { flags: new Uint8Array(), ids: Uint32Array.of(1) }, 1, index.end, 1).length; // No facet is flagged, so only its chain can find it.
    }
    expect(Math.min(compactions, checkpoints)).toBeGreaterThan(ROUNDS);
    expect(pauses).toBeGreaterThan(10 * ROUNDS);
    expect(chained).toBeGreaterThan(ROUNDS / 4);
  },
  60_000 + ROUNDS * 5000,
);

test("a list of a rare facet reads few slots, even with a long run of dead ones", () => {
  const index = createListIndex();
  const [records, rare] = [400_000, 2];
  for (let seq = 1; seq <= records; seq++) append(index, seq, seq, seq <= 30 ? rare : 1);
  for (let seq = 100_001; seq <= 300_000; seq++) append(index, records + seq, seq, 1);
  checkListIndex(index);

  let reads = 0;
  const counting = <T extends Uint32Array>(array: T): T =>
    new Proxy(array, {
      get(target, key) {
        reads++;
        return Reflect.get(target, key);
      },
    });
  const counted = { ...index, facets: counting(index.facets), older: counting(index.older) };
  const rareOnly = { flags: Uint8Array.of(0, 0, 1), ids: Uint32Array.of(rare) };
  expect(newestFirst(counted, rareOnly, 1, index.end, 25)).toHaveLength(25);
  expect(newestFirst(counted, null, 1, slotOf(index, 400_000), 25)).toHaveLength(25);
  expect(newestFirst(counted, null, 1, 300_000, 25)).toHaveLength(25); // Slots 100,001 to 300,000 are dead.
  expect(reads).toBeLessThan(3 * 2 * 65_536);
});

test("memory stays at 36 bytes a record when records change often, and old checkpoints are removed", async () => {
  const [records, facets] = [100_000, 1500];
  const index = createListIndex({ checkpointEvery: 4096 });
  const random = randomOf(SEED, -1);
  for (let time = 1; time <= 5 * records; time++) {
    append(index, time, time <= records ? time : 1 + below(random, records), 1 + below(random, facets));
    if (time % 5000 === 0 && needsCompaction(index)) await compact(index, async () => undefined);
    if (time > records && time % 10_000 === 0) expect(bytesInUse(index) / records).toBeLessThan(36.5);
  }
  checkListIndex(index);
  expect(index.checkpoints.length).toBeLessThan((index.end / 6000) * 1.5);
});

test("an empty index, and an index of one record that changes", () => {
  const index = createListIndex({ capacity: 2 });
  checkListIndex(index);
  expect([recordCount(index), newestFirst(index, null, 1, index.end, 5), slotOf(index, 1), slotOf(index, 5_000_000)]).toEqual([
    0,
    [],
    0,
    0,
  ]);
  expect(newestTime(index)).toBeLessThan(Date.UTC(-200_000, 0));
  for (let time = 1; time <= 100; time++) {
    append(index, time, 7, time);
    checkListIndex(index);
    expect(isNewest(index, { seq: 7, updated_at: time })).toBe(true);
    expect(isNewest(index, { seq: 7, updated_at: time - 1 })).toBe(false);
  }
  expect(recordCount(index)).toBe(1);
});
