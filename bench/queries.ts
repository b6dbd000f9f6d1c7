/** Any list and any history at a million records, inside the process: how long it takes, and whether it is what looking at every row finds. */
import { type CatalogFile, openCatalog } from "../db/open.ts";
import { eventTypes, insignificant } from "../src/events/event.ts";
import { type EventFilter, listOpportunityEvents } from "../src/events/list.ts";
import { findOpportunity } from "../src/opportunities/find.ts";
import { type Filter, listOpportunities } from "../src/opportunities/list.ts";
import { programTypes, statuses } from "../src/opportunities/opportunity.ts";
import { createReadModel, type ReadModel } from "../src/opportunities/read-model.ts";
import type { Page, Position } from "../src/page.ts";
import { catalogueOf, warm } from "./catalogue.ts";
import { randomOf } from "./generate.ts";
import { atMost, printAlone, quantile, round, type Section, table } from "./report.ts";

const RECORDS = 1_000_000;
const SMALLER = 100_000;
const QUERIES = 3000;
const SEED = 7;

type Random = () => number;

/** A record as filters see it. */
type Seen = { seq: number; id: string; updated_at: number; status: string; source: string; program_type: string; agency: string };
const SEEN = "select seq, o.id, updated_at, status, f.source, program_type, agency from opportunities o join facets f on f.id = facet_id";

export async function queriesBenchmark(): Promise<Section> {
  const [directory, smaller] = [await catalogueOf(RECORDS), await catalogueOf(SMALLER)];
  await warm(directory);
  await warm(smaller);
  const db = openCatalog(directory, Date.now());
  const started = performance.now();
  const model = await createReadModel(db);
  const loadMs = performance.now() - started;
  const { times, rows: numbers, facets, places } = model.index;
  const bytes = [times, numbers, facets, places].reduce((sum, { byteLength }) => sum + byteLength, 0);

  // All are timed before any is checked: a million rows to check against would make the garbage collector's pauses part of the times.
  const lists = await askMany((random) => randomList(model, db, random));
  const histories = await askMany((random) => randomHistory(model, db, random));
  const pages = await walk(model, 1000);
  const flat = await flatness(model, await createReadModel(openCatalog(smaller, Date.now())));
  const wrong = { lists: mismatches(lists, listModel(db)), histories: mismatches(histories, historyModel(db)) };
  db.sqlite.close();

  const row = (what: string, asked: readonly Asked<unknown>[], mismatches: number) => {
    const times = asked.map(({ ms }) => ms);
    return { "ms inside the process": what, p50: quantile(times, 0.5), p99: quantile(times, 0.99), worst: quantile(times, 1), mismatches };
  };
  const rows = [row("lists", lists, wrong.lists), row("histories", histories, wrong.histories)];
  const loaded = `The list index of ${RECORDS.toLocaleString("en-US")} records loads in ${Math.round(loadMs)} ms and takes ${round(bytes / RECORDS)} bytes a record.`;
  const bars = [
    ...rows.flatMap(({ "ms inside the process": what, p99, worst, mismatches }) => [
      atMost(`any of ${QUERIES} ${what}, p99`, p99, 5, " ms"),
      atMost(`any of ${QUERIES} ${what}, worst`, worst, 15, " ms"),
      atMost(`any of ${QUERIES} ${what}, mismatches`, mismatches, 0),
    ]),
    atMost("page 1,000 against page 1", pages, 1.2, " ×"),
    atMost("list, 100,000 → 1,000,000 records", flat.list, 1.3, " ×"),
    atMost("detail, 100,000 → 1,000,000 records", flat.detail, 1.3, " ×"),
  ];
  return {
    title: `Any query at ${RECORDS.toLocaleString("en-US")} records and twice as many events`,
    text: `${table(rows)}\n\n${loaded}`,
    bars,
  };
}

/** One question to the catalogue, and how it is asked. */
type Question<Filtered> = { filter: Filtered; limit: number; after: Position | null };
type Asked<Filtered> = Question<Filtered> & { ms: number; ids: string[]; next: string | undefined };

/** Asks random questions and notes times and answers; the first ones only warm up. */
async function askMany<Filtered>(
  make: (random: Random) => Question<Filtered> & { ask: () => Promise<Page | undefined> },
): Promise<Asked<Filtered>[]> {
  const asked: Asked<Filtered>[] = [];
  for (let number = -200; number < QUERIES; number++) {
    const { ask, ...question } = make(randomOf(SEED, number));
    const { ms, page } = await timed(ask);
    if (number >= 0) asked.push({ ...question, ms, ids: idsOf(page), next: page.next?.id });
  }
  return asked;
}

/** How many answers differ from what the model finds by looking at every row. */
function mismatches<Filtered>(asked: readonly Asked<Filtered>[], model: (question: Question<Filtered>) => Expected): number {
  return asked.filter((each) => {
    const { ids, next } = model(each);
    return JSON.stringify(each.ids) !== JSON.stringify(ids) || each.next !== next;
  }).length;
}

async function timed(ask: () => Promise<Page | undefined>): Promise<{ ms: number; page: Page }> {
  const started = performance.now();
  const page = await ask();
  return { ms: performance.now() - started, page: page ?? { documents: [], next: null } };
}

const idsOf = ({ documents }: Page) => documents.map((document) => JSON.parse(new TextDecoder().decode(document)).id as string);

/** Ids of the page, and the last of them when there is more. */
type Expected = { ids: string[]; next: string | undefined };

/** What follows a position among rows that are newest first, found by looking at each. */
function expect<Row extends { id: string }>(
  rows: Iterable<Row>,
  timeOf: (row: Row) => number,
  matches: (row: Row) => boolean,
  limit: number,
  after: Position | null,
): Expected {
  const ids: string[] = [];
  for (const row of rows) {
    if (after !== null && (timeOf(row) > after.time || (timeOf(row) === after.time && row.id >= after.id))) continue;
    if (!matches(row)) continue;
    if (ids.length === limit) return { ids, next: ids.at(-1) };
    ids.push(row.id);
  }
  return { ids, next: undefined };
}

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

/** Finds a list's page among all records, sorted here. */
function listModel(db: CatalogFile): (question: Question<Filter>) => Expected {
  const records = [...db.sqlite.query<Seen, []>(SEEN).iterate()].sort(
    (left, right) => right.updated_at - left.updated_at || (left.id < right.id ? 1 : -1),
  );
  const named = new Set(Array.from(db.sqlite.query<{ code: string }, []>("select code from sources").iterate(), ({ code }) => code));
  return ({ filter: { status, source, program_type, agency, updated_since }, limit, after }) => {
    const part = agency?.toLowerCase();
    const matches = (record: Seen) =>
      (status?.includes(record.status) ?? true) &&
      (source === undefined || source.includes(record.source) || (source.includes("OTHER") && !named.has(record.source))) &&
      (program_type?.includes(record.program_type) ?? true) &&
      (part === undefined || record.agency.toLowerCase().includes(part)) &&
      (updated_since === undefined || record.updated_at > updated_since.ms);
    return expect(records, ({ updated_at }) => updated_at, matches, limit, after);
  };
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

function historyModel(db: CatalogFile): (question: Question<History>) => Expected {
  return ({ filter: { opportunity, include_insignificant, type, since }, limit, after }) => {
    const events = eventsOf(db, opportunity).sort((left, right) => right.detected_at - left.detected_at || (left.id < right.id ? 1 : -1));
    const matches = (event: SeenEvent) =>
      (type?.includes(event.type) ?? true) &&
      (include_insignificant || !insignificant.some((severity) => severity === event.severity)) &&
      (since === undefined || event.detected_at > since.ms);
    return expect(events, ({ detected_at }) => detected_at, matches, limit, after);
  };
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

/** How many times as long a page takes around the last of so many as around the first. */
async function walk(model: ReadModel, count: number): Promise<number> {
  const cursors: (Position | null)[] = [null];
  for (let page = 1; page < count; page++) cursors.push((await listOpportunities(model, {}, 25, cursors.at(-1) ?? null)).next);
  const [first, last]: [number[], number[]] = [[], []];
  for (let round = 0; round < 40; round++) {
    for (let page = 0; page < 20; page++) {
      first.push((await timed(() => listOpportunities(model, {}, 25, cursors[page + 1] ?? null))).ms);
      last.push((await timed(() => listOpportunities(model, {}, 25, cursors[count - 1 - page] ?? null))).ms);
    }
  }
  return quantile(last, 0.5) / quantile(first, 0.5);
}

/** How many times as long a list and a detail take in the larger catalogue, over the same number of places. */
async function flatness(large: ReadModel, small: ReadModel): Promise<{ list: number; detail: number }> {
  const take = async (model: ReadModel) => {
    const page = await listOpportunities(model, {}, 100, null);
    const ids = idsOf(page);
    const after = page.documents.length === 0 ? null : page.next;
    const [lists, details]: [number[], number[]] = [[], []];
    for (let round = 0; round < 3000; round++) {
      lists.push((await timed(() => listOpportunities(model, { status: ["open"] }, 25, round % 2 === 0 ? null : after))).ms);
      const started = performance.now();
      await findOpportunity(model, ids[round % ids.length] as string);
      details.push(performance.now() - started);
    }
    return { list: quantile(lists, 0.5), detail: quantile(details, 0.5) };
  };
  await take(small);
  const [of1M, of100k] = [await take(large), await take(small)];
  return { list: of1M.list / of100k.list, detail: of1M.detail / of100k.detail };
}

if (import.meta.main) await printAlone(queriesBenchmark);
