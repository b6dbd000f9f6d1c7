/** Any list and any history at a million records, inside the process: how long it takes, and whether it is what looking at every row finds. */
import { type CatalogDb, openCatalog } from "../db/open.ts";
import { type Catalog, createCatalog } from "../src/catalog.ts";
import { eventTypes, insignificant } from "../src/events/event.ts";
import { type EventFilter, listEvents } from "../src/events/list.ts";
import { findOpportunity } from "../src/opportunities/find.ts";
import { type Filter, listOpportunities } from "../src/opportunities/list.ts";
import { programTypes, statuses } from "../src/opportunities/opportunity.ts";
import type { Page, Position } from "../src/page.ts";
import { catalogueOf } from "./catalogue.ts";
import { randomOf } from "./generate.ts";
import { atMost, type Bar, megabytes, printAlone, quantile, type Section, table } from "./report.ts";

const RECORDS = 1_000_000;
const SMALLER = 100_000;
const QUERIES = 3000;
const SEED = 7;

/** A record as filters see it. */
type Seen = { id: string; updated_at: number; status: string; source: string; program_type: string; agency: string };
type Timed = { ms: number; page: Page };

export async function queriesBenchmark(): Promise<Section> {
  const before = process.memoryUsage.rss();
  const db = openCatalog(catalogueOf(RECORDS), Date.now());
  const started = performance.now();
  const catalog = createCatalog(db);
  const loadMs = performance.now() - started;
  const memory = process.memoryUsage.rss() - before;

  const rows = newestFirst(db);
  const named = new Set(db.sqlite.query<[string], []>("select code from sources").values().flat());
  const lists = await compare(QUERIES, (random) => randomList(catalog, rows, named, random));
  const histories = await compare(QUERIES, (random) => randomHistory(catalog, rows, random));
  const pages = await walk(catalog, 1000);
  const flat = await flatness(catalog, createCatalog(openCatalog(catalogueOf(SMALLER), Date.now())));
  db.sqlite.close();

  const text = [
    table([
      { "ms inside the process": "lists", ...lists.times },
      { "ms inside the process": "histories", ...histories.times },
    ]),
    `The list log of ${RECORDS.toLocaleString("en-US")} records loads in ${Math.round(loadMs)} ms and takes ${Math.round(megabytes(memory))} MB.`,
  ].join("\n\n");
  const bars = [
    ...bounds("list", lists),
    ...bounds("history", histories),
    atMost("page 1,000 against page 1", pages, 1.2, " ×"),
    atMost("list, 100,000 → 1,000,000 records", flat.list, 1.3, " ×"),
    atMost("detail, 100,000 → 1,000,000 records", flat.detail, 1.3, " ×"),
  ];
  return { title: `Any query at ${RECORDS.toLocaleString("en-US")} records and twice as many events`, text, bars };
}

type Comparison = { times: Record<"p50" | "p99" | "worst" | "mismatches", number> };

/** Runs random queries, first some that are not counted, and compares each with what is expected of it. */
async function compare(count: number, query: (random: () => number) => Promise<{ timed: Timed; expected: Expected }>): Promise<Comparison> {
  const times: number[] = [];
  let mismatches = 0;
  for (let number = -200; number < count; number++) {
    const { timed, expected } = await query(randomOf(SEED, number));
    if (number >= 0) times.push(timed.ms);
    if (JSON.stringify(idsOf(timed.page)) !== JSON.stringify(expected.ids) || timed.page.next?.id !== expected.next) mismatches++;
  }
  return { times: { p50: quantile(times, 0.5), p99: quantile(times, 0.99), worst: quantile(times, 1), mismatches } };
}

function bounds(what: string, { times }: Comparison): Bar[] {
  return [
    atMost(`any ${what}, p99`, times.p99, 5, " ms"),
    atMost(`any ${what}, worst`, times.worst, 15, " ms"),
    atMost(`any ${what}, mismatches`, times.mismatches, 0),
  ];
}

async function timed(ask: () => Promise<Page | undefined>): Promise<Timed> {
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

/** Every record, newest first, sorted here. */
function newestFirst({ sqlite }: CatalogDb): Seen[] {
  const facets = sqlite.query<Omit<Seen, "id" | "updated_at"> & { facet: number }, []>("select *, id as facet from facets").all();
  const byFacet = new Map(facets.map(({ facet, ...values }) => [facet, values]));
  const rows: Seen[] = [];
  const all = sqlite.query<{ id: string; updated_at: number; facet_id: number }, []>("select id, updated_at, facet_id from opportunities");
  for (const { id, updated_at, facet_id } of all.iterate()) {
    const { status = "", source = "", program_type = "", agency = "" } = byFacet.get(facet_id) ?? {};
    rows.push({ id, updated_at, status, source, program_type, agency });
  }
  return rows.sort((left, right) => right.updated_at - left.updated_at || (left.id < right.id ? 1 : -1));
}

async function randomList(catalog: Catalog, rows: readonly Seen[], named: ReadonlySet<string>, random: () => number) {
  const any = () => rows[Math.floor(random() * rows.length)] as Seen;
  const filter: Filter = {
    ...(random() < 0.5 && { status: someOf(statuses, random) }),
    ...(random() < 0.5 && { source: random() < 0.2 ? ["OTHER"] : [any().source, any().source].slice(random() < 0.5 ? 1 : 0) }),
    ...(random() < 0.4 && { program_type: someOf(programTypes, random) }),
    ...(random() < 0.4 && { agency: partOf(any().agency, random) }),
    ...(random() < 0.3 && { updated_since: { ms: any().updated_at - Math.floor(3 * random()), beyond: "" } }),
  };
  const from = any();
  const after = random() < 0.6 ? { time: from.updated_at, id: from.id } : null;
  const limit = random() < 0.3 ? 100 : 1 + Math.floor(60 * random());

  const { status, source, program_type, agency, updated_since } = filter;
  const wanted = agency?.toLowerCase();
  const matches = (row: Seen) =>
    (status?.includes(row.status) ?? true) &&
    (source === undefined || source.includes(row.source) || (source.includes("OTHER") && !named.has(row.source))) &&
    (program_type?.includes(row.program_type) ?? true) &&
    (wanted === undefined || row.agency.toLowerCase().includes(wanted)) &&
    (updated_since === undefined || row.updated_at > updated_since.ms);
  return {
    timed: await timed(() => listOpportunities(catalog, filter, limit, after)),
    expected: expect(rows, ({ updated_at }) => updated_at, matches, limit, after),
  };
}

type SeenEvent = { id: string; detected_at: number; type: string; severity: string };

/** Of any record, one time in ten of the one with the longest history. */
async function randomHistory(catalog: Catalog, rows: readonly Seen[], random: () => number) {
  const { sqlite } = catalog.db;
  const longest = sqlite.query<{ id: string }, []>("select id from opportunities where seq = 1").get()?.id ?? "";
  const id = random() < 0.1 ? longest : (rows[Math.floor(random() * rows.length)] as Seen).id;
  const events = sqlite
    .query<SeenEvent, [string]>(
      "select e.id, detected_at, type, severity from events e join opportunities o on o.seq = opportunity_seq where o.id = ? order by detected_at desc, e.id desc",
    )
    .all(id);
  const any = () => events[Math.floor(random() * events.length)] as SeenEvent;
  const filter: EventFilter = {
    include_insignificant: random() < 0.5,
    ...(random() < 0.5 && { type: someOf(eventTypes, random) }),
    ...(random() < 0.3 && { since: { ms: any().detected_at - Math.floor(3 * random()), beyond: "" } }),
  };
  const from = any();
  const after = random() < 0.4 ? { time: from.detected_at, id: from.id } : null;
  const limit = random() < 0.3 ? 100 : 1 + Math.floor(60 * random());
  const matches = (event: SeenEvent) =>
    (filter.type?.includes(event.type) ?? true) &&
    (filter.include_insignificant || !insignificant.some((severity) => severity === event.severity)) &&
    (filter.since === undefined || event.detected_at > filter.since.ms);
  return {
    timed: await timed(() => listEvents(catalog, id, filter, limit, after)),
    expected: expect(events, ({ detected_at }) => detected_at, matches, limit, after),
  };
}

function someOf<T>(values: readonly T[], random: () => number): T[] {
  const chosen = values.filter(() => random() < 0.25);
  return chosen.length === 0 ? [values[Math.floor(random() * values.length)] as T] : chosen;
}

/** Some letters of an agency's name, in another letter case; "of" and the like match nearly every one. */
function partOf(agency: string, random: () => number): string {
  const length = 2 + Math.floor(12 * random());
  const start = Math.floor(random() * (agency.length - length));
  const part = agency.slice(start, start + length);
  return random() < 0.5 ? part.toUpperCase() : part;
}

/** How many times as long a page takes around the last of so many as around the first. */
async function walk(catalog: Catalog, count: number): Promise<number> {
  const cursors: (Position | null)[] = [null];
  for (let page = 1; page < count; page++) cursors.push((await listOpportunities(catalog, {}, 25, cursors.at(-1) ?? null)).next);
  const around = async (at: readonly (Position | null)[]) => {
    const times: number[] = [];
    for (let round = 0; round < 40; round++)
      for (const after of at) times.push((await timed(() => listOpportunities(catalog, {}, 25, after))).ms);
    return quantile(times, 0.5);
  };
  await around(cursors.slice(0, 20));
  return (await around(cursors.slice(-20))) / (await around(cursors.slice(1, 21)));
}

/** How many times as long a list and a detail take in the larger catalogue, over the same number of places. */
async function flatness(large: Catalog, small: Catalog): Promise<{ list: number; detail: number }> {
  const take = async (catalog: Catalog) => {
    const page = await listOpportunities(catalog, {}, 100, null);
    const ids = idsOf(page);
    const after = page.documents.length === 0 ? null : page.next;
    const [lists, details]: [number[], number[]] = [[], []];
    for (let round = 0; round < 3000; round++) {
      lists.push((await timed(() => listOpportunities(catalog, { status: ["open"] }, 25, round % 2 === 0 ? null : after))).ms);
      const started = performance.now();
      await findOpportunity(catalog, ids[round % ids.length] as string);
      details.push(performance.now() - started);
    }
    return { list: quantile(lists, 0.5), detail: quantile(details, 0.5) };
  };
  await take(small);
  const [of1M, of100k] = [await take(large), await take(small)];
  return { list: of1M.list / of100k.list, detail: of1M.detail / of100k.detail };
}

if (import.meta.main) await printAlone(queriesBenchmark);
