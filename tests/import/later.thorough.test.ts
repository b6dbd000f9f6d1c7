/** The same file imported again later: statuses follow the clock, and nothing else changes (D-32, D-37). */
import { afterAll, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import { exportLines } from "../../src/export/records.ts";
import { formats } from "../../src/import/formats/all.ts";
import { records } from "../../src/import/formats/records.ts";
import { importFiles } from "../../src/import/run.ts";
import type { Opportunity } from "../../src/opportunities/opportunity.ts";
import { readOpportunities } from "../../src/opportunities/records.ts";
import { formatInstant } from "../../src/text/instant.ts";
import {
  aCatalog,
  aFile,
  contentsOf,
  DAY,
  documentsOf,
  dropScratch,
  eventsOf,
  exportOf,
  NOON,
  type TestCatalog,
} from "../support/imports.ts";
import { realPath } from "../support/real-data.ts";
import { sample } from "../support/sample.ts";

afterAll(dropScratch);

/** The newest file of each format, rows of SAM.gov, and SBIR.gov's API, which lists due dates. */
const files = [
  ...new Map(sample.map((each) => [each.format, each])).values(),
  ...sample.filter(({ format }) => format === "sam-gov").slice(0, 1),
  { format: "sbir-gov", file: realPath("sbir-gov/solicitations-20250912.json"), asOf: "2025-09-12T12:00:00Z" },
];

/** All contents, but for when a record was last stored: one that was unseen for a year is stored when it is seen again (E-205). */
async function servedBy({ db }: TestCatalog): Promise<string> {
  return (await contentsOf(db)).replaceAll(/"stored_at":\d+/g, '"stored_at":0');
}

/** After so many days a few dates of the files have passed, more, and all. */
const DAYS_LATER = [1, 60, 5000];

test.each(files)(
  "$format: an import makes the status turns that refresh makes and a new catalog states, and no other change",
  async (file) => {
    const format = formats.find(({ name }) => name === file.format);
    if (format === undefined) throw new Error(`There is no format ${file.format}`);
    const [refreshed, imported] = [await aCatalog(), await aCatalog()];
    const take = ({ takeFiles }: typeof refreshed) => takeFiles([file.file], { format });
    for (const catalog of [refreshed, imported]) {
      catalog.clock.now = Date.parse(file.asOf);
      await take(catalog);
    }
    for (const days of DAYS_LATER) {
      for (const { clock } of [refreshed, imported]) clock.now = Date.parse(file.asOf) + days * DAY;
      await turnStatuses(refreshed.db, refreshed.clock.now);
      const before = await servedBy(refreshed);
      expect(await take(refreshed)).toMatchObject({ added: 0, changed: 0, removed: 0, linked: 0, events: 0 });
      expect(await servedBy(refreshed)).toBe(before);

      expect(await take(imported)).toMatchObject({ added: 0, changed: 0, removed: 0, linked: 0, events: 0 });
      expect(await servedBy(imported)).toBe(before);
    }
    expect(await checkCatalog(imported.db)).toEqual([]);
    const late = await aCatalog();
    late.clock.now = imported.clock.now;
    await take(late);
    const statuses = async ({ db }: typeof late) =>
      (await documentsOf(db)).map(({ id, status, status_display }) => [id, status, status_display]).toSorted();
    expect(await statuses(imported)).toEqual(await statuses(late));
    const restored = await aCatalog();
    restored.clock.now = imported.clock.now;
    await restored.take((await exportOf(imported.db)).join("\n"));
    expect(await exportOf(restored.db)).toEqual(await exportOf(imported.db));
    expect(await turnStatuses(restored.db, restored.clock.now)).toEqual({ changed: 0, events: 0 });
    expect(await take(restored)).toMatchObject({ added: 0, changed: 0, events: 0 });
  },
);

test("an import that is stopped while it turns statuses has stored nothing else, and the next one does the rest", async () => {
  const { db, clock, take } = await aCatalog();
  const record = (n: number, title: string) => ({
    source: { code: "A", opportunity_id: `${n}` },
    title,
    dates: { closes_at: formatInstant(NOON + 20 * DAY) },
  });
  const many = (title: string) => Array.from({ length: 150 }, (_, n) => record(n, title));
  await take(many("Old"));
  clock.now += 10 * DAY;
  const stop = new AbortController();
  const turned = async () => (await documentsOf(db)).filter(({ status }) => status === "closing_soon").length;
  const context = { db, directory: ":memory:", now: () => clock.now, notify: () => undefined, stop: stop.signal };
  const options = {
    files: [aFile(many("New"))],
    snapshot: false,
    allowRemovals: false,
    asOf: undefined,
    dryRun: false,
    rejects: undefined,
  };
  const progress = async () => {
    if ((await turned()) > 0) stop.abort();
  };
  await expect(importFiles({ ...context, progress }, records, options)).rejects.toThrow("it was stopped before anything was stored");
  expect([await turned(), (await documentsOf(db)).filter(({ title }) => title === "New").length]).toEqual([100, 0]);
  expect(await take(many("New"))).toMatchObject({ changed: 150, events: 150 });
  expect(await turned()).toBe(150);
});

test("due dates move on once each, by the clock alone; any import that lists them changes nothing, on any day and in any order", async () => {
  const file = realPath("sbir-gov/solicitations-20250912.json");
  const format = formats.find(({ name }) => name === "sbir-gov");
  if (format === undefined) throw new Error("There is no format sbir-gov");
  const { db, clock, takeFiles } = await aCatalog();
  clock.now = Date.parse("2025-09-20T12:00:00Z");
  await takeFiles([file], { format });
  const find = async () => (await documentsOf(db)).find(({ source }) => source.opportunity_id === "PAR-24-066") as unknown as Opportunity;
  const seen = [(await find()).dates.response_at];
  for (const day of ["2025-09-24", "2025-12-01", "2026-02-01", "2026-05-28", "2026-09-23", "2026-09-24", "2027-02-01"]) {
    clock.now = Date.parse(`${day}T12:00:00Z`);
    expect(await takeFiles([file], { format })).toMatchObject({ added: 0, changed: 0, events: 0 });
    seen.push((await find()).dates.response_at);
  }
  expect(seen.map((date) => date?.slice(0, 10))).toEqual([
    "2025-09-23",
    "2026-01-24",
    "2026-01-24",
    "2026-05-27",
    "2026-09-23",
    "2026-09-23",
    "2026-09-23",
    "2026-09-23",
  ]);
  const { id, status, dates } = await find();
  expect([status, dates.closes_at]).toEqual(["closed", "2026-09-23T23:59:59-04:00"]);
  const { events } = JSON.parse(`{"events":[${(await eventsOf(db, "PAR-24-066")).map((each) => JSON.stringify(each)).join()}]}`);
  expect(events.slice(1).map(({ type, severity }: { type: string; severity: string }) => `${type} ${severity}`)).toEqual([
    ...["date_changed", "date_changed", "date_changed", "status_changed", "status_changed"].map((type) => `${type} informational`),
  ]);
  expect(await checkCatalog(db)).toEqual([]);
  expect(id).not.toBe("");
});

test("a reader sees what the clock is due to change, and an export of it is restored as it was stored", async () => {
  const { db, clock, take } = await aCatalog();
  const due_dates = [20, 40].map((days) => ({ at: formatInstant(NOON + days * DAY) }));
  const dates = { closes_at: formatInstant(NOON + 40 * DAY) };
  await take([{ source: { code: "A", opportunity_id: "N1" }, title: "One", dates, due_dates }]);
  const [{ id } = { id: "" }] = await documentsOf(db);
  const shown = async (days: number) =>
    (await readOpportunities(db, [id], NOON + days * DAY)).map(({ status, dates }) => [status, dates.response_at]);
  expect([await shown(0), await shown(21), await shown(30), await shown(41)].flat()).toEqual([
    ["open", formatInstant(NOON + 20 * DAY)],
    ["open", formatInstant(NOON + 40 * DAY)],
    ["closing_soon", formatInstant(NOON + 40 * DAY)],
    ["closed", formatInstant(NOON + 40 * DAY)],
  ]);
  const lines: string[] = [];
  await exportLines(db, { now: NOON + 41 * DAY }, (line) => lines.push(line));
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    status: "closed",
    as_stored: { status: "open", response_at: formatInstant(NOON + 20 * DAY) },
  });
  const restored = await aCatalog();
  restored.clock.now = clock.now = NOON + 41 * DAY;
  await restored.take(lines.join("\n"));
  expect(await documentsOf(restored.db)).toEqual(await documentsOf(db));
  expect(await turnStatuses(restored.db, clock.now)).toEqual({ changed: 1, events: 2 });
});
