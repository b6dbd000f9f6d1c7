/** D-31: no two transactions share an instant, even if several connections write. */
import { afterAll, expect, test } from "bun:test";
import { openCatalog } from "../../db/sqlite/open.ts";
import { atNextInstant, insertRecord } from "../../src/changes/commit.ts";
import { prepareRecord } from "../../src/changes/content.ts";
import { decideImport } from "../../src/changes/decide.ts";
import { validateRecord } from "../../src/import/validate.ts";
import { aDirectory, documentsOf, dropScratch, NOON } from "../support/imports.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";

afterAll(dropScratch);

const aRecord = (id: string) => anOpportunity({ source: { code: "A", opportunity_id: id } });

test("atNextInstant() takes the write lock before it reads the newest instant, so that no commit can come in between", async () => {
  const directory = aDirectory();
  const [writer, other] = [openCatalog(directory, NOON), openCatalog(directory, NOON, { waitMs: 0 })];
  await atNextInstant(writer, NOON, async () => {
    await expect(storeRecords(other, [aRecord("other")], NOON)).rejects.toThrow("database is locked");
  });
  await storeRecords(writer, [aRecord("N1")], NOON);
  await storeRecords(other, [aRecord("other")], NOON);
  expect((await documentsOf(writer)).map(({ updated_at }) => Date.parse(updated_at))).toEqual([NOON, NOON + 1]);
  for (const db of [writer, other]) await db.close();
});

test("a failed transaction stores nothing, and the next one gets its instant", async () => {
  const db = openCatalog(":memory:", NOON);
  const record = prepareRecord(validateRecord(aRecord("N1"), new Map()));
  const failing = atNextInstant(db, NOON, async (writing) => {
    await insertRecord(writing, decideImport(undefined, record, writing), record, 0);
    throw new Error("disk full");
  });
  await expect(failing).rejects.toThrow("disk full");
  expect(await documentsOf(db)).toEqual([]);
  await storeRecords(db, [aRecord("N2")], NOON);
  expect((await documentsOf(db)).map(({ updated_at }) => Date.parse(updated_at))).toEqual([NOON]);
});
