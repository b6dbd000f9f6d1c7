/** The demo's opportunities and their history, in a data directory. */
import { cpSync } from "node:fs";
import { openCatalog } from "../../db/sqlite/open.ts";
import { formats } from "../../src/import/formats/all.ts";
import { aCatalog, aDirectory, DAY } from "./imports.ts";
import { oncePerRun } from "./once-per-run.ts";
import { sample } from "./sample.ts";

/** The day after the newest file of the sample. */
export const SAMPLE_NOW = Math.max(...sample.map(({ asOf }) => Date.parse(asOf))) + DAY;

/** Returns a directory with a copy of what is imported once per run. `dropScratch` removes it. */
export async function aDirectoryOfTheDemo(): Promise<string> {
  const data = aDirectory();
  cpSync(await oncePerRun("demo-data", importSample), data, { recursive: true });
  return data;
}

async function importSample(data: string): Promise<void> {
  const catalog = openCatalog(data, SAMPLE_NOW);
  const { clock, takeFiles } = await aCatalog(catalog);
  clock.now = SAMPLE_NOW;
  for (const { format: name, file, asOf, snapshot } of sample) {
    const format = formats.find((each) => each.name === name);
    if (format === undefined) throw new Error(`There is no format ${name}`);
    await takeFiles([file], { format, snapshot, allowRemovals: true, asOf: Date.parse(asOf) });
  }
  await catalog.close();
}
