/** Any list and any history at a million records, inside the process: how long it takes beside a scan of every record, and whether it is right. */
import { type CatalogFile, openCatalog } from "../db/sqlite/open.ts";
import { eventTypes, insignificant } from "../src/events/event.ts";
import { type EventFilter, listOpportunityEvents } from "../src/events/list.ts";
import { type Filter, listOpportunities } from "../src/opportunities/list.ts";
import { bytesInUse } from "../src/opportunities/list-index.ts";
import { programTypes, statuses } from "../src/opportunities/opportunity.ts";
import type { Page, Position } from "../src/opportunities/page.ts";
import { createReadModel, type ReadModel } from "../src/opportunities/read-model.ts";
import { catalogOf, warm } from "./catalog.ts";
import { randomOf } from "./generate.ts";
import { atMost, printAlone, quantile, round, type Section, table } from "./report.ts";
import { createScan, type Expected } from "./scan.ts";

const RECORDS = 1_000_000;
const QUERIES = 3000;
const SEED = 7;

type Random = () => number;

/** Bars: against a scan of every record that answers the same lists. */
const P99_AGAINST_SCAN = 0.15;
const WORST_AGAINST_SCAN = 0.25;
const BYTES_A_RECORD = 36;

/** A record as filters see it. */
type Seen = { seq: number; id: string; updated_at: number; status: string; source: string; program_type: string; agency: string };
const SEEN = "select seq, o.id, updated_at, status, f.source, program_type, agency from opportunities o join facets f on f.id = facet_id";

export async function queriesBenchmark(): Promise<Section> {
  const directory = await catalogOf(RECORDS);
  await warm(directory);
  const db = openCatalog(directory, Date.now());
  const started = performance.now();
  const model = await createReadModel(db);
  const loadMs = performance.now() - started;
  const bytes = bytesInUse(model.index) / RECORDS;

  const other = openCatalog(directory, Date.now()); // The one that comes second must not find the first one's pages in its cache.
  const lists = await askMany((random) => randomList(model, db, random), createScan(other));
  // Checked after the last is timed: what the model reads would make the garbage collector's pauses part of the times.
  const histories = await askMany((random) => randomHistory(model, db, random));
  const mismatches = { lists: lists.filter(isWrong).length, histories: wrongHistories(histories, db) };
  for (const { sqlite } of [db, other]) sqlite.close();

  const row = (what: string, ms: readonly number[], mismatches: number | string) => {
    return { "ms computed": what, p50: quantile(ms, 0.5), p99: quantile(ms, 0.99), worst: quantile(ms, 1), mismatches };
  };
  const [listMs, scanMs] = [lists.map(({ ms }) => ms), lists.map(({ expected }) => expected?.ms ?? Number.NaN)];
  const rows = [
    row("lists", listMs, mismatches.lists),
    row("the same by a scan of every record", scanMs, "–"),
    row(
      "histories",
      histories.map(({ ms }) => ms),
      mismatches.histories,
    ),
  ];
  const againstScan = (share: number) => quantile(listMs, share) / quantile(scanMs, share);
  return {
    title: `Any query at ${RECORDS.toLocaleString("en-US")} records and twice as many events`,
    text: `${table(rows)}\n\nThe list index of ${RECORDS.toLocaleString("en-US")} records loads in ${Math.round(loadMs)} ms and takes ${round(bytes)} bytes a record.`,
    bars: [
      atMost(`any of ${QUERIES} lists, p99 against a scan`, againstScan(0.99), P99_AGAINST_SCAN, " ×"),
      atMost(`any of ${QUERIES} lists, worst against a scan`, againstScan(1), WORST_AGAINST_SCAN, " ×"),
      atMost(`any of ${QUERIES} lists, mismatches`, mismatches.lists, 0),
      atMost(`any of ${QUERIES} histories, mismatches`, mismatches.histories, 0),
      atMost("memory of the list index, a record", bytes, BYTES_A_RECORD, " bytes"),
    ],
  };
}

/** One question to the catalog, and how it is asked. */
type Question<Filtered> = { filter: Filtered; limit: number; after: Position | null };
type Asked<Filtered> = Question<Filtered> & Expected & { ms: number; expected: (Expected & { ms: number }) | undefined };

/** Asks random questions, each also of what it is measured against, if anything; the first ones only warm up. */
async function askMany<Filtered>(
  make: (random: Random) => Question<Filtered> & { ask: () => Promise<Page | undefined> },
  other?: (question: Question<Filtered>) => Expected,
): Promise<Asked<Filtered>[]> {
  const asked: Asked<Filtered>[] = [];
  for (let number = -200; number < QUERIES; number++) {
    const { ask, ...question } = make(randomOf(SEED, number));
    const started = computedMs();
    const page = (await ask()) ?? { documents: [], next: null };
    const answered = computedMs();
    const expected = other?.(question);
    const ended = computedMs();
    if (number < 0) continue;
    const answer = { ids: idsOf(page), next: page.next?.id, ms: answered - started };
    asked.push({ ...question, ...answer, expected: expected && { ...expected, ms: ended - answered } });
  }
  return asked;
}

/** What this process has computed so far: on a busy machine a steadier measure than the clock. (Linux counts a single thread by ticks only.) */
function computedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function isWrong({ ids, next, expected }: Asked<unknown>): boolean {
  return expected === undefined || next !== expected.next || ids.join() !== expected.ids.join();
}

const idsOf = ({ documents }: Page) => documents.map((document) => JSON.parse(new TextDecoder().decode(document)).id as string);

function randomList(model: ReadModel, db: CatalogFile, random: Random): Question<Filter> & { ask: () => Promise<Page> } {
  const any = () => anyRecord(db, random);
  const filter: Filter = {
    ...(random() < 0.5 && { status: someOf(statuses, random) }),
    ...(random() < 0.5 && { source: random() < 0.2 ? ["OTHER"] : [any().source, any().source].slice(random() < 0.5 ? 1 : 0) }),
    ...(random() < 0.4 && { program_type: someOf(programTypes, random) }),
    ...(random() < 0.4 && { agency: partOf(any().agency, random) }),
    ...(random() < 0.3 && { updated_since: { ms: any().updated_at - Math.floor(3 * random()), beyond: "" } }),
  };
  const { updated_at, id } = any();
  const after = random() < 0.6 ? { time: updated_at, id } : null;
  const limit = limitOf(random);
  return { filter, limit, after, ask: () => listOpportunities(model, filter, limit, after) };
}

type History = EventFilter & { opportunity: number };

/** Of any record, one time in ten of the one with the longest history. */
function randomHistory(model: ReadModel, db: CatalogFile, random: Random): Question<History> & { ask: () => Promise<Page | undefined> } {
  const { seq, id } = random() < 0.1 ? recordAt(db, 1) : anyRecord(db, random);
  const events = eventsOf(db, seq);
  const any = () => events[Math.floor(random() * events.length)] as SeenEvent;
  const filter: History = {
    opportunity: seq,
    include_insignificant: random() < 0.5,
    ...(random() < 0.5 && { type: someOf(eventTypes, random) }),
    ...(random() < 0.3 && { since: { ms: any().detected_at - Math.floor(3 * random()), beyond: "" } }),
  };
  const from = any();
  const after = random() < 0.4 ? { time: from.detected_at, id: from.id } : null;
  const limit = limitOf(random);
  return { filter, limit, after, ask: () => listOpportunityEvents(model, id, filter, limit, after) };
}

/** How many histories differ from what looking at each event of the record finds. */
function wrongHistories(asked: readonly Asked<History>[], db: CatalogFile): number {
  return asked.filter((each) => isWrong({ ...each, expected: { ...historyOf(each, db), ms: 0 } })).length;
}

function historyOf(
  { filter: { opportunity, include_insignificant, type, since }, limit, after }: Question<History>,
  db: CatalogFile,
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

type SeenEvent = { id: string; detected_at: number; type: string; severity: string };

function eventsOf({ sqlite }: CatalogFile, opportunity: number): SeenEvent[] {
  return sqlite.query<SeenEvent, [number]>("select id, detected_at, type, severity from events where opportunity_seq = ?").all(opportunity);
}

function anyRecord(db: CatalogFile, random: Random): Seen {
  return recordAt(db, 1 + Math.floor(random() * RECORDS));
}

function recordAt({ sqlite }: CatalogFile, row: number): Seen {
  return sqlite.query<Seen, [number]>(`${SEEN} where seq = ?`).get(row) as Seen; // Rows are numbered from 1 without gaps.
}

function limitOf(random: Random): number {
  return random() < 0.3 ? 100 : 1 + Math.floor(60 * random());
}

function someOf<T>(values: readonly T[], random: Random): T[] {
  const chosen = values.filter(() => random() < 0.25);
  return chosen.length === 0 ? [values[Math.floor(random() * values.length)] as T] : chosen;
}

/** Some letters of an agency's name, in another letter case; "of" and the like match nearly every one. */
function partOf(agency: string, random: Random): string {
  const length = 2 + Math.floor(12 * random());
  const start = Math.floor(random() * (agency.length - length));
  const part = agency.slice(start, start + length);
  return random() < 0.5 ? part.toUpperCase() : part;
}

if (import.meta.main) await printAlone(queriesBenchmark);
