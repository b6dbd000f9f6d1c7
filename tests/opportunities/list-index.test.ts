/** The list index against an array of all records, with sizes so small that every branch is met: while it is appended to, and compacted. */
import { expect, test } from "bun:test";
import { randomOf } from "../../bench/generate.ts";
import {
  append,
  bytesInUse,
  checkListIndex,
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

const SEED = Number(process.env.FUNDFEED_SEED ?? 20260301);
/** Each is an index of its own, with some 1,500 lists. */
const ROUNDS = Number(process.env.FUNDFEED_INDEX_ROUNDS ?? 20);
const STEPS = 50;
const LISTS = 25;

type Random = () => number;
type Record = { time: number; row: number; facet: number };
type World = { index: ListIndex; records: Map<number, Record>; time: number; facets: number; rows: number; random: Random };

const below = (random: Random, limit: number) => Math.floor(random() * limit);

function aWorld(random: Random): World {
  const sizes = {
    capacity: 1 + below(random, 200),
    checkpointEvery: 1 + below(random, 200),
    scannedFirst: below(random, 20),
    fewDead: below(random, 50),
    slice: 1 + below(random, 300),
  };
  const [facets, rows] = [1 + below(random, random() < 0.5 ? 8 : 300), 50 + below(random, 2000)];
  return { index: createListIndex(sizes), records: new Map(), time: 0, facets, rows, random };
}

/** Several records share an instant; some steps change records that are near one another, and make long runs of dead slots. */
function change(world: World): void {
  const { index, records, random, rows } = world;
  const cluster = below(random, rows);
  const isClustered = random() < 0.5;
  for (let left = below(random, 150); left > 0; left--) {
    if (random() < 0.3) world.time++;
    const row = 1 + (isClustered ? (cluster + below(random, 100)) % rows : below(random, rows));
    const facet = 1 + Math.floor(world.facets * random() ** 3);
    append(index, world.time, row, facet);
    records.delete(row); // So that the map has the records in the order of their last change.
    records.set(row, { time: world.time, row, facet });
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

/** One list by the index and by the records: of some facets, since an instant, and after a record or an instant. */
function compareList(world: World): void {
  const { index, records, random } = world;
  const all = [...records.values()];
  const allowed = aFacetSet(world);
  const since = random() < 0.5 ? null : below(random, world.time + 1) - 1;
  const cursor = all[below(random, all.length)];
  const until = random() < 0.3 || cursor === undefined ? null : random() < 0.5 ? cursor : cursor.time;
  const count = 1 + below(random, 101);

  const from = since === null ? 1 : firstSlotAfter(index, since);
  const to = until === null ? index.end : typeof until === "number" ? firstSlotAfter(index, until) : slotOf(index, until.row) + 1;
  const rows = newestFirst(index, allowed, from, to, count).map((slot) => index.seqs[slot] as number);

  const last = until === null ? all.length : typeof until === "number" ? all.findIndex(({ time }) => time > until) : all.indexOf(until) + 1;
  const expected = all
    .slice(0, last === -1 ? all.length : last)
    .filter(({ time, facet }) => (since === null || time > since) && (allowed === null || allowed.flags[facet] === 1))
    .reverse()
    .slice(0, count)
    .map(({ row }) => row);
  if (!Bun.deepEquals(rows, expected))
    expect({ seed: SEED, since, until, count, rows }).toEqual({ seed: SEED, since, until, count, rows: expected });
}

function compare(world: World): void {
  const { index, records } = world;
  checkListIndex(index);
  if (recordCount(index) !== records.size) expect(recordCount(index)).toBe(records.size);
  for (let list = 0; list < LISTS; list++) compareList(world);
}

test(
  "every list is what a look at every record finds, also while the index is compacted and changes meanwhile",
  async () => {
    let [compactions, pauses, checkpoints, chained] = [0, 0, 0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const world = aWorld(randomOf(SEED, round));
      const { index, random } = world;
      for (let step = 0; step < STEPS; step++) {
        change(world);
        compare(world);
        if (!needsCompaction(index)) continue;
        let changes = 4; // Or changes might outrun compaction for ever.
        await compact(index, async () => {
          pauses++;
          if (random() < 0.1 && changes-- > 0) change(world);
          if (random() < 0.1) compare(world);
        });
        compactions++;
        compare(world);
      }
      checkpoints += index.checkpoints.length;
      chained += newestFirst(index, { flags: new Uint8Array(), ids: Uint32Array.of(1) }, 1, index.end, 1).length; // Nothing is flagged: only chains find it.
    }
    expect(Math.min(compactions, checkpoints)).toBeGreaterThan(ROUNDS);
    expect(pauses).toBeGreaterThan(10 * ROUNDS);
    expect(chained).toBeGreaterThan(ROUNDS / 4);
  },
  60_000 + ROUNDS * 5000,
);

test("a list of a rare facet looks at few slots, also behind a long run of dead ones", () => {
  const index = createListIndex();
  const [records, rare] = [400_000, 2];
  for (let row = 1; row <= records; row++) append(index, row, row, row <= 30 ? rare : 1);
  for (let row = 100_001; row <= 300_000; row++) append(index, records + row, row, 1);
  checkListIndex(index);

  let looks = 0;
  const counting = <T extends Uint32Array>(array: T): T =>
    new Proxy(array, {
      get(target, key) {
        looks++;
        return Reflect.get(target, key);
      },
    });
  const counted = { ...index, facets: counting(index.facets), older: counting(index.older) };
  const rareOnly = { flags: Uint8Array.of(0, 0, 1), ids: Uint32Array.of(rare) };
  expect(newestFirst(counted, rareOnly, 1, index.end, 25)).toHaveLength(25);
  expect(newestFirst(counted, null, 1, slotOf(index, 400_000), 25)).toHaveLength(25);
  expect(newestFirst(counted, null, 1, 300_000, 25)).toHaveLength(25); // Slots 100,001 to 300,000 are dead.
  expect(looks).toBeLessThan(3 * 2 * 65_536);
});

test("memory stays at 36 bytes a record, however often records change, and checkpoints do not pile up", async () => {
  const [rows, facets] = [100_000, 1500];
  const index = createListIndex({ checkpointEvery: 4096 });
  const random = randomOf(SEED, -1);
  for (let time = 1; time <= 5 * rows; time++) {
    append(index, time, time <= rows ? time : 1 + below(random, rows), 1 + below(random, facets));
    if (time % 5000 === 0 && needsCompaction(index)) await compact(index, async () => undefined);
    if (time > rows && time % 10_000 === 0) expect(bytesInUse(index) / rows).toBeLessThan(36.5);
  }
  checkListIndex(index);
  expect(index.checkpoints.length).toBeLessThan((index.end / 6000) * 1.5);
});

test("an empty index, and one of a single record that changes", () => {
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
