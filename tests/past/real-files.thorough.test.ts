/** Between imports of the real files, in the order of their dates: exports, `find` and pages as of then are those of then. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { hash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgresCatalog } from "../../db/postgres/open.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { turnStatusesWhenDue } from "../../src/changes/status-turns.ts";
import { exportHistories, exportLines } from "../../src/export/records.ts";
import type { Format } from "../../src/import/format.ts";
import { formats } from "../../src/import/formats/all.ts";
import { HOUR_MS as HOUR } from "../../src/text/instant.ts";
import { browsed } from "../support/browse.ts";
import { fundfeed } from "../support/command-line.ts";
import { onPostgres } from "../support/database-locations.ts";
import { datedFiles, datedGroups } from "../support/dated-files.ts";
import { copyCatalog } from "../support/engines.ts";
import { aCatalog, aDirectory, DAY, dropScratch, type TestCatalog } from "../support/imports.ts";
import { hasPostgres, postgresServer } from "../support/postgres.ts";
import { EXCERPTS, testReal } from "../support/real-data.ts";

setDefaultTimeout(3_600_000); // The full files take minutes.

afterAll(dropScratch);

const groups = Object.keys(datedGroups);

/** Those that print twins as a table, and all that is open, are among those for the grants. */
const searches = [
  ["--json"],
  ["research", "--json"],
  ["research technology", "--all-words", "--json"],
  ["research for technology", "--limit", "9"],
  ["--limit", "8"],
  ["--status", "open,closing_soon", "--sort", "closes", "--json"],
  ["--closes-after", "0d", "--sort", "amount", "--format", "csv"],
  ["--agency", "NSF,DOD,NASA", "--sort", "posted", "--format", "ndjson"],
  ["science", "--all-sources", "--sort", "updated", "--format", "md"],
  ["--source", "NSF", "--json"],
];

/** Of several pages: the first ones are read. */
const lists = [
  "/",
  "/?words=research+for+technology&status=open,closing_soon",
  "/?words=science&all_sources=yes&sort=updated",
  "/?closes_after=0d&sort=closes",
  "/?agency=NSF,DOD,NASA&sort=posted",
  "/deadlines?words=research&from=2026-08-03",
  "/find.json?words=research&limit=7",
  "/find.csv?sort=amount&limit=50",
];
const paths = [...lists, "/?words=zebra&source=NSF", "/deadlines", "/sources"];
const PAGES = 2;

/** `which` chooses the searches and the pages. */
type Look = { at: number; which: number; found: string[]; pages: Record<string, string> };

/** What a fifth of the searches print, at an instant or later as of it. */
async function foundAt(place: readonly string[], which: number, now: number, asOf?: number): Promise<string[]> {
  const found: string[] = [];
  for (const search of searches.filter((_, index) => index % 5 === which % 5)) {
    const past = asOf === undefined ? [] : ["--as-of", new Date(asOf).toISOString()];
    const { code, out } = await fundfeed(["find", ...search, ...place, ...past], {}, () => now);
    expect([code, search]).toEqual([0, search]);
    found.push(out.replace(/^ {2}"as_of": .*\n/m, ""));
  }
  return found;
}

/** What is served at the first path and half of the others, and at the next pages of the lists, without what says that it is of the past. */
async function pagesAt(origin: string, which: number, asOf?: number): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const path of paths.filter((_, index) => index === 0 || index % 2 === which % 2)) {
    const past = asOf === undefined ? "" : `${path.includes("?") ? "&" : "?"}as_of=${new Date(asOf).toISOString()}`;
    let next: string | undefined = path + past;
    for (let n = 0; n < (lists.includes(path) ? PAGES : 1) && next !== undefined; n++) {
      let response: Response = await fetch(origin + next, { redirect: "manual" });
      // While the records of the instant are still being made, the response is 503.
      for (; response.status === 503; response = await fetch(origin + next, { redirect: "manual" })) await Bun.sleep(20);
      const text: string = await response.text();
      expect([next, response.status]).toEqual([next, 200]);
      if (asOf !== undefined && !/csv/.test(next)) expect(text).toMatch(/<p class="past" role="note">As it was on |"as_of":/);
      texts[`${path} ${n}`] = withoutPast(text);
      const link: string | undefined = /href="([^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
      next = link ?? /<(.*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
    }
  }
  return texts;
}

function withoutPast(text: string): string {
  return text
    .replace(/<p class="past" role="note">.*?<\/p>/s, "")
    .replace(/<input id="as_of"[^>]*>/, "")
    .replace("<li>Only as of now:</li>", "")
    .replace(/,"as_of":"[^"]*"/, "")
    .replace(/as_of=[^&"]*(&amp;)?/g, "")
    .replace(/(\?|&amp;)"/g, '"');
}

/** Tags begin lines, so that a difference can be read. */
function linesOf(path: string, text = ""): string[] {
  return [path, ...text.split(/(?=<\w)/)];
}

/** Serves a data directory with the clock at `now`. Its search index is new: the words of one that grew weigh otherwise. */
async function withSite<T>(data: string, now: number, work: (origin: string) => Promise<T>): Promise<T> {
  rmSync(join(data, "search.db"), { force: true });
  const site = await browsed(data, now);
  const done = await work(site.origin);
  await site.stop();
  expect(site.failures).toEqual([]);
  return done;
}

type Digest = [records: number, lines: string, histories: string];

/** The digest of all lines, and of all opportunities with their events. */
async function digestOf({ db }: TestCatalog, moment: { now: number } | { asOf: number }): Promise<Digest> {
  const [lines, histories]: [string[], string[]] = [[], []];
  await exportLines(db, moment, (line) => void lines.push(hash("sha256", line)));
  await exportHistories(db, moment, (...all) => void histories.push(hash("sha256", JSON.stringify(all))));
  return [lines.length, hash("sha256", lines.join()), hash("sha256", histories.join())];
}

/** Imports a group of files. Compares exports at `instants` of the instants between imports, and searches and pages at three of them. */
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
      await withSite(data, at, async (origin) => {
        const which = 3 * groups.indexOf(group) + looks.length;
        const pages = await pagesAt(origin, which);
        looks.push({ at, which, pages, found: await foundAt(["--data", data], which, at) });
      });
  }
  expect(made.length).toBeGreaterThanOrEqual(4);
  for (const { at, digest } of made) expect([at, await digestOf(catalog, { asOf: at })]).toEqual([at, digest]);

  const later = (looks.at(-1)?.at ?? 0) + 400 * DAY;
  await withSite(data, later, async (origin) => {
    await expectFoundAgain(["--data", data], looks, later);
    for (const { at, which, pages } of looks) {
      const now = await pagesAt(origin, which, at);
      for (const [path, text] of Object.entries(pages)) expect(linesOf(path, now[path])).toEqual(linesOf(path, text));
    }
  });
  expect(new Set(looks.map(({ found }) => found.join())).size).toBe(looks.length);
  expect(new Set(looks.map(({ pages }) => pages["/ 0"])).size).toBe(looks.length);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`fundfeed-past-${process.pid}-`))).toEqual([]);
  if (hasPostgres && group === "grants") {
    const url = await (await postgresServer()).freshDatabase();
    const copy = await openPostgresCatalog(url, 0, { connections: 1 });
    await copyCatalog(catalog.db, copy);
    await copy.close();
    await expectFoundAgain(["--database", url, "--search-data", aDirectory()], looks.slice(1, 2), later);
  }
  await catalog.db.close();
  return looks.flatMap(({ found }) => found).join("\n");
}

async function expectFoundAgain(place: readonly string[], looks: readonly Look[], later: number): Promise<void> {
  for (const { at, which, found } of looks) expect([at, await foundAt(place, which, later, at)]).toEqual([at, found]);
}

for (const group of groups) {
  test.skipIf(onPostgres)(`excerpts of ${group}`, async () => {
    const found = await compare(EXCERPTS, group, 4);
    if (group === "grants") for (const said of ["also at", '"also_at": [\n        {', "closing_soon"]) expect(found).toContain(said);
  });
  testReal(`full files of ${group}`, (directory) => compare(directory, group, Number.POSITIVE_INFINITY));
}
