/** The exports as of all instants between imports of the real files, in the order of their dates, are those that were made then. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { hash } from "node:crypto";
import { turnStatusesWhenDue } from "../../src/changes/status-turns.ts";
import { exportHistories, exportLines } from "../../src/export/records.ts";
import type { Format } from "../../src/import/format.ts";
import { formats } from "../../src/import/formats/all.ts";
import { HOUR_MS as HOUR } from "../../src/text/instant.ts";
import { aCatalog, dropScratch, type TestCatalog } from "../support/imports.ts";
import { EXCERPTS, testReal } from "../support/real-data.ts";

setDefaultTimeout(3_600_000); // The full files take minutes.

afterAll(dropScratch);

/** Files of each format that are imported into one catalog. */
const groups: Readonly<Record<string, readonly (readonly [format: string, pattern: string])[]>> = {
  "Challenge.gov": [["challenge-gov", "challenge-gov/challenges-*"]],
  grants: [
    ["grants-gov", "grants-gov/derived/*"],
    ["simpler-grants-gov", "simpler-grants-gov/*.csv*"],
    ["nsf", "nsf/*.csv*"],
    ["nasa-nspires", "nasa-nspires/solicitationsJSON-*"],
    ["nasa-roses", "nasa-roses/*.html"],
  ],
  contracts: [
    ["sam-gov", "sam-gov/daily/*"],
    ["sam-gov", "sam-gov/derived/*"],
    ["darpa", "darpa/*.json"],
    ["sbir-gov", "sbir-gov/*"],
    ["dsip", "dod-dsip/{raw_api_search_response.json,topics-export-*}"],
  ],
};

const DATED = /(20\d\d)-?(\d\d)-?(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z)?/;

/** The instant of which a file's name tells. */
function dateOf(path: string): number {
  const [, year = "2025", month = "01", day = "01", hour = "12", minute = "00", second = "00"] = DATED.exec(path) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

type Digest = [records: number, lines: string, histories: string];

/** The digest of all lines, and of all opportunities with their events. */
async function digestOf({ db }: TestCatalog, moment: { now: number } | { asOf: number }): Promise<Digest> {
  const [lines, histories]: [string[], string[]] = [[], []];
  await exportLines(db, moment, (line) => void lines.push(hash("sha256", line)));
  await exportHistories(db, moment, (...all) => void histories.push(hash("sha256", JSON.stringify(all))));
  return [lines.length, hash("sha256", lines.join()), hash("sha256", histories.join())];
}

async function compare(directory: string, group: string): Promise<void> {
  const files = (groups[group] ?? []).flatMap(([name, pattern]) =>
    [...new Bun.Glob(pattern).scanSync(directory)].map((path) => ({ name, path: `${directory}/${path}`, date: dateOf(path) })),
  );
  const catalog = await aCatalog();
  const made: { at: number; digest: Digest }[] = [];
  let last = 0;
  for (const { name, path, date } of files.toSorted((one, other) => one.date - other.date || (one.path < other.path ? -1 : 1))) {
    const at = Math.max(date, last + 2 * HOUR);
    last = at;
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

for (const group of Object.keys(groups)) {
  test(`excerpts of ${group}`, () => compare(EXCERPTS, group));
  testReal(`full files of ${group}`, (directory) => compare(directory, group));
}
