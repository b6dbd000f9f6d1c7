/** A commit between any two steps of a list: the page is of the catalog before it or after it, never of both. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { openPostgresCatalog } from "../../db/postgres/open.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import type { Draft } from "../../src/import/record.ts";
import { type Filter, listOpportunities } from "../../src/opportunities/list.ts";
import type { Page } from "../../src/opportunities/page.ts";
import { createReadModel } from "../../src/opportunities/read-model.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { storeRecords } from "../support/records.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

type Opening = () => Promise<CatalogDb>;

/** What opens one and the same new catalog again and again. */
const settings: [string, boolean, () => Promise<Opening>][] = [
  [
    "SQLite",
    true,
    async () => {
      const directory = aDirectory();
      return async () => openCatalog(directory, NOON);
    },
  ],
  [
    "PostgreSQL",
    hasPostgres,
    async () => {
      const url = await (await postgresServer()).freshDatabase();
      return () => openPostgresCatalog(url, NOON, { connections: 3 });
    },
  ],
];

/** The same database; `step` is awaited before each statement. */
function interrupted(db: CatalogDb, step: () => Promise<void>): CatalogDb {
  return {
    ...db,
    get: (statement, ...values) => step().then(() => db.get(statement, ...values)),
    all: (statement, ...values) => step().then(() => db.all(statement, ...values)),
    each: (statement, values, take) => step().then(() => db.each(statement, values, take)),
  };
}

const filters: [string, Filter][] = [
  ["no filter", {}],
  ["a status", { status: ["open"] }],
  ["an upstream id", { source: ["A"], source_opportunity_id: "SHARED" }],
  ["OTHER", { source: ["OTHER"] }],
];

const RECORDS = 9;
const STEPS = 6;

/** Changes every third record, adds one, and lets two others bear an id that they did not bear; status and title tell the turn. */
function changed(turn: number): Draft[] {
  const record = (n: number): Draft => ({
    source: { code: n === 8 ? "Z" : "A", opportunity_id: `N${n}` },
    title: `Turn ${turn}`,
    status: (n + turn) % 2 === 0 ? "open" : "closed",
    earlier_ids: [`ONCE${turn}`, ...((n + turn) % 3 === 0 ? ["SHARED"] : [])],
  });
  return [turn % RECORDS, (turn + 3) % RECORDS, (turn + 6) % RECORDS, RECORDS + turn].map(record);
}

const textOf = ({ documents, next }: Page) => JSON.stringify([documents.map((document) => Buffer.from(document).toString()), next]);

describe.each(settings)("listOpportunities() on %s, with a commit between two of its steps", (_, isThere, aPlace) => {
  test.if(isThere).each(filters)("by %s", async (_, filter) => {
    const open = await aPlace();
    const [writer, reader] = [await open(), await open()];
    let [turn, asked, commitAt] = [0, 0, -1];
    const commit = () => storeRecords(writer, changed(turn++), NOON);
    for (let n = 0; n < RECORDS; n++) await commit();
    const model = await createReadModel(
      interrupted(reader, async () => {
        if (asked++ === commitAt) await commit();
      }),
    );
    const quiet = await createReadModel(writer); // Asked while nobody writes.
    let differing = 0;
    for (const limit of [1, 4]) {
      for (const depth of [0, 1, 4]) {
        for (let step = 0; step < STEPS; step++) {
          await commit(); // So that the reader has something to read.
          const after = depth === 0 ? null : (await listOpportunities(quiet, filter, depth, null)).next;
          const before = textOf(await listOpportunities(quiet, filter, limit, after));
          [asked, commitAt] = [0, step];
          const page = textOf(await listOpportunities(model, filter, limit, after));
          const afterwards = textOf(await listOpportunities(quiet, filter, limit, after));
          const where = { limit, depth, step };
          expect({ ...where, page: [before, afterwards].includes(page) ? "one of them" : page }).toEqual({ ...where, page: "one of them" });
          if (before !== afterwards) differing++;
          if (asked > step && step === 0) expect(page).toBe(afterwards);
        }
      }
    }
    expect(differing).toBeGreaterThan(2); // Or the commits never mattered.
    await Promise.all([writer.close(), reader.close()]);
  });
});
