/** Lists compared with a model, with random records, filters and positions, while another connection writes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { CatalogDb } from "../../db/engine.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import type { Draft } from "../../src/import/format.ts";
import { createDocuments } from "../../src/opportunities/documents.ts";
import { type ListFilter, listOpportunities } from "../../src/opportunities/list.ts";
import { programTypes, statuses } from "../../src/opportunities/opportunity.ts";
import type { Position } from "../../src/opportunities/page.ts";
import { createReadModel, getOpportunity, type ReadModel } from "../../src/opportunities/read-model.ts";
import { addSource, removeSource } from "../../src/sources/source.ts";
import { defaultLocation, onPostgres } from "../support/database-locations.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { idsOf, type ListedRecord, ListModel, positionOf, Walk } from "../support/list-model.ts";
import { storeRecords } from "../support/records.ts";

const SEED = Number(process.env.FUNDFEED_SEED ?? 20260301);
/** Something may be written in each step. After it, there are `QUESTIONS` lists. */
const STEPS = Number(process.env.FUNDFEED_LIST_STEPS ?? (onPostgres ? 100 : 150));
const QUESTIONS = 5;
/** Clients that read page by page at the same time. */
const WALKS = 5;

const codes = ["A", "B", "C", "D"];
const agencies = [null, "NASA", "Department of Defense", "Défense", "100% _Agency_"];

const upstreamId = fc.nat({ max: 99 }).map((n) => `N${n}`);
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
  since: fc.option(fc.record({ record: fc.nat(), ms: fc.integer({ min: -1, max: 1 }), beyond: fc.constantFrom("", "5") }), {
    nil: undefined,
    freq: 2,
  }),
  upstreamId: fc.option(upstreamId, { nil: undefined, freq: 1 }),
});

const question = fc.record({
  filter,
  limit: fc.integer({ min: 1, max: 30 }),
  after: fc.option(fc.record({ record: fc.nat(), moved: fc.boolean() }), { nil: undefined }),
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
  forget: fc.boolean(),
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

/** Two connections to one catalog, as two processes have them. */
async function twoOpenings(): Promise<[CatalogDb, CatalogDb]> {
  if (onPostgres) {
    const location = await defaultLocation();
    return [await location.catalog(NOON), await location.catalog(NOON)];
  }
  const directory = aDirectory();
  const [one, other] = [openCatalog(directory, NOON), openCatalog(directory, NOON)];
  for (const { sqlite } of [one, other]) sqlite.run("pragma synchronous = off"); // Faster, and this test has no power failures.
  return [one, other];
}

/** What happens between two lists: records are written, or a source is named or loses its name. */
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

let now = NOON;

async function take({ clock, writes, named }: Step): Promise<void> {
  now += clock;
  if (writes.length > 0) await storeRecords(writer, writes, now);
  if (named !== undefined && !(await removeSource(writer, named))) await addSource(writer, { code: named, name: "N", description: "" });
}

type Asked = { questions: Question[]; model: ListModel; moved: ListedRecord[]; written: number };

/** Takes random steps. After each, yields the questions, the model of what is stored, and the former versions of the records that moved last. */
async function* steps(seed: number): AsyncGenerator<Asked> {
  let model = await ListModel.read(writer);
  let moved: ListedRecord[] = [];
  for (const each of fc.sample(step, { numRuns: STEPS, seed })) {
    await take(each);
    if (each.writes.length > 0 || each.named !== undefined) {
      const { records } = model;
      model = await ListModel.read(writer);
      if (each.writes.length > 0) moved = records.filter((record) => !model.has(record));
    }
    if (each.forget) readModel.documents = createDocuments();
    yield { questions: each.questions, model, moved, written: each.writes.length };
  }
}

function filterOf({ filter: { since, upstreamId: wanted, ...rest } }: Question, { records }: ListModel): ListFilter {
  const filter = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) as ListFilter;
  const time = records.length === 0 ? NOON : (records[(since?.record ?? 0) % records.length]?.time ?? NOON);
  if (since !== undefined) filter.updated_since = { ms: time + since.ms, beyond: since.beyond };
  return wanted === undefined ? filter : { ...filter, source: ["A"], source_opportunity_id: wanted };
}

/** The position of a record, or of one that is no longer there. */
function startOf({ after }: Question, model: ListModel, moved: ListedRecord[]): Position | null {
  const records = after?.moved === true ? moved : model.records;
  const record = after === undefined ? undefined : records[after.record % records.length];
  return record === undefined ? null : positionOf(record);
}

const TIMEOUT_MS = 300_000 + STEPS * 100;

describe("listOpportunities()", () => {
  test(
    "returns the same pages as the model while another connection writes",
    async () => {
      let [pages, writes, records] = [0, 0, 0];
      for await (const { questions, model, moved, written } of steps(SEED)) {
        for (const question of questions) {
          const [filter, after] = [filterOf(question, model), startOf(question, model, moved)];
          const { documents, next } = await listOpportunities(readModel, filter, question.limit, after);
          const request = { seed: SEED, filter, limit: question.limit, after };
          expect({ ...request, ids: idsOf(documents), next }).toEqual({ ...request, ...model.page(filter, question.limit, after) });
          pages++;
        }
        writes += written;
        records = model.records.length;
      }
      expect(pages).toBe(STEPS * QUESTIONS);
      expect(writes).toBeGreaterThan(2 * records);
      expect(readModel.index.end).toBeLessThan(writes); // The index was compacted on the way.
    },
    TIMEOUT_MS,
  );

  test(
    "returns each record that stays in its place once to a client that reads page by page while another connection writes",
    async () => {
      let walks: Walk[] = [];
      let [finished, moved] = [0, 0];
      for await (const { questions, model } of steps(SEED + 1)) {
        for (const question of questions.filter(({ walk }) => walk).slice(0, WALKS - walks.length))
          walks.push(new Walk(model, filterOf(question, model), question.limit));
        for (const walk of walks) await walk.readPage(readModel);
        for (const walk of walks.filter(({ isFinished }) => isFinished)) {
          walk.expectComplete(model, SEED + 1);
          moved += walk.movedIn(model);
          finished++;
        }
        walks = walks.filter(({ isFinished }) => !isFinished);
      }
      expect(finished).toBeGreaterThan(50);
      expect(moved).toBeGreaterThan(50);
    },
    TIMEOUT_MS,
  );

  test("gives the same complete documents as getOpportunity()", async () => {
    const { documents } = await listOpportunities(readModel, {}, 20, null);
    for (const document of documents) {
      const [id] = idsOf([document]) as [string];
      expect((await getOpportunity(readModel, id))?.document).toEqual(document);
    }
    expect(await getOpportunity(readModel, "00000000-0000-0000-0000-000000000000")).toBeUndefined();
  });
});
