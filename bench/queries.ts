/**
 * Random lists and histories at a million records, inside the process: their correctness, and their CPU time, documents included. `growth.ts`
 * compares the list index alone with a scan.
 */

import { type DatabaseFile, openCatalog } from "../db/sqlite/open.ts";
import { eventTypes, insignificant } from "../src/events/event.ts";
import { type EventFilter, listOpportunityEvents } from "../src/events/list.ts";
import { type ListFilter, listOpportunities } from "../src/opportunities/list.ts";
import { programTypes, statuses } from "../src/opportunities/opportunity.ts";
import type { ListPage, Position } from "../src/opportunities/page.ts";
import { createReadModel, type ReadModel } from "../src/opportunities/read-model.ts";
import { bytesInUse } from "../tests/support/check-list-index.ts";
import { cpuMs } from "../tests/support/cpu-time.ts";
import { generatedCatalog, warmFileCache } from "./catalog.ts";
import { randomOf } from "./generate.ts";
import { atMost, count, printAlone, quantile, round, type Section, table } from "./report.ts";
import { createScan, type Expected } from "./scan.ts";

const RECORDS = 1_000_000;
const QUERIES = 3000;
const SEED = 7;

type Random = () => number;

const BYTES_PER_RECORD = 36;

/** The columns of a record by which lists are filtered. */
type FilteredRow = { seq: number; id: string; updated_at: number; status: string; source: string; program_type: string; agency: string };
const SELECT_ROWS =
  "select seq, o.id, updated_at, status, f.source, program_type, agency from opportunities o join facets f on f.id = facet_id";

/** Measures and checks random lists and histories. */
export async function queriesBenchmark(): Promise<Section> {
  const directory = await generatedCatalog(RECORDS);
  await warmFileCache(directory);
  const db = openCatalog(directory, Date.now());
  const started = performance.now();
  const model = await createReadModel(db);
  const loadMs = performance.now() - started;
  const bytes = bytesInUse(model.index) / RECORDS;

  const other = openCatalog(directory, Date.now()); // The scan must not profit from pages that the list index has read into its cache.
  const lists = await runQueries((random) => randomList(model, db, random), createScan(other));
  // Checked after the last one is timed. Otherwise, garbage from the checks would add collector pauses to the times.
  const histories = await runQueries((random) => randomHistory(model, db, random));
  const mismatches = { lists: lists.filter(isWrong).length, histories: countWrongHistories(histories, db) };
  for (const { sqlite } of [db, other]) sqlite.close();

  const row = (what: string, ms: readonly number[], mismatches: number | string) => {
    return { "CPU ms": what, p50: quantile(ms, 0.5), p99: quantile(ms, 0.99), worst: quantile(ms, 1), mismatches };
  };
  const [listMs, scanMs] = [lists.map(({ ms }) => ms), lists.map(({ expected }) => expected?.ms ?? Number.NaN)];
  const rows = [
    row("lists", listMs, mismatches.lists),
    row("the same lists by a scan of every record", scanMs, "–"),
    row(
      "histories",
      histories.map(({ ms }) => ms),
      mismatches.histories,
    ),
  ];
  return {
    title: `Random queries at ${count(RECORDS)} records and twice as many events`,
    text: `${table(rows)}\n\nMost of the time of a list goes into reading its documents. The list index of ${count(RECORDS)} records loads in ${Math.round(loadMs)} ms and takes ${round(bytes)} bytes per record.`,
    goals: [
      atMost(`${count(QUERIES)} random lists, mismatches`, mismatches.lists, 0),
      atMost(`${count(QUERIES)} random histories, mismatches`, mismatches.histories, 0),
      atMost("memory of the list index per record", bytes, BYTES_PER_RECORD, " bytes"),
    ],
  };
}

/** The parameters of one query. */
type Query<Filtered> = { filter: Filtered; limit: number; after: Position | null };
type Timed<Filtered> = Query<Filtered> & Expected & { ms: number; expected: (Expected & { ms: number }) | undefined };

/** Runs random queries, and `reference` for each of them if given. The first 200 are warm-up and not returned. */
async function runQueries<Filtered>(
  randomQuery: (random: Random) => Query<Filtered> & { run: () => Promise<ListPage | undefined> },
  reference?: (query: Query<Filtered>) => Expected,
): Promise<Timed<Filtered>[]> {
  const timed: Timed<Filtered>[] = [];
  for (let number = -200; number < QUERIES; number++) {
    const { run, ...query } = randomQuery(randomOf(SEED, number));
    const started = cpuMs();
    const page = (await run()) ?? { documents: [], next: null };
    const finished = cpuMs();
    const expected = reference?.(query);
    const ended = cpuMs();
    if (number < 0) continue;
    const result = { ids: idsOf(page), next: page.next?.id, ms: finished - started };
    timed.push({ ...query, ...result, expected: expected && { ...expected, ms: ended - finished } });
  }
  return timed;
}

function isWrong({ ids, next, expected }: Timed<unknown>): boolean {
  return expected === undefined || next !== expected.next || ids.join() !== expected.ids.join();
}

const idsOf = ({ documents }: ListPage) => documents.map((document) => JSON.parse(new TextDecoder().decode(document)).id as string);

function randomList(model: ReadModel, db: DatabaseFile<"catalog">, random: Random): Query<ListFilter> & { run: () => Promise<ListPage> } {
  const any = () => randomRecord(db, random);
  const filter: ListFilter = {
    ...(random() < 0.5 && { status: randomSubset(statuses, random) }),
    ...(random() < 0.5 && { source: random() < 0.2 ? ["OTHER"] : [any().source, any().source].slice(random() < 0.5 ? 1 : 0) }),
    ...(random() < 0.4 && { program_type: randomSubset(programTypes, random) }),
    ...(random() < 0.4 && { agency: randomPart(any().agency, random) }),
    ...(random() < 0.3 && { updated_since: { ms: any().updated_at - Math.floor(3 * random()), beyond: "" } }),
  };
  const { updated_at, id } = any();
  const after = random() < 0.6 ? { time: updated_at, id } : null;
  const limit = randomLimit(random);
  return { filter, limit, after, run: () => listOpportunities(model, filter, limit, after) };
}

type History = EventFilter & { opportunity: number };

/** Returns a query for the history of any record; one in ten is for the record with the longest history. */
function randomHistory(
  model: ReadModel,
  db: DatabaseFile<"catalog">,
  random: Random,
): Query<History> & { run: () => Promise<ListPage | undefined> } {
  const { seq, id } = random() < 0.1 ? recordAt(db, 1) : randomRecord(db, random);
  const events = eventsOf(db, seq);
  const any = () => events[Math.floor(random() * events.length)] as EventRow;
  const filter: History = {
    opportunity: seq,
    include_insignificant: random() < 0.5,
    ...(random() < 0.5 && { type: randomSubset(eventTypes, random) }),
    ...(random() < 0.3 && { since: { ms: any().detected_at - Math.floor(3 * random()), beyond: "" } }),
  };
  const from = any();
  const after = random() < 0.4 ? { time: from.detected_at, id: from.id } : null;
  const limit = randomLimit(random);
  return { filter, limit, after, run: () => listOpportunityEvents(model, id, filter, limit, after) };
}

/** Counts the histories that differ from filtering every event of the record in JavaScript. */
function countWrongHistories(timed: readonly Timed<History>[], db: DatabaseFile<"catalog">): number {
  return timed.filter((each) => isWrong({ ...each, expected: { ...expectedHistory(each, db), ms: 0 } })).length;
}

function expectedHistory(
  { filter: { opportunity, include_insignificant, type, since }, limit, after }: Query<History>,
  db: DatabaseFile<"catalog">,
): Expected {
  const ids = eventsOf(db, opportunity)
    .sort((left, right) => right.detected_at - left.detected_at || (left.id < right.id ? 1 : -1))
    .filter(({ id, detected_at }) => after === null || detected_at < after.time || (detected_at === after.time && id < after.id))
    .filter((event) => type?.includes(event.type) ?? true)
    .filter((event) => include_insignificant || !insignificant.some((severity) => severity === event.severity))
    .filter(({ detected_at }) => since === undefined || detected_at > since.ms)
    .map(({ id }) => id);
  const page = ids.slice(0, limit);
  return { ids: page, next: ids.length > limit ? page.at(-1) : undefined };
}

type EventRow = { id: string; detected_at: number; type: string; severity: string };

function eventsOf({ sqlite }: DatabaseFile<"catalog">, opportunity: number): EventRow[] {
  return sqlite.query<EventRow, [number]>("select id, detected_at, type, severity from events where opportunity_seq = ?").all(opportunity);
}

function randomRecord(db: DatabaseFile<"catalog">, random: Random): FilteredRow {
  return recordAt(db, 1 + Math.floor(random() * RECORDS));
}

function recordAt({ sqlite }: DatabaseFile<"catalog">, row: number): FilteredRow {
  return sqlite.query<FilteredRow, [number]>(`${SELECT_ROWS} where seq = ?`).get(row) as FilteredRow; // Row numbers start at 1 and have no gaps.
}

function randomLimit(random: Random): number {
  return random() < 0.3 ? 100 : 1 + Math.floor(60 * random());
}

function randomSubset<T>(values: readonly T[], random: Random): T[] {
  const chosen = values.filter(() => random() < 0.25);
  return chosen.length === 0 ? [values[Math.floor(random() * values.length)] as T] : chosen;
}

/** Returns a part of an agency's name, half of the time in capitals. Parts such as "of" match nearly every agency. */
function randomPart(agency: string, random: Random): string {
  const length = 2 + Math.floor(12 * random());
  const start = Math.floor(random() * (agency.length - length));
  const part = agency.slice(start, start + length);
  return random() < 0.5 ? part.toUpperCase() : part;
}

if (import.meta.main) await printAlone(queriesBenchmark);
