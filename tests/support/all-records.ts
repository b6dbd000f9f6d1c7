/** One catalog of every opportunity in `tests/data`, of all sources. */
import { cpSync } from "node:fs";
import type { CatalogDb } from "../../db/engine.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { formats } from "../../src/import/formats/all.ts";
import type { WholeOpportunity } from "../../src/opportunities/opportunity.ts";
import { catchUp } from "../../src/search/catch-up.ts";
import { openSearchFile } from "../../src/search/search-file.ts";
import { fundfeed } from "./command-line.ts";
import { aCatalog, aDirectory, NOON, opportunitiesOf } from "./imports.ts";
import { oncePerRun } from "./once-per-run.ts";
import { EXCERPTS } from "./real-data.ts";

/** Files of each format, in the order in which they are imported. */
const files: readonly (readonly [format: string, pattern: string])[] = [
  ["grants-gov", "grants-gov/derived/*.xml.gz"],
  ["grants-gov", "grants-gov/grants-extract-legacy-dtd.xml*"],
  ["sam-gov", "sam-gov/daily/{records,opportunities}-*"],
  ["sam-gov", "sam-gov/derived/*.csv.gz"],
  ["sbir-gov", "sbir-gov/*"],
  ["dsip", "dod-dsip/{raw_api_search_response.json,cli_enrich_complete.json.gz,topics-export-*}"],
  ["simpler-grants-gov", "simpler-grants-gov/*.csv*"],
  ["nsf", "nsf/*.csv*"],
  ["darpa", "darpa/*.json"],
  ["nasa-nspires", "nasa-nspires/*.json"],
  ["nasa-roses", "nasa-roses/*.html"],
  ["challenge-gov", "challenge-gov/challenges-202107*"],
];

/** A catalog of all of them in a file. */
export async function aCatalogOfAll(): Promise<{ db: CatalogDb; all: WholeOpportunity[] }> {
  const { data, all } = await aDirectoryOfAll();
  return { db: openCatalog(data, NOON), all };
}

/**
 * A data directory with such a catalog, closed, for commands: of the excerpts, which are imported once per run, or of the full files.
 * `dropScratch` removes it.
 */
export async function aDirectoryOfAll(files = EXCERPTS): Promise<{ data: string; all: WholeOpportunity[] }> {
  const data = aDirectory();
  if (files === EXCERPTS) cpSync(await oncePerRun("all-records", (path) => importAll(files, path)), data, { recursive: true });
  else await importAll(files, data);
  const catalog = openCatalog(data, NOON);
  const all = await opportunitiesOf(catalog);
  await catalog.close();
  return { data, all };
}

/** The directory of the excerpts with a search index, which is built once per run, too. */
export async function anIndexedDirectoryOfAll(): Promise<{ data: string; all: WholeOpportunity[] }> {
  const stored = await aDirectoryOfAll();
  cpSync(await oncePerRun("all-records-indexed", buildIndex), stored.data, { recursive: true });
  return stored;
}

async function buildIndex(directory: string): Promise<void> {
  const { data } = await aDirectoryOfAll();
  const { code, err } = await fundfeed(["find", "--data", data, "--search-data", directory], {}, () => NOON);
  if (code !== 0) throw new Error(`Cannot build the search index: ${err}`);
}

/** A directory with the search index of the excerpts, as they were stored, which is built once per run. */
export async function anIndexOfAll(): Promise<string> {
  const directory = aDirectory();
  const built = oncePerRun("all-index", async (path) => {
    const { db } = await aCatalogOfAll();
    const index = openSearchFile(path);
    await catchUp(db, index);
    index.close();
    await db.close();
  });
  cpSync(await built, directory, { recursive: true });
  return directory;
}

async function importAll(directory: string, data: string): Promise<void> {
  const { db, clock, takeFiles } = await aCatalog(openCatalog(data, NOON));
  for (const [name, pattern] of files) {
    const format = formats.find((each) => each.name === name);
    if (format === undefined) throw new Error(`There is no format ${name}`);
    const paths = [...new Bun.Glob(pattern).scanSync(directory)].sort().map((path) => `${directory}/${path}`);
    for (const path of paths) {
      await takeFiles([path], { format });
      clock.now += 1000;
    }
  }
  await db.close();
}
