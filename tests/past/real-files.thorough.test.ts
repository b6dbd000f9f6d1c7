/** Between imports of the real files, in the order of their dates: exports as of then are those of then. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { hash } from "node:crypto";
import { openCatalog } from "../../db/sqlite/open.ts";
import { turnStatusesWhenDue } from "../../src/changes/status-turns.ts";
import { newestInstant } from "../../src/changes/stored.ts";
import { exportHistories, exportLines } from "../../src/export/records.ts";
import type { Format } from "../../src/import/format.ts";
import { formats } from "../../src/import/formats/all.ts";
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { HOUR_MS as HOUR } from "../../src/text/instant.ts";
import { onPostgres } from "../support/database-locations.ts";
import { datedFiles, datedGroups } from "../support/dated-files.ts";
import { aCatalog, aDirectory, dropScratch, type TestCatalog } from "../support/imports.ts";
import { EXCERPTS, testReal } from "../support/real-data.ts";

setDefaultTimeout(3_600_000); // The full files take minutes.

afterAll(dropScratch);

const groups = Object.keys(datedGroups);

type Digest = [records: number, lines: string, histories: string];

/** The digest of all lines, and of all opportunities with their events. */
async function digestOf({ db }: TestCatalog, moment: { now: number } | { asOf: number }): Promise<Digest> {
  const [lines, histories]: [string[], string[]] = [[], []];
  await exportLines(db, moment, (line) => void lines.push(hash("sha256", line.replace(/,"last_seen":\{[^}]*\}(?=\}$)/, ""))));
  // When imports last contained a record is not kept for the past.
  const then = ({ last_seen: _, ...opportunity }: WholeOpportunity) => opportunity;
  await exportHistories(db, moment, (opportunity, history, text, duplicates) => {
    histories.push(hash("sha256", JSON.stringify([then(opportunity), history, text, duplicates.map(then)])));
  });
  return [lines.length, hash("sha256", lines.join()), hash("sha256", histories.join())];
}

/** Imports a group of files. Compares exports at `instants` of the instants between imports. */
async function compare(directory: string, group: string, instants: number): Promise<void> {
  const catalog = await aCatalog(openCatalog(aDirectory(), 0));
  const files = datedFiles(directory, group);
  const every = Math.max(1, Math.ceil(files.length / instants));
  const made: { at: number; digest: Digest }[] = [];
  for (const [n, { name, path, at: now }] of files.entries()) {
    const format = formats.find((each) => each.name === name) as Format;
    catalog.clock.now = now;
    await catalog.takeFiles([path], { format, asOf: now });
    const at = now + HOUR;
    // As a running server does. The next import of history would do it afterwards.
    await turnStatusesWhenDue(catalog.db, at, await newestInstant(catalog.db));
    if (n % every === 0) made.push({ at, digest: await digestOf(catalog, { now: at }) });
  }
  expect(made.length).toBeGreaterThanOrEqual(4);
  for (const { at, digest } of made) expect([at, await digestOf(catalog, { asOf: at })]).toEqual([at, digest]);
  await catalog.db.close();
}

for (const group of groups) {
  test.skipIf(onPostgres)(`excerpts of ${group}`, async () => {
    await compare(EXCERPTS, group, 4);
  });
  testReal(`full files of ${group}`, (directory) => compare(directory, group, Number.POSITIVE_INFINITY));
}
