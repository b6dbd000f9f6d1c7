/** The list against a model that keeps everything in an array and looks through all of it, while another connection writes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { CatalogDb } from "../../db/engine.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import type { Draft } from "../../src/import/record.ts";
import { getOpportunity } from "../../src/opportunities/get.ts";
import { type Filter, listOpportunities } from "../../src/opportunities/list.ts";
import { programTypes, statuses } from "../../src/opportunities/opportunity.ts";
import type { Position } from "../../src/opportunities/page.ts";
import { createReadModel, type ReadModel } from "../../src/opportunities/read-model.ts";
import { addSource, removeSource } from "../../src/sources/source.ts";
import { defaultLocation, onPostgres } from "../support/database-locations.ts";
import { aDirectory, dropScratch, exportOf, NOON } from "../support/imports.ts";
import { storeRecords } from "../support/records.ts";
import { rawSql } from "../support/sql.ts";

const SEED = Number(process.env.FUNDFEED_SEED ?? 20260301);
/** Between two of them something may be written; after each, so many filter sets are tried. */
const STEPS = Number(process.env.FUNDFEED_LIST_STEPS ?? (onPostgres ? 400 : 500));
const QUESTIONS = 5;

const codes = ["A", "B", "C", "D"];
const agencies = [null, "NASA", "Department of Defense", "Défense", "100% _Agency_"];

type Listed = {
  id: string;
  updated_at: string;
  status: string;
  source: { code: string; opportunity_id: string };
  organization: { agency: string | null };
  program: { type: string | null };
};

type Row = Listed & { time: number; upstreamIds: string[] };

const upstreamId = fc.nat({ max: 249 }).map((n) => `N${n}`);
const record = fc.record({
  source: fc.record({ code: fc.constantFrom(...codes), opportunity_id: upstreamId }),
  title: fc.string({ minLength: 1, maxLength: 3 }).map((text) => `T${text.replaceAll("\0", "")}`),
  status: fc.constantFrom(...statuses, "Paused"),
  organization: fc.record({ agency: fc.constantFrom(...agencies) }),
  program: fc.record({ type: fc.constantFrom(null, ...programTypes.slice(0, 4)) }),
  earlier_ids: fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(upstreamId, { maxLength: 2 }) }),
}) as fc.Arbitrary<Draft>;

const some = <T>(values: fc.Arbitrary<T>) => fc.option(fc.array(values, { minLength: 1, maxLength: 3 }), { nil: undefined, freq: 2 });
const filter = fc.record({
  status: some(fc.constantFrom(...statuses, "Paused")),
  source: some(fc.constantFrom(...codes, "OTHER", "NONE")),
  agency: fc.option(fc.constantFrom("nasa", "DEFENSE", "défense", "%", "_", "of", "e", "x", "100% _agency_"), { nil: undefined, freq: 2 }),
  program_type: some(fc.constantFrom(...programTypes.slice(0, 5))),
  since: fc.option(fc.record({ place: fc.nat(), ms: fc.integer({ min: -1, max: 1 }), beyond: fc.constantFrom("", "5") }), {
    nil: undefined,
    freq: 2,
  }),
  upstreamId: fc.option(upstreamId, { nil: undefined, freq: 1 }),
});

const question = fc.record({
  filter,
  limit: fc.integer({ min: 1, max: 30 }),
  after: fc.option(fc.nat(), { nil: undefined }),
  walk: fc.boolean(),
});
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never;

const step = fc.record({
  writes: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(record, { minLength: 1, maxLength: 40, size: "max" }) },
  ),
  clock: fc.integer({ min: -50, max: 60 }),
  named: fc.option(fc.constantFrom(...codes), { nil: undefined, freq: 19 }),
  questions: fc.array(question, { minLength: QUESTIONS, maxLength: QUESTIONS, size: "max" }),
});

let writer: CatalogDb;
let reader: CatalogDb;
let readModel: ReadModel;

beforeAll(async () => {
  [writer, reader] = await twoOpenings();
  readModel = await createReadModel(reader);
});
afterAll(async () => {
  await writer.close();
  await reader.close();
  dropScratch();
});

/** Of one catalog, as two processes have it. */
async function twoOpenings(): Promise<[CatalogDb, CatalogDb]> {
  if (onPostgres) {
    const location = await defaultLocation();
    return [await location.catalog(NOON), await location.catalog(NOON)];
  }
  const directory = aDirectory();
  const [one, other] = [openCatalog(directory, NOON), openCatalog(directory, NOON)];
  for (const { sqlite } of [one, other]) sqlite.run("pragma synchronous = off"); // Nobody pulls the plug here.
  return [one, other];
}

/** All that there is, newest first, and which sources are named. */
async function everything(): Promise<{ rows: Row[]; named: Set<string> }> {
  const rows = (await exportOf(writer)).map((line): Row => {
    const { id, updated_at, status, source, organization, program, earlier_ids } = JSON.parse(line);
    const upstreamIds = [source.opportunity_id, ...earlier_ids];
    return { id, updated_at, status, source, organization, program, upstreamIds, time: Date.parse(updated_at) };
  });
  rows.sort((left, right) => right.time - left.time || (left.id < right.id ? 1 : -1));
  const sources = await writer.all(rawSql<{ code: string }>("select code from sources"));
  return { rows, named: new Set(sources.map(({ code }) => code)) };
}

function matches(row: Row, named: Set<string>, filter: Filter): boolean {
  const { status, source, agency, program_type, updated_since, source_opportunity_id } = filter;
  if (status !== undefined && !status.includes(row.status)) return false;
  if (source !== undefined && !source.some((code) => code === row.source.code || (code === "OTHER" && !named.has(row.source.code))))
    return false;
  if (agency !== undefined && !row.organization.agency?.toLowerCase().includes(agency.toLowerCase())) return false;
  if (program_type !== undefined && !(row.program.type !== null && program_type.includes(row.program.type))) return false;
  if (source_opportunity_id !== undefined && !row.upstreamIds.includes(source_opportunity_id)) return false;
  return updated_since === undefined || row.time > updated_since.ms;
}

function filterOf({ filter: { since, upstreamId: wanted, ...rest } }: Question, rows: readonly Row[]): Filter {
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as Filter;
  const time = rows.length === 0 ? NOON : (rows[(since?.place ?? 0) % rows.length]?.time ?? NOON);
  if (since !== undefined) given.updated_since = { ms: time + since.ms, beyond: since.beyond };
  return wanted === undefined ? given : { ...given, source: ["A"], source_opportunity_id: wanted };
}

const listed = (documents: readonly Uint8Array[]) => documents.map((document) => JSON.parse(Buffer.from(document).toString()) as Listed);
const isAfter = (row: Row, { time, id }: Position) => row.time < time || (row.time === time && row.id < id);

type Walk = { filter: Filter; limit: number; started: Row[]; seen: string[]; next: Position | null };

describe("listOpportunities()", () => {
  test(
    "answers as the model does, whatever is written meanwhile, and walks see each record that stays where it is once",
    async () => {
      const walks: Walk[] = [];
      let [now, pages, finished, moved, writes] = [NOON, 0, 0, 0, 0];
      let model = await everything();
      for (const each of fc.sample(step, { numRuns: STEPS, seed: SEED })) {
        now += each.clock;
        if (each.writes.length > 0) await storeRecords(writer, each.writes, now);
        if (each.named !== undefined && !(await removeSource(writer, each.named)))
          await addSource(writer, { code: each.named, name: "N", description: "" });
        if (each.writes.length > 0 || each.named !== undefined) model = await everything();
        const { rows, named } = model;
        for (const question of each.questions) {
          const { limit } = question;
          const filter = filterOf(question, rows);
          const wanted = rows.filter((row) => matches(row, named, filter));
          const after = question.after === undefined || rows.length === 0 ? null : positionOf(rows[question.after % rows.length] as Row);

          const page = await listOpportunities(readModel, filter, limit, after);
          const rest = wanted.filter((row) => after === null || isAfter(row, after));
          const expected = rest.slice(0, limit);
          const where = { seed: SEED, filter, limit, after };
          expect({ ...where, ids: listed(page.documents).map(({ id }) => id) }).toEqual({ ...where, ids: expected.map(({ id }) => id) });
          const last = expected.at(-1);
          expect(page.next).toEqual(rest.length > limit && last !== undefined ? positionOf(last) : null);
          pages++;
          if (question.walk && walks.length < 5 && rows.length > 0)
            walks.push({ filter, limit, started: wanted, seen: [], next: { time: Number.MAX_SAFE_INTEGER, id: "" } });
        }
        writes += each.writes.length;
        for (const walk of walks) {
          const { documents, next } = await listOpportunities(readModel, walk.filter, walk.limit, walk.next);
          walk.seen.push(...listed(documents).map(({ id }) => id));
          walk.next = next;
          pages++;
        }
        for (const walk of walks.filter(({ next }) => next === null)) {
          const present = new Map(rows.map((row) => [row.id, row]));
          const unmoved = walk.started.filter(({ id, time }) => present.get(id)?.time === time);
          if (walk.filter.source?.includes("OTHER") !== true)
            // Which sources are named may have changed meanwhile.
            expect({ seed: SEED, missed: unmoved.filter(({ id }) => !walk.seen.includes(id)) }).toEqual({ seed: SEED, missed: [] });
          expect(new Set(walk.seen).size).toBe(walk.seen.length);
          walks.splice(walks.indexOf(walk), 1);
          finished++;
          moved += walk.started.length - unmoved.length;
        }
      }
      expect(pages).toBeGreaterThan(STEPS * QUESTIONS);
      expect(writes).toBeGreaterThan(2 * model.rows.length);
      expect(finished).toBeGreaterThan(50);
      expect(moved).toBeGreaterThan(50);
      expect(readModel.index.end).toBeLessThan(writes); // It was compacted on the way.
    },
    300_000 + STEPS * 100,
  );

  test("gives complete documents, the same as getOpportunity()", async () => {
    const { documents } = await listOpportunities(readModel, {}, 20, null);
    for (const document of documents) {
      const [{ id }] = listed([document]) as [Listed];
      expect((await getOpportunity(readModel, id))?.document).toEqual(document);
    }
    expect(await getOpportunity(readModel, "00000000-0000-0000-0000-000000000000")).toBeUndefined();
  });
});

function positionOf({ time, id }: Row): Position {
  return { time, id };
}
