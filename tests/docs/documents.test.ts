/** Every option, variable and link in the documents exists. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { upstreams } from "../../src/pull/upstreams.ts";
import { wholeProgram } from "../support/commands.ts";
import { projectFiles } from "../support/project-files.ts";
import { checkNames, commandOf, documents, GUIDE, optionsOf, program, urlVariable } from "./documents.ts";

const root = join(import.meta.dir, "../..");
const everyCommand = program.commands.flatMap((command) => [command, ...command.commands]);
const textOf = (page: string) => documents.find(({ path }) => path === page)?.text ?? "";
const readme = textOf("README.md");
const settings = textOf("docs/reference/settings.md");

describe("names in the documents:", () => {
  test.each(documents.map(({ path, text }) => [path, text] as const))("commands and options in %s exist", (_, text) => {
    for (const [, code = ""] of text.matchAll(/`([^`\n]+)`/g)) checkNames(code);
  });

  test("commands and options that systemd runs exist", () => {
    const units = [...new Bun.Glob("deploy/*.service").scanSync(root)].map((path) => readFileSync(join(root, path), "utf8"));
    const blocks = documents.flatMap(({ text }) => [...text.matchAll(/^```ini\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block));
    const lines = [...units, ...blocks].flatMap((text) => text.match(/^Exec\w+=.*$/gm) ?? []);
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) checkNames(line);
  });

  test("commands and options in the examples of every help text exist", () => {
    for (const command of everyCommand) {
      const help: string[] = [];
      command.configureOutput({ writeOut: (text) => void help.push(text) }).outputHelp();
      for (const line of help.join("").split("\n")) if (!line.startsWith("Usage:")) checkNames(line);
    }
  });

  test("the program reads every environment variable", async () => {
    const sources = await Promise.all(
      ["src/**/*.ts", "bench/*.ts", "tests/support/*.ts"]
        .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(root)])
        .map((path) => Bun.file(join(root, path)).text()),
    );
    const tests = await Promise.all(
      [...new Bun.Glob("tests/**/*.test.ts").scanSync(root)].map((path) => Bun.file(join(root, path)).text()),
    );
    const program = await wholeProgram();
    const options = program.commands.flatMap((command) => [command, ...command.commands]).flatMap((command) => command.options);
    const known = new Set([
      ...everyCommand.flatMap(({ options }) => options.map(({ envVar }) => envVar)),
      ...options.flatMap(({ envVar }) => envVar ?? []),
      ...tests.flatMap((text) => [...text.matchAll(/env\.(FUNDFEED_[A-Z_]*[A-Z])\b/g)].map(([, name]) => name)),
      ...sources.flatMap((text) => text.match(/FUNDFEED_[A-Z_]*[A-Z]\b/g) ?? []),
      ...upstreams.map(({ name }) => urlVariable(name)),
    ]);
    for (const { text } of documents) for (const [name] of text.matchAll(/FUNDFEED_[A-Z_]*[A-Z]\b/g)) expect([...known]).toContain(name);
  });

  test("the README has a table of eight commands; its tables and those of the settings have only options that exist", () => {
    const commands = [...readme.matchAll(/^\| `([a-z]+)[^`]*` \|/gm)].map(([, name]) => name);
    expect(commands.length).toBe(8);
    expect(program.commands.map((command) => command.name())).toEqual(expect.arrayContaining(commands));

    const all = new Set(everyCommand.flatMap(optionsOf));
    for (const row of `${readme}\n${settings}`.match(/^\|.*\|$/gm) ?? [])
      for (const [option] of row.matchAll(/--[a-z-]+[a-z]/g)) expect([...all]).toContain(option);
  });

  test("docs/reference/settings.md lists all settings of `serve`, with their variables and defaults", () => {
    const rows = [...settings.matchAll(/^\| `(--[a-z-]+)` \| `(FUNDFEED_\w+)` \| (?:none|off|`([^`]+)`) \|/gm)];
    const { command } = commandOf(["serve"]);
    const known = command.options.flatMap(({ long, envVar }) => (envVar === undefined ? [] : [`${long} ${envVar}`]));
    expect(rows.map(([, long, variable]) => `${long} ${variable}`)).toEqual(expect.arrayContaining(known));
    for (const [, long, , stated] of rows) {
      const fallback = command.options.find((option) => option.long === long)?.defaultValue ?? stated;
      expect([long, `${fallback}`]).toEqual([long, `${stated}`]);
    }
  });
});

// ---- What a newcomer reads

test("the README has fewer than 900 words", () => {
  expect(readme.trim().split(/\s+/).length).toBeLessThan(900);
});

const wordsOf = (pages: readonly string[]) => pages.flatMap((page) => readFileSync(join(root, page), "utf8").trim().split(/\s+/)).length;

/** What all pages may have together. */
const WORDS_MAX = 45_000;

test("the changelog of a version, and all other pages together, are short enough to be read", () => {
  expect(wordsOf(["CHANGELOG.md"])).toBeLessThan(1_300);
  const generated = ["CHANGELOG.md", "docs/reference/licenses.md"];
  const pages = projectFiles(/\.md$/).filter((path) => !generated.includes(path));
  expect(wordsOf(pages)).toBeLessThan(WORDS_MAX);
});

test("the four papers for a newcomer have fewer than 4,500 words together", () => {
  const papers = ["README.md", "CONTRIBUTING.md", "docs/contributing/walkthroughs.md", "docs/contributing/words.md"];
  expect(papers.flatMap((page) => textOf(page).trim().split(/\s+/)).length).toBeLessThan(4_500);
});

// ---- systemd units

test("the pull unit starts in a writable directory, where a pull into PostgreSQL writes its rejects", () => {
  const unit = readFileSync(join(root, "deploy/fundfeed-pull@.service"), "utf8");
  const [, state] = /^StateDirectory=(.*)$/m.exec(unit) ?? [];
  expect(unit.match(/^WorkingDirectory=.*$/m)?.[0]).toBe(`WorkingDirectory=/var/lib/${state}`);
});

// ---- Links

test.each(documents.filter(({ path }) => path !== GUIDE).map(({ path, text }) => [path, text] as const))(
  "the links of %s lead to existing files and headings",
  (path, text) => {
    for (const [, target = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [file = "", heading] = target.split("#");
      const linked = file === "" ? path : join(dirname(path), file);
      expect([target, existsSync(join(root, linked))]).toEqual([target, true]);
      if (heading !== undefined && linked.endsWith(".md")) expect(headingsOf(readFileSync(join(root, linked), "utf8"))).toContain(heading);
    }
  },
);

/** Returns the anchors that GitHub gives to the headings. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(" ", "-"),
  );
}
