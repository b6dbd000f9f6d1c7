/** The tests and files that the documentation cites exist. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFiles, readText, root } from "../support/project-files.ts";

test.each(["SECURITY.md", "docs/operate/faults.md"])("%s cites tests that exist", (page) => {
  const rows = readText(page)
    .split("\n")
    .filter((line) => line.startsWith("| ") && line.split(" | ").length === 3);
  const cited = rows.slice(1).flatMap((row) => {
    const [, , tests = ""] = row.replace(/ \|$/, "").split(" | ");
    return tests.split("; ").map((each) => /^`([\w/-]+)`(?:: (.+))?$/.exec(each) ?? [each, "", ""]);
  });
  expect(cited.length).toBeGreaterThan(20);
  for (const [whole, path = "", words = ""] of cited) {
    const files = ["test.ts", "thorough.test.ts"].map((end) => join(root, "tests", `${path}.${end}`)).filter((file) => existsSync(file));
    expect([whole, files.some((file) => readFileSync(file, "utf8").includes(words))]).toEqual([whole, true]);
  }
});

/** Paths in code spans; the tests of faults.md and SECURITY.md have no extension and are checked above. */
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
