/** One bad record never costs another one, in any format, on either engine (D-35). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { checkCatalog } from "../../src/changes/check.ts";
import { onPostgres } from "../support/database-locations.ts";
import { changedAt, hostileRecords, isIntact, mustBeRejected, type ValueNames, valueNamesFor } from "../support/hostile-records.ts";
import { aCatalog, dropScratch, exportOf, inScratch, type TestCatalog } from "../support/imports.ts";
import { expectLinear } from "../support/linear.ts";
import { rawSql } from "../support/sql.ts";
import { recordsWithEvents, type UpstreamFile, upstreamFiles } from "../support/upstream-files.ts";

afterAll(dropScratch);

/** A catalog into which the file can be imported. */
async function catalogFor({ format }: UpstreamFile): Promise<TestCatalog> {
  const catalog = await aCatalog();
  if (format === undefined) await catalog.take(recordsWithEvents);
  return catalog;
}

async function importFile(catalog: TestCatalog, file: UpstreamFile, records: readonly unknown[], snapshot = false) {
  const [path, rejects] = [inScratch("hostile"), inScratch("hostile.rejects")];
  writeFileSync(path, file.write(records));
  rmSync(rejects, { force: true });
  const outcome =
    file.format === undefined
      ? await catalog.takeEventFiles([path], { rejects })
      : await catalog.takeFiles([path], { rejects, format: file.format, snapshot, allowRemovals: true });
  const lines = existsSync(rejects) ? readFileSync(rejects, "utf8").trimEnd().split("\n") : [];
  return { outcome, rejected: lines.map((line) => JSON.parse(line) as { line: number; reason: string }) };
}

/** The good records of the file, or rather what is stored of them. */
async function expectedOf(file: UpstreamFile): Promise<string[]> {
  const catalog = await catalogFor(file);
  const good = file.records.filter((_, index) => isIntact(index));
  expect((await importFile(catalog, file, good)).outcome).toMatchObject({ rejected: 0 });
  return storedIn(catalog);
}

/** Imported events and records as `export` prints them, but without the instants of the import. */
async function storedIn({ db }: TestCatalog): Promise<string[]> {
  const events = await db.all(rawSql<{ document: Uint8Array }>("select document from events where origin = 'imported'"));
  const records = await exportOf(db);
  return [
    ...records.map((line) => line.replace(/"created_at":"[^"]*","updated_at":"[^"]*"/, "")),
    ...events.map(({ document }) => Buffer.from(document).toString()),
  ];
}

/** Every good record is stored, every other one is accounted for, and one whose id cannot be used is rejected. */
async function expectOnlyBadRejected(
  catalog: TestCatalog,
  file: UpstreamFile,
  names: ValueNames,
  expected: readonly string[],
  snapshot: boolean,
) {
  const records = hostileRecords(file, names);
  const { outcome, rejected } = await importFile(catalog, file, records, snapshot);
  const { read, added, changed, unchanged, merged } = outcome;
  const lines = records.map((_, index) => file.lineOf(records, index));
  const goodLines = lines.filter((_, index) => isIntact(index));

  const stored = new Set(await storedIn(catalog));
  expect(expected.filter((record) => !stored.has(record))).toEqual([]);
  expect(rejected.filter(({ line, reason }) => reason === "" || goodLines.includes(line) || !lines.includes(line))).toEqual([]);
  expect(outcome.rejected).toBe(rejected.length);
  expect(read).toBeGreaterThanOrEqual(records.length);
  if (file.format !== undefined) expect(added + changed + unchanged + merged).toBe(read - rejected.length);
  const wrong = names.filter((name, n) => mustBeRejected(file, name) && !rejected.some(({ line }) => line === lines[n + 1]));
  expect(wrong).toEqual([]);
}

/** On PostgreSQL half of the files: each value of JSON and CSV is in one of them. */
const files = (await upstreamFiles())
  .map((file, index): [string, UpstreamFile, number] => [file.name, file, index])
  .filter(([, , index]) => !onPostgres || index % 4 < 2);

describe.each(files)("%s", (_, file, fileIndex) => {
  let filled: TestCatalog;
  let expected: string[] = [];

  beforeAll(async () => {
    expected = await expectedOf(file);
    filled = await catalogFor(file);
    await importFile(filled, file, file.records);
  });
  afterAll(() => filled.db.close());

  test("without hostile values, every record is imported", async () => {
    const { outcome, rejected } = await importFile(filled, file, file.records);
    expect(rejected).toEqual([]);
    expect(outcome.unchanged + outcome.merged).toBe(outcome.read);
    expect(outcome.read).toBeGreaterThanOrEqual(file.records.length);
  });

  // Of every third file into a catalog that has the records, else into an empty one.
  test.each(valueNamesFor(file).map((names, n): [string, ValueNames, number] => [names.join(" and "), names, n + fileIndex]))(
    "with %s in some records",
    async (_, names, turn) => {
      const isFilled = turn % 3 === 0;
      await expectOnlyBadRejected(isFilled ? filled : await catalogFor(file), file, names, expected, isFilled);
    },
  );

  test.if(file.format !== undefined)("a snapshot keeps the record that it rejects (D-34)", async () => {
    const records = file.records.map((record, index) => (index === 1 ? changedAt(record, file.title.split("."), () => "\0") : record));
    await importFile(filled, file, file.records, true);
    const { outcome } = await importFile(filled, file, records, true);
    expect([outcome.rejected > 0, outcome.removed]).toEqual([true, 0]);
  });

  test("leaves catalogs in which `check` finds no fault", async () => {
    expect(await checkCatalog(filled.db)).toEqual([]);
  });

  // Two patterns in a text, so that there are half as many imports.
  test.skipIf(onPostgres).each([
    ["letters and digits", ["a", "9"]],
    ["blanks and open tags", [" ", "<a "]],
  ])("takes time in proportion to its size with %s in every field", async (_, patterns) => {
    const [record = {}, other] = file.records; // By which the layout is known.
    const fields = Object.keys(record).filter((field) => field !== file.id.split(".")[0]);
    // A CSV row has at most 4,000,000 characters, and `expectLinear` makes texts four times as long.
    await expectLinear(Math.min(10_000, 450_000 / fields.length), async (size) => {
      const text = patterns.map((pattern) => `a${pattern.repeat(size / pattern.length)}b`).join("");
      const long = { ...record, ...Object.fromEntries(fields.map((field) => [field, text])) };
      await importFile(await catalogFor(file), file, [long, other]);
    });
  });
});
