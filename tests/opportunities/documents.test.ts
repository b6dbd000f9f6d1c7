import { afterAll, expect, test } from "bun:test";
import { openCatalog } from "../../db/sqlite/open.ts";
import { createDocuments, keepDocument, keptDocument } from "../../src/opportunities/documents.ts";
import { getOpportunity } from "../../src/opportunities/get.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { listOpportunities } from "../../src/opportunities/list.ts";
import { createReadModel } from "../../src/opportunities/read-model.ts";
import { aDirectory, dropScratch, NOON } from "../support/imports.ts";
import { interruptedCatalog } from "../support/interrupted-catalog.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";

afterAll(dropScratch);

const aRecord = (n: number, title: string) => anOpportunity({ source: { code: "A", opportunity_id: `N${n}` }, title });
const titleOf = (document: Uint8Array | undefined) => JSON.parse(Buffer.from(document ?? "{}").toString()).title;

test("documents are found by row number and id, used ones are kept longer, and memory is bounded", () => {
  const documents = createDocuments();
  const aDocument = (seq: number) => ({ seq, id: `id${seq}`, updated_at: seq, document: new Uint8Array(1_000_000) });
  for (let seq = 1; seq <= 200; seq++) {
    keepDocument(documents, aDocument(seq));
    expect(keptDocument(documents, 1)?.id).toBe("id1");
    expect(keptDocument(documents, `id${seq}`)?.seq).toBe(seq);
  }
  expect(keptDocument(documents, 100)).toBeUndefined();
  const held = new Set([...documents.recent.values(), ...documents.former.values()]);
  expect(held.size).toBeLessThan(40);
});

test("a kept document is read again after its record has changed", async () => {
  const directory = aDirectory();
  const [writer, reader] = [openCatalog(directory, NOON), openCatalog(directory, NOON)];
  const model = await createReadModel(reader);
  const id = opportunityId("A", "N1");
  for (let version = 1; version <= 20; version++) {
    await storeRecords(writer, [aRecord(1, `T${version}`)], NOON);
    const found = await getOpportunity(model, id);
    const { documents } = await listOpportunities(model, {}, 1, null);
    expect([titleOf(found?.document), titleOf(documents[0])]).toEqual([`T${version}`, `T${version}`]);
    expect((await getOpportunity(model, id))?.document).toBe(documents[0] as Uint8Array); // From memory, the very same bytes.
  }
  await writer.close();
  await reader.close();
});

test("a list starts again if a commit comes between its steps", async () => {
  const directory = aDirectory();
  const [writer, reader] = [openCatalog(directory, NOON), openCatalog(directory, NOON)];
  await storeRecords(writer, [aRecord(1, "T1")], NOON);
  await storeRecords(writer, [aRecord(2, "T2")], NOON);
  let changesLeft = 0;
  const interrupted = interruptedCatalog(reader, async (statement) => {
    if (statement.includes("json_each") && changesLeft-- > 0) await storeRecords(writer, [aRecord(1, "T1 changed")], NOON);
  });
  const model = await createReadModel(interrupted);
  changesLeft = 1;
  const { documents } = await listOpportunities(model, {}, 10, null);
  expect(changesLeft).toBeLessThan(1);
  expect(documents.map(titleOf)).toEqual(["T1 changed", "T2"]);
  await writer.close();
  await reader.close();
});

test("a list finds records whose updated_at was set back by another program", async () => {
  const db = openCatalog(":memory:", NOON);
  for (const n of [1, 2, 3]) await storeRecords(db, [aRecord(n, `T${n}`)], NOON);
  const model = await createReadModel(db);
  db.sqlite.run("update opportunities set updated_at = updated_at - 1000 where id = ?", [opportunityId("A", "N3")]);
  const { documents } = await listOpportunities(model, {}, 10, null);
  expect(documents.map(titleOf)).toEqual(["T2", "T1", "T3"]);
  await db.close();
});
