/** Counts by month are those of every record's own history. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { openCatalog } from "../../db/sqlite/open.ts";
import { exportHistories } from "../../src/export/records.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { countMonths } from "../../src/search/months.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { aDirectoryOfTheDemo, SAMPLE_NOW } from "../support/demo-data.ts";
import { aCatalog, aDirectory, dropScratch } from "../support/imports.ts";
import { anOpportunity, storeRecords } from "../support/records.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

const isOpen = (status: unknown) => status === "open" || status === "closing_soon";

test("the open ones at the end of each month are those whose history says so", async () => {
  const data = await aDirectoryOfTheDemo();
  const catalog = openCatalog(data, SAMPLE_NOW);
  const index = openSearchFile(data);
  await catchUp(catalog, index, undefined, SAMPLE_NOW);
  const months = await countMonths(catalog, index, SAMPLE_NOW);
  const groups = new Map(
    index.sqlite.query<[string, string], []>("select id, coalesce(duplicate_of, id) from records").values() as [string, string][],
  );
  const open = months.names.map(() => new Set<string>());
  const ends = months.names.map((name) => {
    const [year = 0, month = 0] = name.split("-").map(Number);
    const isSummer = month >= 3 && month <= 10; // The first day of the next month is in daylight saving time.
    return Math.min(Date.UTC(year, month, 1, isSummer ? 4 : 5) - 1, SAMPLE_NOW);
  });
  await exportHistories(catalog, { now: SAMPLE_NOW }, ({ id, status, created_at }, history) => {
    for (const [n, end] of ends.entries()) {
      if (Date.parse(created_at) > end) continue;
      const later = history.filter(({ detected_at }) => Date.parse(detected_at) > end).flatMap(({ changes }) => changes);
      const change = later.find(({ field }) => field === "status");
      if (isOpen(change === undefined ? status : change.previous)) open[n]?.add(groups.get(id) ?? id);
    }
  });
  expect(months.all.map((each) => each.open ?? 0)).toEqual(open.map(({ size }) => size));
  expect(open.filter(({ size }) => size > 0).length).toBeGreaterThan(2);
  const sums = months.all.map((_, n) => [...months.departments.values()].reduce((sum, counts) => sum + (counts[n]?.posted ?? 0), 0));
  expect(months.all.map(({ posted }, n) => posted <= (sums[n] ?? 0))).not.toContain(false);
  index.close();
  await catalog.close();
});

test("a month is one of US Eastern time, duplicates count once, and what reopens is open again", async () => {
  const { db } = await aCatalog();
  const index = openSearchFile(aDirectory());
  const months = async (now: string) => {
    await catchUp(db, index, undefined, Date.parse(now));
    const { names, all, departments } = await countMonths(db, index, Date.parse(now));
    const shown = Object.fromEntries(names.map((name, n) => [name, Object.values(all[n] ?? {})]));
    return { shown, names, departments };
  };
  const record = (id: string, status: string, posted_at: string | null = null) =>
    anOpportunity({
      source: { code: "OWN", opportunity_id: id },
      status,
      dates: { posted_at },
      organization: { agency: "National Science Foundation" },
    });
  const [first = ""] = await storeRecords(db, [record("1", "open", "2026-01-31T23:30:00-05:00")], Date.parse("2026-02-10T00:00:00Z"));
  const duplicate = { ...record("2", "open", "2026-02-02T00:00:00-05:00"), relationships: { canonical_id: first } };
  await storeRecords(db, [duplicate], Date.parse("2026-02-11T00:00:00Z"));
  await storeRecords(db, [record("3", "open")], Date.parse("2026-02-12T00:00:00Z"));
  await storeRecords(db, [record("1", "closed")], Date.parse("2026-03-05T00:00:00Z")); // The duplicate is open still.
  await storeRecords(db, [{ ...duplicate, status: "cancelled" }], Date.parse("2026-04-01T03:59:00Z")); // 23:59 on March 31.
  await storeRecords(db, [record("3", "closed")], Date.parse("2026-04-01T04:00:00Z")); // Midnight.
  await storeRecords(db, [record("1", "open", "2026-01-31T23:30:00-05:00")], Date.parse("2026-05-02T00:00:00Z"));
  const { shown, names, departments } = await months("2026-06-01T03:00:00Z"); // May still.
  expect([names.length, names[0], names.at(-1)]).toEqual([24, "2024-06", "2026-05"]);
  expect(shown).toMatchObject({
    "2025-12": [0, null, null],
    "2026-01": [1, null, null],
    "2026-02": [0, 2, 0],
    "2026-03": [0, 1, 1],
    "2026-04": [0, 0, 1],
    "2026-05": [0, 1, 0],
  });
  expect([...departments.keys()]).toEqual(["NSF"]);
  await storeRecords(db, [record("1", "closed", "2026-01-31T23:30:00-05:00")], Date.parse("2026-06-01T05:00:00Z"));
  expect((await months("2026-06-01T06:00:00Z")).shown["2026-06"]).toEqual([0, 0, 1]);
  index.close();
});
