import { afterAll, expect, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { listOpportunities } from "../../src/opportunities/list.ts";
import { createReadModel, LOADED_AT_ONCE } from "../../src/opportunities/read-model.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { interruptedCatalog } from "../support/interrupted-catalog.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";

afterAll(dropScratch);

const aRecord = (n: number) => anOpportunity({ source: { code: `S${n}`, opportunity_id: `N${n}` }, title: `T${n}` });

function titlesOf({ documents }: { documents: Uint8Array[] }): string[] {
  return documents.map((document) => JSON.parse(Buffer.from(document).toString()).title);
}

test("a list sees every earlier commit, also of another connection", async () => {
  const directory = aDirectory();
  const [writer, reader] = [openCatalog(directory, NOON), openCatalog(directory, NOON)];
  const model = await createReadModel(reader);
  for (let n = 0; n < 20; n++) {
    await storeRecords(writer, [aRecord(n)], NOON);
    expect(titlesOf(await listOpportunities(model, {}, 1, null))).toEqual([`T${n}`]);
    expect(titlesOf(await listOpportunities(model, { source: [`S${n}`] }, 1, null))).toEqual([`T${n}`]);
  }
  writer.sqlite.run("begin immediate");
  writer.sqlite.run("update opportunities set updated_at = updated_at + 1000000 where source = 'S3'");
  expect(titlesOf(await listOpportunities(model, {}, 1, null))).toEqual(["T19"]); // Uncommitted changes are not seen.
  writer.sqlite.run("rollback");
  await writer.close();
  await reader.close();
});

test("a refresh that fails halfway loses no record", async () => {
  const db = openCatalog(":memory:", NOON);
  let failing: string | undefined;
  const interrupted = interruptedCatalog(db, async (statement) => {
    if (failing !== undefined && statement.includes(failing)) throw new Error("disk I/O error");
  });
  const model = await createReadModel(interrupted);
  await storeRecords(db, [aRecord(1)], NOON);
  for (const statement of ['from "facets"', 'from "opportunities" where ("opportunities"."updated_at"']) {
    await storeRecords(db, [aRecord(2), aRecord(3), aRecord(4)], NOON);
    failing = statement;
    await expect(listOpportunities(model, {}, 10, null)).rejects.toThrow("disk I/O error");
    failing = undefined;
    expect(titlesOf(await listOpportunities(model, { status: ["open"] }, 10, null)).sort()).toEqual(["T1", "T2", "T3", "T4"]);
    await storeRecords(
      db,
      [2, 3, 4].map((n) => anOpportunity({ ...aRecord(n), summary: "changed" })),
      NOON,
    );
  }
});

test("a commit that comes while a refresh reads is seen by the next list", async () => {
  const directory = aDirectory();
  const [db, reader] = [openCatalog(directory, NOON), openCatalog(directory, NOON)];
  let commit: (() => Promise<unknown>) | undefined;
  const interrupted = interruptedCatalog(reader, async (statement) => {
    if (commit === undefined || !statement.includes('from "facets"')) return; // After the records.
    const store = commit;
    commit = undefined;
    await store();
    await new Promise((resolve) => setImmediate(resolve)); // The counter of commits is looked at once for each turn.
  });
  const model = await createReadModel(interrupted);
  await storeRecords(db, [aRecord(1)], NOON);
  commit = () => storeRecords(db, [aRecord(2)], NOON);
  await listOpportunities(model, {}, 10, null);
  expect(commit).toBeUndefined();
  expect(titlesOf(await listOpportunities(model, {}, 10, null))).toEqual(["T2", "T1"]);
  await db.close();
  await reader.close();
});

test("every connection to a catalog has the same cursor secret", async () => {
  const directory = aDirectory();
  const [first, second] = [openCatalog(directory, NOON), openCatalog(directory, NOON)];
  expect((await createReadModel(first)).cursorSecret).toEqual((await createReadModel(second)).cursorSecret);
  await first.close();
  await second.close();
});

test("loading and reloading handle other work after each batch", async () => {
  const db = openCatalog(":memory:", NOON);
  const numbers = `with recursive n(n) as (select 1 union all select n + 1 from n where n < ${3 * LOADED_AT_ONCE})`;
  db.sqlite.run(`${numbers} insert into facets (status, source, program_type, agency) select 'open', 'S' || n, '', '' from n`);
  db.sqlite.run(
    `${numbers} insert into opportunities (id, source, lineage, source_opportunity_id, created_at, updated_at, stored_at, facet_id, status_basis, hash, document, sidecar)
     select 'id' || n, 'S' || n, n, n, 0, n / 1000, n / 1000, n, 'stated', '', '', '' from n`,
  );
  const reads: { rows: number; turn: number }[] = [];
  let turn = 0;
  const counting = () => {
    turn++;
    timer = setImmediate(counting);
  };
  let timer = setImmediate(counting);
  const watched: CatalogDb = {
    ...db,
    async all(query, ...values) {
      const rows = await db.all(query, ...values);
      reads.push({ rows: rows.length, turn });
      return rows;
    },
  };
  const expectTurns = () => {
    const full = reads.filter(({ rows }) => rows === LOADED_AT_ONCE);
    expect(full.length).toBe(6); // Of facets and of records.
    expect(new Set(full.map((read) => read.turn)).size).toBe(6);
    expect(Math.max(...reads.map(({ rows }) => rows))).toBe(LOADED_AT_ONCE);
    reads.length = 0;
  };
  const model = await createReadModel(watched);
  expectTurns();
  await model.reload();
  expectTurns();
  clearImmediate(timer);
  await db.close();
});
