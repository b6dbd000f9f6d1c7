import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { progressLine, progressReporter } from "../../src/cli/progress.ts";
import { fundfeed, machineOf } from "../support/command-line.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

describe("a line of progress", () => {
  test.each([
    [{ step: "writing", done: 4000, total: 9767, unit: "records" }, 2000, "writing 40 %, 3 seconds left, 4,000 of 9,767 records, 2,000/s"],
    [{ step: "reading", done: 20, share: 0.001, unit: "records" }, 100, "reading 0 %, 100 seconds left, 20 records, 200/s"],
    [{ step: "reading", done: 20, share: 0.001, unit: "records" }, 1000, "reading 0 %, 16 minutes left, 20 records, 20/s"],
    [{ step: "reading", done: 20, share: 0.0001, unit: "records" }, 1000, "reading 0 %, 2 hours left, 20 records, 20/s"],
    [
      { step: "fetching", done: 12.34, total: 250.6, unit: "MB", rateUnit: "MB" },
      1000,
      "fetching 4 %, 20 seconds left, 12.3 of 251 MB, 12.3 MB/s",
    ],
    [{ step: "fetching", done: 12.34, unit: "MB", rateUnit: "MB" }, 1000, "fetching 12.3 MB, 12.3 MB/s"],
    [{ step: "mirroring", done: 100, unit: "records, 7 events" }, 0, "mirroring 100 records, 7 events"],
    [{ step: "copying keys", done: 0, total: 0, unit: "rows" }, 10, "copying keys 0 of 0 rows, 0/s"],
  ])("%j after %i ms", (work, ms, line) => {
    expect(progressLine(work, ms)).toBe(line);
  });

  test("is drawn at most five times a second, and measures the time of each step on its own", () => {
    const shown: string[] = [];
    const clock = { now: 1_000_000 };
    const report = progressReporter({ now: () => clock.now, showProgress: (line) => void shown.push(line) });
    for (let n = 1; n <= 100; n++) {
      report({ step: n <= 50 ? "reading" : "writing", done: n, total: 100, unit: "records" });
      clock.now += 50;
    }
    expect(shown).toHaveLength(25);
    expect(shown[4]).toBe("reading 17 %, 4 seconds left, 17 of 100 records, 21.3/s");
    expect(shown.at(-1)).toStartWith("writing 97 %, 1 second left, ");
  });
});

describe("the progress of long commands", () => {
  const output = { printLine: () => undefined, printError: () => undefined };

  /** What a command shows while it runs. The line is cleared at the end. */
  async function shownBy(args: readonly string[], terminal?: { columns: number; hasColors: boolean }): Promise<string[]> {
    const shown: string[] = [];
    const machine = { ...machineOf({}, output), showProgress: (line: string) => void shown.push(line), terminal: () => terminal };
    expect(await runCommandLine(args, machine)).toBe(0);
    expect(shown.at(-1) ?? "").toBe("");
    return shown.filter((line) => line !== "");
  }

  async function aDataDirectory(): Promise<string> {
    const data = aDirectory();
    const record = (code: string, n: number) => ({ source: { code, opportunity_id: `N${n}` }, title: `Title ${n}`, status: "open" });
    for (const args of [
      ["keys", "create", "--account", "A"],
      ["import", "records", aFile([record("OWN", 1), record("OWN", 2), record("DSIP", 3)])],
    ])
      expect(await fundfeed([...args, "--data", data])).toMatchObject({ code: 0 });
    return data;
  }

  test("of export counts the records that were read", async () => {
    const data = await aDataDirectory();
    for (const format of ["ndjson", "csv", "commongrants"]) {
      const shown = await shownBy(["export", "--format", format, "--data", data]);
      expect(shown).toEqual([expect.stringMatching(/^exporting 100 %, 3 of 3 records/)]);
    }
    const ofSource = await shownBy(["export", "--source", "OWN", "--status", "closed", "--data", data]);
    expect(ofSource).toEqual([expect.stringMatching(/^exporting 100 %, 2 of 2 records/)]);
    expect(await shownBy(["export", "--data", data], { columns: 80, hasColors: false })).toEqual([]);
  });

  test("of backup and restore names each step and the size of its file", async () => {
    const [data, copy] = [await aDataDirectory(), join(aDirectory(), "copy")];
    const steps = ["copying catalog.db", "checking catalog.db", "copying state.db", "checking state.db"];
    const lines = steps.map((step) => expect.stringMatching(new RegExp(`^${step}, 0\\.\\d MB$`)));
    expect(await shownBy(["backup", copy, "--data", data])).toEqual(lines);
    expect(await shownBy(["restore", copy, "--data", data])).toEqual(lines);
  });
});
