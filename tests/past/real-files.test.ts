/** The exports as of all instants between imports of the real files, in the order of their dates, are those that were made then. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { hash } from "node:crypto";
import { turnStatusesWhenDue } from "../../src/changes/status-turns.ts";
import { exportHistories, exportLines } from "../../src/export/records.ts";
import type { Format } from "../../src/import/format.ts";
import { formats } from "../../src/import/formats/all.ts";
import { HOUR_MS as HOUR } from "../../src/text/instant.ts";
import { datedFiles, datedGroups } from "../support/dated-files.ts";
import { aCatalog, dropScratch, type TestCatalog } from "../support/imports.ts";
import { EXCERPTS, testReal } from "../support/real-data.ts";

setDefaultTimeout(3_600_000); // The full files take minutes.

afterAll(dropScratch);

type Digest = [records: number, lines: string, histories: string];

/** The digest of all lines, and of all opportunities with their events. */
async function digestOf({ db }: TestCatalog, moment: { now: number } | { asOf: number }): Promise<Digest> {
  const [lines, histories]: [string[], string[]] = [[], []];
  await exportLines(db, moment, (line) => void lines.push(hash("sha256", line)));
  await exportHistories(db, moment, (...all) => void histories.push(hash("sha256", JSON.stringify(all))));
  return [lines.length, hash("sha256", lines.join()), hash("sha256", histories.join())];
}

async function compare(directory: string, group: string): Promise<void> {
  const catalog = await aCatalog();
  const made: { at: number; digest: Digest }[] = [];
  for (const { name, path, at } of datedFiles(directory, group)) {
    const format = formats.find((each) => each.name === name) as Format;
    await catalog.takeFiles([path], { format, asOf: at });
    const later = at + HOUR;
    await turnStatusesWhenDue(catalog.db, later); // As a running server does. The next import of history would do it afterwards.
    made.push({ at: later, digest: await digestOf(catalog, { now: later }) });
  }
  expect(made.length).toBeGreaterThan(6);
  for (const { at, digest } of made) expect([at, await digestOf(catalog, { asOf: at })]).toEqual([at, digest]);
  await catalog.db.close();
}

for (const group of Object.keys(datedGroups)) {
  test(`excerpts of ${group}`, () => compare(EXCERPTS, group));
  testReal(`full files of ${group}`, (directory) => compare(directory, group));
}
