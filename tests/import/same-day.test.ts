/** Notices of one number that SAM.gov's API dates by the day alone: the one that came later is the newer one, whatever their ids. */
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { CatalogDb } from "../../db/engine.ts";
import { samGov } from "../../src/import/formats/sam-gov.ts";
import { aCatalog, aFile, dropScratch, ordersOf } from "../support/imports.ts";
import { EXCERPTS } from "../support/real-data.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

type Notice = { noticeId: string; postedDate?: string; responseDeadLine: string | null; [name: string]: unknown };

const format = samGov;
const MINUTE = "2026-04-20T14:00".length;
const [EARLIER, LATER] = ["A", "B"].map((name) => join(EXCERPTS, `sam-gov/derived/sameday-${name}-20260420.derived.json.gz`)) as [
  string,
  string,
];
const noticesIn = (path: string): Notice[] => JSON.parse(gunzipSync(readFileSync(path)).toString()).opportunitiesData;
const idsIn = (path: string) => noticesIn(path).map(({ noticeId }) => noticeId);

const apiFile = (notices: readonly Notice[]) => aFile(JSON.stringify({ opportunitiesData: notices }));

/** The ids of the notices that records show. */
async function shownIn(db: CatalogDb): Promise<Set<string>> {
  const rows = await db.all(rawSql<{ id: string }>("select source_opportunity_id as id from opportunities"));
  return new Set(rows.map(({ id }) => id));
}

async function countShown(db: CatalogDb, path: string): Promise<number> {
  const shown = await shownIn(db);
  return idsIn(path).filter((id) => shown.has(id)).length;
}

test("the notice of the later import is shown, with its deadline, for each of 117 real pairs", async () => {
  const { db, takeFiles } = await aCatalog();
  await takeFiles([EARLIER], { format });
  await takeFiles([LATER], { format });
  const rows = await db.all(
    rawSql<{ id: string; document: Uint8Array }>("select source_opportunity_id as id, document from opportunities"),
  );
  const shown = new Map(rows.map(({ id, document }) => [id, JSON.parse(Buffer.from(document).toString()).dates.closes_at]));
  expect(shown.size).toBe(117);
  for (const { noticeId, responseDeadLine } of noticesIn(LATER)) {
    // In the offset that the notice states; without one, in Eastern time.
    expect([noticeId, shown.get(noticeId)?.slice(0, MINUTE)]).toEqual([noticeId, responseDeadLine?.slice(0, MINUTE)]);
  }
});

test("files that were imported before change nothing, in any order and number", async () => {
  const { db, takeFiles } = await aCatalog();
  await takeFiles([EARLIER], { format });
  await takeFiles([LATER], { format });
  for (const files of [[EARLIER], [LATER, EARLIER]])
    expect(await takeFiles(files, { format })).toMatchObject({ added: 0, changed: 0, events: 0 });
  expect(await countShown(db, LATER)).toBe(117);
});

test("of the files of one import the later file counts as the later import", async () => {
  const [{ db, takeFiles }, turned] = [await aCatalog(), await aCatalog()];
  await takeFiles([EARLIER, LATER], { format });
  expect(await countShown(db, LATER)).toBe(117);
  await turned.takeFiles([LATER, EARLIER], { format });
  expect(await countShown(turned.db, EARLIER)).toBe(117);
});

test("a file that still has the earlier notice beside the later one does not hide that", async () => {
  const { db, takeFiles } = await aCatalog();
  await takeFiles([EARLIER], { format });
  await takeFiles([apiFile([...noticesIn(EARLIER), ...noticesIn(LATER)])], { format });
  expect(await countShown(db, LATER)).toBe(117);
});

test("notices without a posting day are ordered in the same way", async () => {
  const { db, takeFiles } = await aCatalog();
  const undated = (path: string) => apiFile(noticesIn(path).map(({ postedDate: _, ...notice }) => notice));
  await takeFiles([undated(EARLIER)], { format });
  await takeFiles([undated(LATER)], { format });
  expect(await countShown(db, LATER)).toBe(117);
  expect(await takeFiles([undated(EARLIER)], { format })).toMatchObject({ changed: 0, events: 0 });
});

test("in one file the order of the notices does not matter", async () => {
  const notices = [...noticesIn(EARLIER), ...noticesIn(LATER)];
  const [{ db, takeFiles }, turned] = [await aCatalog(), await aCatalog()];
  await takeFiles([apiFile(notices)], { format });
  await turned.takeFiles([apiFile(notices.toReversed())], { format });
  expect(await shownIn(turned.db)).toEqual(await shownIn(db));
});

test("times that another layout states decide, even if they come last", async () => {
  const timed = (path: string, hour: number) =>
    noticesIn(path).map(({ noticeId, title, solicitationNumber, postedDate, type, baseType, responseDeadLine }) => ({
      ...EMPTY_ROW,
      NoticeId: noticeId,
      Title: title,
      "Sol#": solicitationNumber,
      PostedDate: `${postedDate} ${hour}:00:00.123-04`,
      Type: type,
      BaseType: baseType,
      ResponseDeadLine: responseDeadLine ?? "",
      Active: "Yes",
    }));
  const rows = aFile(JSON.stringify([...timed(LATER, 15), ...timed(EARLIER, 10)]));
  for (const files of ordersOf([EARLIER, LATER])) {
    const { db, takeFiles } = await aCatalog();
    for (const file of [...files, rows]) await takeFiles([file], { format });
    expect(await countShown(db, LATER)).toBe(117);
    expect(await takeFiles([EARLIER], { format })).toMatchObject({ changed: 0, events: 0 });
  }
});

const EMPTY_ROW = Object.fromEntries(["AAC Code", "AwardNumber", "ArchiveDate"].map((column) => [column, ""]));
