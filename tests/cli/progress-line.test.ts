import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProgressLine } from "../../src/cli/progress.ts";
import { program } from "../support/binary.ts";
import { aDirectory, aFile, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const CLEAR = "\r\u001b[2K";

function aLine(columns: number) {
  const written: string[] = [];
  const size = { columns };
  return {
    ...createProgressLine(
      (text) => void written.push(text),
      () => size.columns,
    ),
    written,
    size,
  };
}

describe("a progress line", () => {
  test("replaces the previous one, and is cleared once", () => {
    const { show, clear, written } = aLine(80);
    clear();
    show("");
    show("one");
    show("two");
    clear();
    clear();
    expect(written).toEqual([`${CLEAR}one`, `${CLEAR}two`, CLEAR]);
  });

  test.each([
    [8, "1234567"],
    [7, "12345…"],
    [2, "…"],
  ])("is cut to a terminal of %i columns", (columns, shown) => {
    const { show, written } = aLine(columns);
    show("1234567");
    expect(written).toEqual([CLEAR + shown]);
  });

  test("counts columns instead of characters, adapts to a resized terminal, and escapes control characters", () => {
    const { show, written, size } = aLine(9);
    show("日本e\u0301日本語");
    size.columns = 5;
    show("日本語");
    show("\u001b[2J");
    expect(written).toEqual([`${CLEAR}日本e\u0301日…`, `${CLEAR}日…`, `${CLEAR}\\u0…`]);
  });
});

/** Rows of a terminal of 40 columns after a command, which `script` plays; what is on a row is what was written to it last. */
function onTerminal(args: readonly string[]): { written: string; rows: string[] } {
  const command = `stty cols 40 rows 20; '${program}' ${args.join(" ")}`;
  const clock = aFile("let now = Date.now(); Date.now = () => (now += 1000);", "racing-clock.js"); // So that each step is shown.
  const { stdout } = Bun.spawnSync(["script", "-qc", command, "/dev/null"], {
    env: { PATH: process.env.PATH ?? "", TERM: "xterm", NO_COLOR: "1", TMPDIR: aDirectory(), BUN_OPTIONS: `--preload=${clock}` },
  });
  const written = stdout.toString();
  return { written, rows: written.split("\r\n").map((row) => row.split(CLEAR).at(-1) ?? "") };
}

test("an import shows its progress on one line, and leaves only its result", () => {
  const file = join(aDirectory(), "many.ndjson");
  const record = (n: number) =>
    JSON.stringify({ source: { code: "OWN", opportunity_id: `${n}` }, title: `Title ${n}`, description: "x".repeat(2000) });
  writeFileSync(file, Array.from({ length: 500 }, (_, n) => `${record(n)}\n`).join(""));
  const { written, rows } = onTerminal(["import", "records", file, "--data", join(aDirectory(), "data")]);
  const drawn = written.split(CLEAR).slice(1, -1);
  expect(drawn.length).toBeGreaterThan(1);
  for (const line of drawn) expect(line).toMatch(/^(reading|writing) \d+ %, .{1,30}$/);
  expect(rows).toEqual([expect.stringMatching(/^500 read: 500 added, /), ""]);
});
