/** An import of a real file, killed with SIGKILL at random points and run again: nothing lost, nothing twice, the same end (D-33). */
import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../../db/open.ts";
import { aDirectory, contentsOf, dropScratch } from "../support/imports.ts";
import { run, succeed } from "../support/processes.ts";

/** FUNDFEED_KILLS=50 is what the project promises, of each file; the short form kills the smaller one a few times. */
const KILLS = Number(process.env.FUNDFEED_KILLS ?? 3);
const DATA = join(import.meta.dir, "../../../shared/data");

afterAll(dropScratch);

/** What is there before, and what is killed: additions, changes and removals. */
const imports = [
  ["grants-gov", "GrantsDBExtract20260730v2", "GrantsDBExtract20250821v2"],
  ["sam-gov", "ContractOpportunitiesFullCSV-20260330", "ContractOpportunitiesFullCSV-20260425"],
] as const;

async function contentsIn(directory: string): Promise<string> {
  const db = openCatalog(directory, 0);
  const contents = await contentsOf(db);
  await db.close();
  return contents;
}

describe.each(process.env.FUNDFEED_KILLS === undefined ? imports.slice(0, 1) : imports)(
  "an import of %s that is killed",
  (format, earlier, later) => {
    const file = (name: string) => join(DATA, format, "derived", `${name}.reconstructed.${format === "sam-gov" ? "csv" : "xml"}.gz`);
    const first = (data: string) => ["import", format, file(earlier), "--as-of", "2026-05-01T00:00:00Z", "--data", data];
    const second = (data: string) => [
      "import",
      format,
      file(later),
      "--snapshot",
      "--allow-removals",
      "--as-of",
      "2026-05-02T00:00:00Z",
      "--data",
      data,
    ];

    test(`at ${KILLS} random points ends as if it had not been`, async () => {
      const before = aDirectory();
      await succeed(first(before));
      const copied = () => {
        const directory = aDirectory();
        cpSync(before, directory, { recursive: true });
        return directory;
      };
      const whole = copied();
      const started = performance.now();
      await succeed(second(whole));
      const tookMs = performance.now() - started;
      const expected = await contentsIn(whole);

      for (let killed = 0; killed < KILLS; ) {
        const data = copied();
        for (let again = true; again; ) {
          const { code, err } = await run(second(data), { killAfterMs: Math.random() * tookMs });
          if (code === null) killed++;
          else expect({ code, err }).toEqual({ code: 0, err: expect.any(String) });
          again = code === null && killed < KILLS && Math.random() < 0.3; // Killed again while it is run again.
          if (code === null && !again) await succeed(second(data));
        }
        expect((await contentsIn(data)) === expected).toBe(true);
        expect(await succeed(["check", "--data", data])).toBe("Everything holds\n");
        rmSync(data, { recursive: true });
      }
    }, 600_000);
  },
);
