/** Between imports of the real files, in the order of their dates: the exports and `find` as of then are what was exported and found then. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { hash } from "node:crypto";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { openPostgresCatalog } from "../../db/postgres/open.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { turnStatusesWhenDue } from "../../src/changes/status-turns.ts";
import { exportHistories, exportLines } from "../../src/export/records.ts";
import type { Format } from "../../src/import/format.ts";
import { formats } from "../../src/import/formats/all.ts";
import { HOUR_MS as HOUR } from "../../src/text/instant.ts";
import { fundfeed } from "../support/command-line.ts";
import { onPostgres } from "../support/database-locations.ts";
import { datedFiles, datedGroups } from "../support/dated-files.ts";
import { copyCatalog } from "../support/engines.ts";
import { aCatalog, aDirectory, DAY, dropScratch, type TestCatalog } from "../support/imports.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { EXCERPTS, testReal } from "../support/real-data.ts";

setDefaultTimeout(3_600_000); // The full files take minutes.

afterAll(dropScratch);

const searches = [
  ["--json"],
  ["--limit", "8"],
  ["research", "--json"],
  ["research for technology", "--limit", "9"],
  ["research technology", "--all-words", "--json"],
  ["--status", "open,closing_soon", "--sort", "closes", "--json"],
  ["--closes-after", "0d", "--sort", "amount", "--format", "csv"],
  ["--agency", "NSF,DOD,NASA", "--sort", "posted", "--format", "ndjson"],
  ["science", "--all-sources", "--sort", "updated", "--format", "md"],
  ["--source", "NSF", "--json"],
];

type Look = { at: number; which: number; found: string[] };

/** What half of the searches print, at an instant or later as of it. One search index serves those of an instant. */
async function foundAt([option, place]: [option: string, place: string], which: number, now: number, asOf?: number): Promise<string[]> {
  const found: string[] = [];
  const data = [option, place, "--search-data", aDirectory()];
  for (const search of searches.filter((_, index) => index % 2 === which % 2)) {
    const past = asOf === undefined ? [] : ["--as-of", new Date(asOf).toISOString()];
    const { code, out } = await fundfeed(["find", ...search, ...data, ...past], {}, () => now);
    expect([code, search]).toEqual([0, search]);
    found.push(out.replace(/^ {2}"as_of": .*\n/m, ""));
  }
  return found;
}

type Digest = [records: number, lines: string, histories: string];

/** The digest of all lines, and of all opportunities with their events. */
async function digestOf({ db }: TestCatalog, moment: { now: number } | { asOf: number }): Promise<Digest> {
  const [lines, histories]: [string[], string[]] = [[], []];
  await exportLines(db, moment, (line) => void lines.push(hash("sha256", line)));
  await exportHistories(db, moment, (...all) => void histories.push(hash("sha256", JSON.stringify(all))));
  return [lines.length, hash("sha256", lines.join()), hash("sha256", histories.join())];
}

/** Imports a group of files. Compares exports at `instants` of the instants between imports, and searches at three of them. */
async function compare(directory: string, group: string, instants: number): Promise<string> {
  const data = aDirectory();
  const catalog = await aCatalog(openCatalog(data, 0));
  const files = datedFiles(directory, group);
  const every = Math.max(1, Math.ceil(files.length / instants));
  const made: { at: number; digest: Digest }[] = [];
  const looks: Look[] = [];
  for (const [n, { name, path, at: now }] of files.entries()) {
    const format = formats.find((each) => each.name === name) as Format;
    catalog.clock.now = now;
    await catalog.takeFiles([path], { format, asOf: now });
    const at = now + HOUR;
    await turnStatusesWhenDue(catalog.db, at); // As a running server does. The next import of history would do it afterwards.
    if (n % every === 0) made.push({ at, digest: await digestOf(catalog, { now: at }) });
    if ([0, files.length >> 1, files.length - 1].includes(n))
      looks.push({ at, which: looks.length, found: await foundAt(["--data", data], looks.length, at) });
  }
  expect(made.length).toBeGreaterThan(6);
  for (const { at, digest } of made) expect([at, await digestOf(catalog, { asOf: at })]).toEqual([at, digest]);

  await expectFoundAgain(["--data", data], looks);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`fundfeed-past-${process.pid}-`))).toEqual([]);
  if (hasPostgres && group === "grants") {
    const url = await (await postgresServer()).freshDatabase();
    const copy = await openPostgresCatalog(url, 0, { connections: 1 });
    await copyCatalog(catalog.db, copy);
    await copy.close();
    await expectFoundAgain(["--database", url], looks.slice(1, 2));
  }
  await catalog.db.close();
  return looks.flatMap(({ found }) => found).join("\n");
}

async function expectFoundAgain(place: [option: string, place: string], looks: readonly Look[]): Promise<void> {
  const later = (looks.at(-1)?.at ?? 0) + 400 * DAY;
  for (const { at, which, found } of looks) expect([at, await foundAt(place, which, later, at)]).toEqual([at, found]);
  expect(new Set(looks.map(({ found }) => found.join())).size).toBe(looks.length);
}

for (const group of Object.keys(datedGroups)) {
  test.skipIf(onPostgres)(`excerpts of ${group}`, async () => {
    const found = await compare(EXCERPTS, group, 7);
    if (group === "grants") for (const said of ["also at", '"also_at": [\n        {', "closing_soon"]) expect(found).toContain(said);
  });
  testReal(`full files of ${group}`, (directory) => compare(directory, group, Number.POSITIVE_INFINITY));
}
