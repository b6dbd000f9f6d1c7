/** One catalog of every opportunity in `tests/data`, of all sources. */
import type { CatalogDb } from "../../db/engine.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import { formats } from "../../src/import/formats/all.ts";
import type { Opportunity } from "../../src/opportunities/opportunity.ts";
import { aCatalog, aDirectory, documentsOf, NOON } from "./imports.ts";
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

/** Imports all of them, as excerpts or from the directory of the full files, into the given catalog or a new one. */
export async function aCatalogOfAll(given?: CatalogDb, directory = EXCERPTS): Promise<{ db: CatalogDb; all: Opportunity[] }> {
  const { db, clock, takeFiles } = await aCatalog(given);
  for (const [name, pattern] of files) {
    const format = formats.find((each) => each.name === name);
    if (format === undefined) throw new Error(`There is no format ${name}`);
    const paths = [...new Bun.Glob(pattern).scanSync(directory)].sort().map((path) => `${directory}/${path}`);
    for (const path of paths) {
      await takeFiles([path], { format });
      clock.now += 1000;
    }
  }
  return { db, all: (await documentsOf(db)) as unknown as Opportunity[] };
}

/** A data directory with such a catalog, closed, for commands. `dropScratch` removes it. */
export async function aDirectoryOfAll(files = EXCERPTS): Promise<{ data: string; all: Opportunity[] }> {
  const data = aDirectory();
  const catalog = openCatalog(data, NOON);
  const { all } = await aCatalogOfAll(catalog, files);
  await catalog.close();
  return { data, all };
}
