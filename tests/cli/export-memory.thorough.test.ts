/** `export` keeps no record: the objects in memory do not grow with the catalog. They are counted, so no test depends on a size or a time. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { BATCH_ROWS } from "../../db/engine.ts";
import { fundfeed } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";

setDefaultTimeout(300_000);
afterAll(dropScratch);

/** Whole batches, because a batch is in memory while it is written. */
const SMALL = 2 * BATCH_ROWS;
let [small, large] = ["", ""];

beforeAll(async () => {
  [small, large] = [aDirectory(), aDirectory()];
  await importInto(small, 0);
  cpSync(small, large, { recursive: true });
  await importInto(large, SMALL);
});

async function importInto(data: string, from: number): Promise<void> {
  const record = (n: number) => ({
    source: { code: "OWN", opportunity_id: `N${n}` },
    title: `Title ${n}`,
    classifications: { keywords: ["a"] },
  });
  await fundfeed(["import", "records", aFile(Array.from({ length: SMALL }, (_, n) => record(from + n))), "--data", data]);
}

test.each([
  ["ndjson", []],
  ["csv with a filter", ["--format", "csv", "--status", "open,closed", "--words", "title"]],
  ["sqlite", ["--format", "sqlite", join(aDirectory(), "memory.sqlite")]],
])("export as %s", async (_, args) => {
  const script = join(import.meta.dir, "export-objects.ts");
  const child = Bun.spawn([process.execPath, script, small, large, `${SMALL}`, ...args], { stderr: "pipe" });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect([await child.exited, err]).toEqual([0, ""]);
  expect(Number(out)).toBeLessThan(SMALL / 4);
});
