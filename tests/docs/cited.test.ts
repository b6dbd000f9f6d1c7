/** The tests and files that the documentation cites exist. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFiles, readText, root } from "../support/project-files.ts";

/** The cells of a row: what is promised, and in the last one the tests that prove it. */
const tables: [string, string[][]][] = [
  ["SECURITY.md", tableRows("SECURITY.md").filter((cells) => cells.length === 3)],
  [
    "tests/faults/faults.tsv",
    readText("tests/faults/faults.tsv")
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t")),
  ],
];

test.each(tables)("%s cites tests that exist", (_, rows) => {
  const cited = rows
    .slice(1)
    .flatMap(([, , tests = ""]) => tests.split("; ").map((each) => /^`([\w/-]+)`(?:: (.+))?$/.exec(each) ?? [each, "", ""]));
  expect(cited.length).toBeGreaterThan(20);
  for (const [whole, path = "", words = ""] of cited) {
    const files = ["test.ts", "thorough.test.ts"].map((end) => join(root, "tests", `${path}.${end}`)).filter((file) => existsSync(file));
    expect([whole, files.some((file) => readFileSync(file, "utf8").includes(words))]).toEqual([whole, true]);
  }
});

function tableRows(page: string): string[][] {
  return readText(page)
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.replace(/^\| | \|$/g, "").split(" | "));
}

/** Paths in code spans; the tests that SECURITY.md cites have no extension and are checked above. */
const CITED_FILE = /(?:src|db|clients|tests|bench|examples|docs)\/[\w@./-]+\.(?:ts|md|json|sh|cfg|yaml|lua)\b/g;

test("every document cites files that exist", () => {
  const cited = projectFiles(/\.md$/)
    .filter((path) => !["CHANGELOG.md", "tests/data/PROVENANCE.md"].includes(path)) // They name files of the past, and of other repositories.
    .flatMap((path) =>
      [...readText(path).matchAll(/`[^`\n]+`/g)].flatMap(([code]) => (code.match(CITED_FILE) ?? []).map((file) => ({ path, file }))),
    );
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter(({ file }) => !existsSync(join(root, file)))).toEqual([]);
});

test("every file that names a page or a file for operators names one that exists, and every page is in the index", () => {
  const cited = projectFiles(/\.(tsx?|sql|json|ya?ml|service|timer|cfg|conf)$/)
    .filter((path) => !/^tests\/(data\/|timings\.json|docs\/cited\.test\.ts)/.test(path))
    .flatMap((path) =>
      [...readText(path).matchAll(/(?<!http\/)(?<![\w-])(?:docs|deploy)\/[\w@/-]+\.(?:md|service|timer|cfg|conf|yaml)\b/g)].map(
        ([file]) => ({ path, file }),
      ),
    );
  expect(cited.length).toBeGreaterThan(40);
  expect(cited.filter(({ file }) => !existsSync(join(root, file)))).toEqual([]);

  const listed = [...readText("docs/index.md").matchAll(/\]\(([^)#]+)\)/g)].map(([, target = ""]) => join("docs", target));
  expect(projectFiles(/^docs\/.*\.md$/).filter((path) => path !== "docs/index.md" && !listed.includes(path))).toEqual([]);
});
