import { afterAll, expect, test } from "bun:test";
import { sourceStatuses, sourceStatusesAt } from "../../src/opportunities/source-counts.ts";
import { aCatalog, DAY, dropScratch, NOON } from "../support/imports.ts";

afterAll(dropScratch);

test("what is open is counted as the clock has it, before any writer turns a status", async () => {
  const { db, take } = await aCatalog();
  const closing = (id: string, days: number, fields: object = {}) => ({
    source: { code: "OWN", opportunity_id: id },
    title: id,
    dates: { opens_at: new Date(NOON + (days - 20) * DAY).toISOString(), closes_at: new Date(NOON + days * DAY).toISOString() },
    ...fields,
  });
  const archived = { archives_at: new Date(NOON + 15 * DAY).toISOString() };
  await take([
    closing("A", 10),
    closing("B", 12, archived),
    closing("C", 30),
    { ...closing("D", 10), source: { code: "OTHER", opportunity_id: "D" } },
  ]);
  const counts = async (now: number) =>
    (await sourceStatusesAt(db, now)).map(({ source, records, open, live }) => [source, records, open, live]);
  expect(await counts(NOON)).toEqual([
    ["OTHER", 1, 1, 1],
    ["OWN", 3, 2, 3],
  ]);
  expect(await counts(NOON + 11 * DAY)).toEqual([
    ["OTHER", 1, 0, 1],
    ["OWN", 3, 2, 3], // A has closed, C has opened.
  ]);
  expect(await counts(NOON + 20 * DAY)).toEqual([
    ["OTHER", 1, 0, 1],
    ["OWN", 3, 1, 2],
  ]);
  // Nothing was written.
  expect((await sourceStatuses(db)).map(({ open }) => open)).toEqual([1, 2]);
});
