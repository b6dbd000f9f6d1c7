/** The manual page, as `man` renders it. */
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { fundfeed } from "../support/command-line.ts";
import { entries, wholeProgram } from "../support/commands.ts";
import { aDirectory, dropScratch } from "../support/imports.ts";

afterAll(dropScratch);

const hasMan = Bun.which("man") !== null && Bun.which("groff") !== null;

/** The page without the marks of bold and underlined letters. */
async function rendered(): Promise<string> {
  const path = join(aDirectory(), "fundfeed.1");
  await Bun.write(path, (await fundfeed(["man"])).out);
  const env = { PATH: process.env.PATH ?? "", LANG: "C.UTF-8", MANWIDTH: "100", MAN_KEEP_FORMATTING: "" };
  const { stdout, stderr, exitCode } = Bun.spawnSync(["man", "--warnings", "-l", "-E", "UTF-8", "-P", "cat", path], { env });
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  return stdout.toString().replace(/.\x08|\x1b\[[\d;]*m/g, "");
}

test.if(hasMan)(`man renders every command and option without a warning${hasMan ? "" : " (skipped: there is no man)"}`, async () => {
  const text = await rendered();
  const lines = text.split("\n").map((line) => line.trim());
  for (const words of Object.keys(entries)) expect(lines.some((line) => `${line} `.startsWith(`fundfeed ${words} `))).toBe(true);
  const program = await wholeProgram();
  const options = [...program.commands, ...program.commands.flatMap((each) => each.commands)].flatMap((command) => command.options);
  for (const { flags } of options) expect(lines.some((line) => line === flags || line.startsWith(`${flags} `))).toBe(true);
  for (const heading of ["NAME", "SYNOPSIS", "COMMON OPTIONS", "SEARCH", "ACCESS", "MAINTENANCE", "ENVIRONMENT"])
    expect(lines).toContain(heading);
  expect(text).toContain('fundfeed keys create --account "Acme Research" --plan starter --label nightly\n'); // An example stays one line.
});

test("no text of the page is a request of roff", async () => {
  const { out } = await fundfeed(["man"]);
  for (const line of out.split("\n")) expect(line).toMatch(/^(\.(TH|SH|SS|TP|PP|nf|fi)\b|[^.']|$)/);
  expect(out.replace(/\\(f[BIR]|-|e|&)/g, "")).not.toContain("\\");
  expect(JSON.parse((await fundfeed(["man", "--json"])).out)).toEqual({ roff: out.trimEnd() });
});
