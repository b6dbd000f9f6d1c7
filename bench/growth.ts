/** What grows with the number of records: lists, memory, loading, and the longest pause of the event loop while the list index takes changes. */

import { openCatalog } from "../db/sqlite/open.ts";
import { allowedFacets, type FacetFilter } from "../src/opportunities/facets.ts";
import {
  append,
  compact,
  type FacetSet,
  firstSlotAfter,
  type ListIndex,
  needsCompaction,
  newestFirst,
  newestTime,
  recordCount,
} from "../src/opportunities/list-index.ts";
import { programTypes, statuses } from "../src/opportunities/opportunity.ts";
import { createReadModel, type ReadModel } from "../src/opportunities/read-model.ts";
import { bytesInUse } from "../tests/support/check-list-index.ts";
import { cpuMs } from "../tests/support/cpu-time.ts";
import { randomOf } from "./generate.ts";
import { atMost, count, printAlone, quantile, type Section, table } from "./report.ts";
import { shortCatalog } from "./short-catalog.ts";

const SIZES = (process.env.FUNDFEED_BENCH_RECORDS ?? "1000000,10000000").split(",").map(Number);
const LISTS = 3000;
const CHANGED = 500;
const SEED = 7;

type Random = () => number;

/** Measures each size of `FUNDFEED_BENCH_RECORDS`, by default 1,000,000 and 10,000,000 records. */
async function growthBenchmark(): Promise<Section> {
  const measured = [];
  for (const records of SIZES) measured.push({ records, ...(await measure(records)) });
  const [small, large] = [measured[0], measured.at(-1)] as [Measured, Measured];
  const rows = measured.map(({ records, ...measures }) => ({ records: count(records), ...measures }));
  return {
    title: "What grows with the number of records",
    text: `${table(rows)}\n\nMilliseconds are CPU time of the process. *pause* is the longest uninterrupted piece of work while ${CHANGED} changed records at a time are added, compaction included; *step* is the median piece.`,
    goals: [
      ...measured.flatMap(({ records, ...each }) => [
        atMost(`lists at ${count(records)} records, p99 compared with a scan`, each["list p99"] / each["scan p99"], 0.15, " ×"),
        atMost(`lists at ${count(records)} records, worst compared with a scan`, each["list worst"] / each["scan worst"], 0.25, " ×"),
        atMost(`lists at ${count(records)} records, mismatches`, each.mismatches, 0),
        atMost(`memory of the list index per record at ${count(records)} records`, each["bytes per record"], 36, " bytes"),
      ]),
      atMost("longest pause with most records, compared with the median", large["pause, × median"], 10, " ×"),
      atMost("p99 of lists, most records compared with fewest", large["list p99"] / small["list p99"], 1.5, " ×"),
      atMost("worst list, most records compared with fewest", large["list worst"] / small["list worst"], 1.5, " ×"),
    ],
  };
}

type Measured = { records: number } & Awaited<ReturnType<typeof measure>>;

async function measure(records: number) {
  const directory = await shortCatalog(records);
  const db = openCatalog(directory, Date.now());
  const load = await withCpuMs(() => createReadModel(db));
  const model = load.result;
  const bytes = bytesInUse(model.index) / recordCount(model.index);
  const lists = compareLists(model);
  const pauses = await pausesWhileChanging(model.index);
  await db.close();
  return {
    "list p50": quantile(lists.ms, 0.5),
    "list p99": quantile(lists.ms, 0.99),
    "list worst": quantile(lists.ms, 1),
    "scan p99": quantile(lists.scanMs, 0.99),
    "scan worst": quantile(lists.scanMs, 1),
    mismatches: lists.mismatches,
    "bytes per record": bytes,
    "load, ms": load.ms,
    "step, ms": quantile(pauses, 0.5),
    "pause, ms": quantile(pauses, 1),
    "pause, × median": quantile(pauses, 1) / quantile(pauses, 0.5),
  };
}

/** Times the same random lists by the index and by a scan of its slots, and counts those that differ. Finding the allowed facets is not timed. */
function compareLists({ index, facets }: ReadModel) {
  const [ms, scanMs]: [number[], number[]] = [[], []];
  let mismatches = 0;
  for (let number = -200; number < LISTS; number++) {
    const random = randomOf(SEED, number);
    const allowed = allowedFacets(facets, randomFilter(facets.columns.agency.values, facets.columns.source.values, random), [
      "SAM_GOV",
      "GRANTS_GOV",
    ]);
    const timeOf = () => index.times[1 + Math.floor(random() * (index.end - 1))] as number;
    const from = random() < 0.3 ? firstSlotAfter(index, timeOf()) : 1;
    const to = random() < 0.6 ? firstSlotAfter(index, timeOf()) : index.end;
    const count = random() < 0.3 ? 101 : 2 + Math.floor(60 * random());
    const found = fasterOfTwo(() => newestFirst(index, allowed, from, to, count));
    const expected = fasterOfTwo(() => scan(index, allowed, from, to, count));
    if (!Bun.deepEquals(found.result, expected.result)) mismatches++;
    if (number < 0) continue;
    ms.push(found.ms);
    scanMs.push(expected.ms);
  }
  return { ms, scanMs, mismatches };
}

/** Runs `work` twice, so that a collection of garbage or a compilation does not count as its own time. */
function fasterOfTwo<T>(work: () => T): { result: T; ms: number } {
  const times = [0, 0].map(() => {
    const started = cpuMs();
    const result = work();
    return { result, ms: cpuMs() - started };
  });
  return times.reduce((fastest, each) => (each.ms < fastest.ms ? each : fastest));
}

function scan({ facets }: ListIndex, allowed: FacetSet | null, from: number, to: number, count: number): number[] {
  const found: number[] = [];
  for (let slot = to - 1; slot >= from && found.length < count; slot--) {
    const facet = facets[slot] as number;
    if (facet !== 0 && (allowed === null || allowed.flags[facet] === 1)) found.push(slot);
  }
  return found;
}

/** Returns a filter. One in three matches few records: one agency with one status in one source. */
function randomFilter(agencies: readonly string[], sources: readonly string[], random: Random): FacetFilter {
  const one = (values: readonly string[]) => values[1 + Math.floor(random() * (values.length - 1))] as string;
  const agency = one(agencies);
  if (random() < 1 / 3) return { agency, status: [statuses[Math.floor(random() * statuses.length)] as string], source: [one(sources)] };
  const start = Math.floor(random() * (agency.length - 8));
  return {
    ...(random() < 0.5 && { status: statuses.filter(() => random() < 0.25) }),
    ...(random() < 0.5 && { source: random() < 0.2 ? ["OTHER"] : [one(sources)] }),
    ...(random() < 0.4 && { program_type: programTypes.filter(() => random() < 0.25) }),
    ...(random() < 0.4 && { agency: agency.slice(start, start + 2 + Math.floor(6 * random())) }),
  };
}

/** Adds changes until a compaction is complete, and returns the CPU time of each uninterrupted piece of work, in milliseconds. */
async function pausesWhileChanging(index: ListIndex): Promise<number[]> {
  const random = randomOf(SEED, -4);
  const [records, facets] = [recordCount(index), index.facetEnd - 1];
  const pauses: number[] = [];
  let time = newestTime(index);
  const change = () => {
    time++;
    const started = cpuMs();
    for (let left = CHANGED; left > 0; left--) append(index, time, 1 + Math.floor(random() * records), 1 + Math.floor(random() * facets));
    pauses.push(cpuMs() - started);
  };
  while (!needsCompaction(index)) change();
  let resumed = cpuMs();
  await compact(index, async () => {
    pauses.push(cpuMs() - resumed);
    if (random() < 0.1) change();
    resumed = cpuMs();
  });
  return pauses;
}

/** Runs `work`, and returns its result and the CPU time that it took, in milliseconds. */
async function withCpuMs<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const started = cpuMs();
  const result = await work();
  return { result, ms: cpuMs() - started };
}

if (import.meta.main) await printAlone(growthBenchmark);
