/** `export` keeps no record: the objects in memory do not grow with the catalog. They are counted, so no test depends on a size or a time. */
import { heapStats } from "bun:jsc";
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { BATCH_ROWS } from "../../db/engine.ts";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { fundfeed, machineOf } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

/** Both have whole batches, because a batch is in memory while it is written. */
const [SMALL, LARGE] = [2 * BATCH_ROWS, 4 * BATCH_ROWS];
const GROWTH_MAX = (LARGE - SMALL) / 4;
const TRIES = 15;
const directories = new Map<number, string>();

async function aDirectoryOf(count: number): Promise<string> {
  const known = directories.get(count);
  if (known !== undefined) return known;
  const data = aDirectory();
  const record = (n: number) => ({
    source: { code: "OWN", opportunity_id: `N${n}` },
    title: `Title ${n}`,
    classifications: { keywords: ["a"] },
  });
  await fundfeed(["import", "records", aFile(Array.from({ length: count }, (_, n) => record(n))), "--data", data]);
  directories.set(count, data);
  return data;
}

/** The most objects in memory while an export runs, as counted in its second half. */
async function mostObjects(count: number, args: readonly string[]): Promise<number> {
  const data = await aDirectoryOf(count);
  let [calls, most, time] = [0, 0, 0];
  const record = () => {
    if (++calls < count / 2 || calls % Math.floor(count / 4) !== 0) return;
    Bun.gc(true);
    most = Math.max(most, heapStats().objectCount);
  };
  const code = await runCommandLine(["export", ...args, "--data", data], {
    ...machineOf({}, { printLine: record, printError: () => undefined }),
    showProgress: record,
    now: () => (time += 1000), // So that progress is shown for each record.
  });
  expect([code, calls >= count, most > 0]).toEqual([0, true, true]);
  return most;
}

test.each([
  ["ndjson", []],
  ["csv", ["--format", "csv"]],
  ["ndjson with a filter", ["--status", "open,closed", "--words", "title"]],
  ["sqlite", ["--format", "sqlite", join(aDirectory(), "memory.sqlite")]],
])("export as %s", async (_, args) => {
  let growth = Number.POSITIVE_INFINITY;
  // The process compiles and frees other things too, above all at first, which a kept record would outlast.
  for (let tries = 0; tries < TRIES && growth >= GROWTH_MAX; tries++)
    growth = Math.min(growth, -(await mostObjects(SMALL, args)) + (await mostObjects(LARGE, args)));
  expect(growth).toBeLessThan(GROWTH_MAX);
});
