/** D-31: an instant belongs to one transaction, whoever else writes. */
import { afterAll, expect, test } from "bun:test";
import { close, openCatalog } from "../../db/open.ts";
import { atNextInstant } from "../../src/changes/commit.ts";
import { aDirectory, documentsOf, dropScratch, NOON } from "../support/imports.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";

afterAll(dropScratch);

const aRecord = (id: string) => anOpportunity({ source: { code: "A", opportunity_id: id } });

test("the write lock is taken before the newest instant is looked up, so that nobody's commit comes in between", async () => {
  const directory = aDirectory();
  const [writer, other] = [openCatalog(directory, NOON), openCatalog(directory, NOON, 0)];
  const { query } = writer.sqlite;
  const attempts: Promise<unknown>[] = [];
  writer.sqlite.query = ((sql: string) => {
    if (sql.includes("max(updated_at)")) attempts.push(storeRecords(other, [aRecord("other")], NOON).catch(({ code }) => code));
    return query.call(writer.sqlite, sql);
  }) as typeof query;
  await storeRecords(writer, [aRecord("N1")], NOON);
  writer.sqlite.query = query;
  expect(await Promise.all(attempts)).toEqual(["SQLITE_BUSY"]);
  await storeRecords(other, [aRecord("other")], NOON);
  expect(documentsOf(writer).map(({ updated_at }) => Date.parse(updated_at))).toEqual([NOON, NOON + 1]);
  for (const db of [writer, other]) close(db);
});

test("a transaction that fails leaves nothing, and its instant to the next", () => {
  const db = openCatalog(":memory:", NOON);
  const fail = () =>
    atNextInstant(db, NOON, () => {
      storeRecords(db, [aRecord("N1")], NOON);
      throw new Error("disk full");
    });
  expect(fail).toThrow("disk full");
  expect(documentsOf(db)).toEqual([]);
  storeRecords(db, [aRecord("N2")], NOON);
  expect(documentsOf(db).map(({ updated_at }) => Date.parse(updated_at))).toEqual([NOON]);
});
