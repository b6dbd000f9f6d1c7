/** What does not wait for a writer: the shortest of three times, because a busy machine makes any of them long. */
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openCatalog, openState, openWatchFile } from "../../../db/sqlite/open.ts";
import { watchFamiliesIn } from "../../../src/monitoring/watch-metrics.ts";
import { aDirectory, dropScratch, NOON } from "../../support/imports.ts";

afterAll(dropScratch);

const WAIT_MS = 30_000; // What a writer waits for another one.

async function shortestMs(work: () => unknown): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run++) {
    const started = performance.now();
    await work();
    shortest = Math.min(shortest, performance.now() - started);
  }
  return shortest;
}

test.each([
  ["the catalog", openCatalog],
  ["the state", openState],
])("opening %s, if the file exists", async (_, open) => {
  const directory = aDirectory();
  const writer = open(directory, NOON);
  writer.sqlite.run("begin immediate");
  expect(await shortestMs(() => open(directory, NOON).sqlite.close())).toBeLessThan(WAIT_MS / 2);
  writer.sqlite.run("rollback");
  writer.sqlite.close();
});

test("the server's metrics, for a restore that replaces watch.db", async () => {
  const directory = aDirectory();
  openWatchFile(directory, NOON).sqlite.close();
  using writer = new Database(join(directory, "watch.db"));
  writer.run("pragma journal_mode = delete"); // As a restore does it.
  writer.run("begin exclusive");
  expect(await shortestMs(() => watchFamiliesIn(directory, NOON))).toBeLessThan(WAIT_MS / 2);
});
