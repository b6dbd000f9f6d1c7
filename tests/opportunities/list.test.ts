/** A list, and commits that come between its steps. */
import { afterAll, expect, test } from "bun:test";
import type { CatalogDb } from "../../db/engine.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { listOpportunities } from "../../src/opportunities/list.ts";
import { createReadModel } from "../../src/opportunities/read-model.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { storeRecords } from "../support/records.ts";
import { textOf } from "../support/sql.ts";

afterAll(dropScratch);

const aRecord = (code: string, opportunity_id: string, title: string) => ({ source: { code, opportunity_id }, title });

/** Two connections to one catalog: through the first, `commit` is called once around the statement whose SQL has this text. */
function twoConnections(statement: string, when: "before" | "after") {
  const directory = aDirectory();
  const [reader, writer] = [openCatalog(directory, NOON), openCatalog(directory, NOON)];
  const calls: { commit?: (() => Promise<unknown>) | undefined } = {};
  const commitOnce = async () => {
    const { commit } = calls;
    calls.commit = undefined;
    await commit?.();
    if (commit !== undefined) await new Promise((resolve) => setImmediate(resolve)); // The commit counter is read once for each turn.
  };
  const db: CatalogDb = {
    ...reader,
    async all(asked, ...values) {
      const isMeant = textOf(reader, asked).includes(statement);
      if (isMeant && when === "before") await commitOnce();
      const rows = await reader.all(asked, ...values);
      if (isMeant && when === "after") await commitOnce();
      return rows;
    },
  };
  const close = () => Promise.all([reader.close(), writer.close()]);
  return { db, writer, calls, close };
}

const titlesIn = ({ documents }: Awaited<ReturnType<typeof listOpportunities>>) =>
  documents.map((document) => (JSON.parse(Buffer.from(document).toString()) as { title: string }).title);

test("a record that gets an upstream id while the list looks it up is on the page", async () => {
  const { db, writer, calls, close } = twoConnections('"upstream_ids"', "after");
  await storeRecords(writer, [aRecord("A", "N1", "one")], NOON);
  const model = await createReadModel(db);
  calls.commit = () => storeRecords(writer, [aRecord("B", "N1", "two")], NOON + 1);
  expect(titlesIn(await listOpportunities(model, { source_opportunity_id: "N1" }, 10, null))).toEqual(["two", "one"]);
  expect(calls.commit).toBeUndefined();
  await close();
});

test("a record that changes before its document is read is where it is then", async () => {
  const { db, writer, calls, close } = twoConnections('"document"', "before");
  await storeRecords(writer, [aRecord("A", "N1", "one")], NOON);
  await storeRecords(writer, [aRecord("A", "N2", "two")], NOON + 1);
  const model = await createReadModel(db);
  calls.commit = () => storeRecords(writer, [aRecord("A", "N1", "newer one")], NOON + 2);
  expect(titlesIn(await listOpportunities(model, {}, 10, null))).toEqual(["newer one", "two"]);
  expect(calls.commit).toBeUndefined();
  await close();
});
