import { afterAll, expect, test } from "bun:test";
import { openCatalog } from "../../db/sqlite/open.ts";
import { createDocuments, keepDocument, keptDocument } from "../../src/opportunities/documents.ts";
import { opportunityId } from "../../src/opportunities/identity.ts";
import { listOpportunities } from "../../src/opportunities/list.ts";
import { createReadModel, getOpportunity } from "../../src/opportunities/read-model.ts";
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

test("the next page needs no statement while the last record of the page before is in memory and unchanged", async () => {
  const directory = aDirectory();
  const [writer, reader] = [openCatalog(directory, NOON), openCatalog(directory, NOON)];
  await storeRecords(
    writer,
    [1, 2, 3, 4, 5, 6].map((n) => aRecord(n, `T${n}`)),
    NOON,
  );
  const statements: string[] = [];
  const model = await createReadModel(interruptedCatalog(reader, async (statement) => void statements.push(statement)));
  const { documents: all } = await listOpportunities(model, {}, 6, null);
  const titles = all.map(titleOf);
  const { next } = await listOpportunities(model, {}, 2, null);
  statements.length = 0;
  const pageAfter = async () => (await listOpportunities(model, {}, 3, next)).documents.map(titleOf);
  expect(await pageAfter()).toEqual(titles.slice(2, 5));
  expect(statements).toEqual([]);

  const last = Number(titles[1].slice(1));
  await storeRecords(writer, [aRecord(last, "changed")], NOON);
  expect(await pageAfter()).toEqual(titles.slice(2, 5));
  expect((await listOpportunities(model, {}, 3, null)).documents.map(titleOf)).toEqual(["changed", titles[0], titles[2]]); // Now it is in memory again.
  expect(await pageAfter()).toEqual(titles.slice(2, 5));
  await writer.close();
  await reader.close();
});

test("a page after a position starts again if the record there changes between its steps", async () => {
  const directory = aDirectory();
  const [writer, reader] = [openCatalog(directory, NOON), openCatalog(directory, NOON)];
  const changeOf = (title: string) => storeRecords(writer, [aRecord(Number(title.slice(1)), `${title} changed`)], NOON);
  await storeRecords(
    writer,
    [1, 2, 3, 4].map((n) => aRecord(n, `T${n}`)),
    NOON,
  );
  let changing: { title: string; before: string } | undefined;
  const interrupted = interruptedCatalog(reader, async (statement) => {
    if (changing === undefined || !statement.includes(changing.before)) return;
    const { title } = changing;
    changing = undefined;
    await changeOf(title);
  });
  const model = await createReadModel(interrupted);
  const [first, second, third, fourth] = (await listOpportunities(model, {}, 4, null)).documents.map(titleOf);
  const { next } = await listOpportunities(model, {}, 1, null);
  const pageAfterFirst = async () => (await listOpportunities(model, { source: ["OTHER"] }, 4, next)).documents.map(titleOf);

  changing = { title: first, before: 'from "sources"' }; // The place of the first record is known from memory.
  expect(await pageAfterFirst()).toEqual([second, third, fourth]);
  await storeRecords(writer, [aRecord(5, "T5")], NOON);
  changing = { title: second, before: "> (" }; // A statement has found the second record, and now the index is refreshed.
  expect(await pageAfterFirst()).toEqual([third, fourth]);
  expect(changing).toBeUndefined();
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
