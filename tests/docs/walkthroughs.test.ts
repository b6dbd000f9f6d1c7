/** The walkthroughs name files and functions that exist. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const text = readFileSync(join(root, "docs/contributing/walkthroughs.md"), "utf8");
const sections = text.split(/^## /m).slice(1);

/** The steps of a walkthrough, each with its files and the names in code type. */
const stepsOf = (section: string) =>
  section
    .split(/^(?=\d+\. )|^\s*$/m)
    .filter((step) => /^\d+\. /.test(step))
    .map((line) => ({
      line,
      files: [...line.matchAll(/\]\((?:\.\.\/){2}([^)#]+)\)/g)].map(([, path = ""]) => path),
      functions: [...line.matchAll(/`(\w+)\(\)`/g)].map(([, name = ""]) => name),
    }));

const walks = sections.map((section): [string, ReturnType<typeof stepsOf>] => [section.split("\n")[0] ?? "", stepsOf(section)]);

test.each(walks)("%s: each step names files that have its functions", (_, steps) => {
  expect(steps.length).toBeGreaterThan(5);
  for (const { line, files, functions } of steps) {
    expect([line, files.length > 0]).toEqual([line, true]);
    const code = files.map((path) => readFileSync(join(root, path), "utf8")).join("\n");
    for (const name of functions) {
      const isDeclared = new RegExp(`\\b(function\\*?|const|class) ${name}\\b|\\b${name}[,:] `).test(code);
      expect([line, name, isDeclared]).toEqual([line, name, true]);
    }
  }
});

/** The most files of a way that a newcomer can read in one go. A list request, which most read first, has fewer. */
const FILES_MAX = 23;
const LIST_FILES_MAX = 20;

test("the table has each way with the number of its files", () => {
  const rows = [...text.matchAll(/^\| (.+) \| (\d+) \|$/gm)].map(([, title, count]) => [title, Number(count)]);
  expect(rows).toEqual(walks.map(([title, steps]) => [title, new Set(steps.flatMap(({ files }) => files)).size]));
  for (const [title, count] of rows)
    expect(count).toBeLessThanOrEqual(`${title}`.startsWith("A list request") ? LIST_FILES_MAX : FILES_MAX);
});
