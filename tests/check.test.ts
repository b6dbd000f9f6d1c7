import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { check, type Part } from "./check.ts";
import { dropScratch, inScratch } from "./support/imports.ts";
import { waitFor } from "./support/wait-for.ts";

afterAll(dropScratch);

const partThatPrints = (name: string, text: string, code: number): Part => ({
  name,
  command: ["-e", `process.stderr.write(${JSON.stringify(text)}); process.exit(${code})`],
});

describe("check()", () => {
  test("runs every part even after a failure, and prints all counts in the last line", async () => {
    const shown: string[] = [];
    const groups = [
      [partThatPrints("lint", "a lint error\n", 1), partThatPrints("types", "", 0)],
      [
        partThatPrints("tests", " 7 pass\n 2 skip\n 3 fail\n 9 expect() calls\n", 1),
        partThatPrints("tests on PostgreSQL", " 5 pass\n 0 fail\n", 0),
        { ...partThatPrints("other tests", " 5 pass\n 0 fail\n", 0), skipped: "PostgreSQL is not installed" },
      ],
    ];
    expect(await check(groups, (text) => shown.push(text))).toBe(false);
    expect(shown.join("").replace(/\d+ s( of|$)/gm, "… s$1")).toEndWith(`
lint                 FAILED   0 passed, 1 failed, 0 skipped, … s of processor time, … s
types                passed   1 passed, 0 failed, 0 skipped, … s of processor time, … s
tests                FAILED   7 passed, 3 failed, 2 skipped, … s of processor time, … s
tests on PostgreSQL  passed   5 passed, 0 failed, 0 skipped, … s of processor time, … s
other tests          skipped: PostgreSQL is not installed
3 skipped
13 passed, 4 failed
`);
    expect(shown.join("")).toContain("a lint error\n");
  });

  test("runs the parts of a group side by side, and writes the output of each as one piece, in their order", async () => {
    const [first, second] = [inScratch("first"), inScratch("second")];
    /** Prints two lines. Between them it waits until the other part has printed its first. */
    const partThatMeets = (name: string, mine: string, other: string): Part => ({
      name,
      command: [
        "-e",
        `console.log("${name} begins"); require("fs").writeFileSync("${mine}", ""); while (!require("fs").existsSync("${other}")) await Bun.sleep(5); console.log("${name} ends")`,
      ],
    });
    const shown: string[] = [];
    await check([[partThatMeets("one", first, second), partThatMeets("two", second, first)]], (text) => shown.push(text));
    expect(shown.join("")).toStartWith("\n── one\none begins\none ends\n\n── two\ntwo begins\ntwo ends\n");
  });

  test("repeats each failure at the end, with its file and its error", async () => {
    const shown: string[] = [];
    const output = `
tests/a.test.ts:
(pass) works [1ms]
error: expected 1, received 2
(fail) a sum [1ms]

tests/b.test.ts:
(fail) hangs

 1 tests failed:
(fail) a sum [1ms]

 1 pass
 2 fail
`;
    const parts = [partThatPrints("lint", "line 7: no semicolon\n", 1), partThatPrints("tests", output, 1)];
    await check([parts], (text) => shown.push(text));
    const all = shown.join("");
    const end = all.slice(all.indexOf("── failed: lint"));
    expect(end).toStartWith(`── failed: lint
line 7: no semicolon

── failed: tests
tests/a.test.ts:
error: expected 1, received 2
(fail) a sum [1ms]

── failed: tests
tests/b.test.ts:
(fail) hangs

`);
  });

  test("counts a part that exits with an error as failed, even if all its tests passed", async () => {
    const lastLine = async (...parts: Part[]) => {
      const shown: string[] = [];
      const passed = await check([parts], (text) => shown.push(text));
      return [passed, shown.join("").trimEnd().split("\n").at(-1)];
    };
    expect(await lastLine(partThatPrints("crashed", " 4 pass\n 0 fail\n", 139))).toEqual([false, "4 passed, 1 failed"]);
    expect(await lastLine(partThatPrints("tests", " 4 pass\n 0 fail\n", 0))).toEqual([true, "4 passed, 0 failed"]);
  });
});

describe("memoryDirectory()", () => {
  test("makes a directory that all users may write to, and removes it when the process has ended", async () => {
    const module = require.resolve("./support/memory-directory.ts");
    const script = `console.log((await import(${JSON.stringify(module)})).memoryDirectory() ?? "none"); process.stdin.resume()`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdio: ["pipe", "pipe", "inherit"] });
    const printed = await child.stdout.getReader().read();
    const directory = new TextDecoder().decode(printed.value).trim();
    try {
      if (directory !== "none") expect(statSync(directory).mode & 0o7777).toBe(0o1777);
    } finally {
      child.kill("SIGKILL");
    }
    await child.exited;
    await waitFor("the directory is removed", () => !existsSync(directory));
  });
});
