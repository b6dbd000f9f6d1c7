/** A commit between any two statements of a list: the page shows the catalog before or after the commit, never a mixture. */
import { afterAll, describe, expect, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { openPostgres } from "../../db/postgres/open.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import type { Draft } from "../../src/import/format.ts";
import { type ListFilter, listOpportunities } from "../../src/opportunities/list.ts";
import type { ListPage } from "../../src/opportunities/page.ts";
import { createReadModel } from "../../src/opportunities/read-model.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { interruptedCatalog } from "../support/interrupted-catalog.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { storeRecords } from "../support/records.ts";

afterAll(dropScratch);

/** Opens a further connection to one catalog. */
type Connect = () => Promise<CatalogDb>;

/** The engine, whether it is installed, and a function that creates a catalog. */
const settings: [string, boolean, () => Promise<Connect>][] = [
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
      return () => openPostgres("catalog", url, NOON, { connections: 3 });
    },
  ],
];

const filters: [string, ListFilter][] = [
  ["no filter", {}],
  ["a status", { status: ["open"] }],
  ["an upstream id", { source: ["A"], source_opportunity_id: "SHARED" }],
  ["OTHER", { source: ["OTHER"] }],
];

const RECORDS = 9;
const STATEMENTS = 6;

/** Returns every third record changed, one new record, and two that gain an upstream id. Title and status depend on the number of the commit. */
function changedRecords(commit: number): Draft[] {
  const record = (n: number): Draft => ({
    source: { code: n === 8 ? "Z" : "A", opportunity_id: `N${n}` },
    title: `Commit ${commit}`,
    status: (n + commit) % 2 === 0 ? "open" : "closed",
    earlier_ids: [`ONCE${commit}`, ...((n + commit) % 3 === 0 ? ["SHARED"] : [])],
  });
  return [commit % RECORDS, (commit + 3) % RECORDS, (commit + 6) % RECORDS, RECORDS + commit].map(record);
}

const pageText = ({ documents, next }: ListPage) => JSON.stringify([documents.map((document) => Buffer.from(document).toString()), next]);

describe.each(settings)("listOpportunities() on %s, with a commit between two of its statements", (_, isInstalled, createCatalog) => {
  test.if(isInstalled).each(filters)("filtered by %s: returns the page before or after the commit", async (_, filter) => {
    const connect = await createCatalog();
    const [writer, reader] = [await connect(), await connect()];
    let [commits, statements, commitBefore] = [0, 0, -1];
    const commit = () => storeRecords(writer, changedRecords(commits++), NOON);
    for (let n = 0; n < RECORDS; n++) await commit();
    const model = await createReadModel(
      interruptedCatalog(reader, async () => {
        if (statements++ === commitBefore) await commit();
      }),
    );
    const undisturbed = await createReadModel(writer);
    let differing = 0;
    for (const limit of [1, 4]) {
      for (const depth of [0, 1]) {
        for (let step = 0; step < STATEMENTS; step++) {
          await commit(); // The reader must have something to refresh.
          const after = depth === 0 ? null : (await listOpportunities(undisturbed, filter, depth, null)).next;
          const before = pageText(await listOpportunities(undisturbed, filter, limit, after));
          [statements, commitBefore] = [0, step];
          const page = pageText(await listOpportunities(model, filter, limit, after));
          const afterwards = pageText(await listOpportunities(undisturbed, filter, limit, after));
          const where = { limit, depth, step };
          expect({ ...where, page: [before, afterwards].includes(page) ? "before or after" : page }).toEqual({
            ...where,
            page: "before or after",
          });
          if (before !== afterwards) differing++;
          if (statements > step && step === 0) expect(page).toBe(afterwards);
        }
      }
    }
    expect(differing).toBeGreaterThan(2); // Otherwise no commit changed a page, and the test shows nothing.
    await Promise.all([writer.close(), reader.close()]);
  });
});
