import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCatalog } from "../../db/sqlite/open.ts";
import { oneLine, safeLines } from "../../src/text/terminal-text.ts";
import { program } from "../support/binary.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";
import { rawSql } from "../support/sql.ts";

afterAll(dropScratch);

/** Sets a terminal's title, clears the screen, reverses text and forges a line. */
const HOSTILE = "\u001b]0;pwned\u0007\u001b[2J\u009b31m\u202egro.live\u2066\u2028\r\nfundfeed: 0 rejected";
const UNSAFE = /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069\u2028\u2029]/u;

test("safeLines() and oneLine() escape every unsafe character and no other", () => {
  const faults: string[] = [];
  for (let code = 0; code < 0x1_0000; code++) {
    const character = String.fromCharCode(code);
    const unsafe = (UNSAFE.test(character) && character !== "\t") || undefined;
    const escaped = `\\u${code.toString(16).padStart(4, "0")}`;
    if (safeLines(`a${character}b`) !== (unsafe ? `a${escaped}b` : `a${character}b`)) faults.push(`safeLines ${escaped}`);
    if (oneLine(`a${character}b`) !== (unsafe || character === "\n" ? `a${escaped}b` : `a${character}b`)) faults.push(`oneLine ${escaped}`);
  }
  expect(faults).toEqual([]);
});

test("safeLines() keeps the meaning of JSON", () => {
  const value = { [HOSTILE]: [HOSTILE, "ü\u{1f600}\t"] };
  expect(JSON.parse(safeLines(JSON.stringify(value, null, 2)))).toEqual(value);
});

/** Runs the program. `lines` are those of both streams. */
async function run(...args: readonly string[]) {
  const child = Bun.spawn([program, ...args], {
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, TMPDIR: aDirectory() },
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { out, err, lines: (out + err).trimEnd().split("\n") };
}

describe("upstream text is printed without control characters", () => {
  const data = aDirectory();
  const solicitation = {
    solicitation_id: 1,
    solicitation_number: "N1",
    solicitation_title: `Title ${HOSTILE}`,
    program: "SBIR",
    phase: "Phase I",
    agency: HOSTILE,
    release_date: "2026-01-01",
    open_date: "2026-01-01",
    close_date: "2036-01-01",
    current_status: "open",
    solicitation_topics: [],
  };

  test("in an import's warnings and file names", async () => {
    const file = join(aDirectory(), `evil\u001b[2J\n.json`);
    writeFileSync(file, JSON.stringify([solicitation]));
    const { out, err, lines } = await run("import", "sbir-gov", file, "--data", data);
    expect(err).toContain('unknown agency "\\u001b]0;pwned\\u0007');
    expect(out).toContain("1 added");
    expect(lines.filter((line) => UNSAFE.test(line) || line.startsWith("fundfeed:"))).toEqual([]);
    const missing = await run("import", "sbir-gov", `${file}.no`, "--data", data);
    expect([missing.lines.length, UNSAFE.test(missing.err)]).toEqual([1, false]);
  });

  test("in tables, explanations and JSON", async () => {
    const db = openCatalog(data, 0);
    const { id } = (await db.get(rawSql<{ id: string }>("select id from events limit 1"))) ?? { id: "" };
    await db.close();
    await run("sources", "add", "EVIL", "--name", HOSTILE, "--description", HOSTILE, "--data", data);
    for (const [args, rows] of [
      [["sources", "list"], undefined],
      [["imports", "list"], undefined],
      [["explain", id], undefined],
      [["export"], 1],
    ] as const) {
      const { out, err, lines } = await run(...args, "--data", data);
      expect({ args, err, unsafe: lines.filter((line) => UNSAFE.test(line) || line.startsWith("fundfeed:")) }).toEqual({
        args,
        err: "",
        unsafe: [],
      });
      expect(out).toContain("\\u001b");
      if (rows !== undefined) expect(lines).toHaveLength(rows);
    }
    const { out } = await run("imports", "list", "--json", "--data", data);
    expect(UNSAFE.test(out)).toBe(false);
    expect(JSON.parse(out)[0].files[0].name).toEndWith("evil\u001b[2J\n.json");
  });
});
