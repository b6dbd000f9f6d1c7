/** The same file imported again later: statuses follow the clock, and nothing else changes (D-32, D-37). */
import { afterAll, expect, test } from "bun:test";
import { checkCatalog } from "../../src/changes/check.ts";
import { turnStatuses } from "../../src/changes/status-turns.ts";
import { sample } from "../../src/cli/demo-sample.ts";
import { formats } from "../../src/import/formats/all.ts";
import { records } from "../../src/import/formats/records.ts";
import { importFiles } from "../../src/import/run.ts";
import { formatInstant } from "../../src/text/instant.ts";
import { aCatalog, aFile, contentsOf, DAY, documentsOf, dropScratch, exportOf, NOON } from "../support/imports.ts";

afterAll(dropScratch);

/** The newest file of each format, and rows of SAM.gov. Not SBIR.gov's: its `response_at` is the next due date on the day of the import. */
const files = [
  ...new Map(sample.map((each) => [each.format, each])).values(),
  ...sample.filter(({ format }) => format === "sam-gov").slice(0, 1),
].filter(({ format }) => format !== "sbir-gov");

test.each(files)("$format: an import makes the status turns that refresh makes, and no other change", async (file) => {
  const format = formats.find(({ name }) => name === file.format);
  if (format === undefined) throw new Error(`There is no format ${file.format}`);
  const [refreshed, imported] = [await aCatalog(), await aCatalog()];
  const take = ({ takeFiles }: typeof refreshed) => takeFiles([file.file], { format });
  for (const catalog of [refreshed, imported]) {
    catalog.clock.now = Date.parse(file.asOf);
    await take(catalog);
  }
  for (const days of [1, 20, 60, 200, 5000]) {
    for (const { clock } of [refreshed, imported]) clock.now = Date.parse(file.asOf) + days * DAY;
    await turnStatuses(refreshed.db, refreshed.clock.now);
    const before = await contentsOf(refreshed.db);
    expect(await take(refreshed)).toMatchObject({ added: 0, changed: 0, removed: 0, linked: 0, events: 0 });
    expect(await contentsOf(refreshed.db)).toBe(before);

    expect(await take(imported)).toMatchObject({ added: 0, changed: 0, removed: 0, linked: 0, events: 0 });
    expect(await contentsOf(imported.db)).toBe(before);
  }
  expect(await checkCatalog(imported.db)).toEqual([]);
  const restored = await aCatalog();
  restored.clock.now = imported.clock.now;
  await restored.take((await exportOf(imported.db)).join("\n"));
  expect(await exportOf(restored.db)).toEqual(await exportOf(imported.db));
  expect(await turnStatuses(restored.db, restored.clock.now)).toEqual({ changed: 0, events: 0 });
  expect(await take(restored)).toMatchObject({ added: 0, changed: 0, events: 0 });
});

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

test("a new import of the same file states what a catalog holds that turned its statuses", async () => {
  for (const file of files) {
    const format = formats.find(({ name }) => name === file.format);
    if (format === undefined) throw new Error(`There is no format ${file.format}`);
    const [early, late] = [await aCatalog(), await aCatalog()];
    const statuses = async ({ db }: typeof early) =>
      (await documentsOf(db)).map(({ id, status, status_display }) => [id, status, status_display]).toSorted();
    for (const days of [0, 20, 60, 200, 5000]) {
      early.clock.now = Date.parse(file.asOf) + days * DAY;
      await early.takeFiles([file.file], { format });
    }
    late.clock.now = early.clock.now;
    await late.takeFiles([file.file], { format });
    expect(await statuses(late)).toEqual(await statuses(early));
  }
});
