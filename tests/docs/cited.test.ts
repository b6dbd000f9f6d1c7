/** The tests and files that the documentation cites exist. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFiles, readText, root } from "../support/project-files.ts";

const COMMENT = /^\s*(\/\/|\/?\*)/;

/** Tables of what is promised, whose last cell has the tests that prove it. */
test.each(["tests/docs/threats.tsv", "tests/faults/faults.tsv"])("%s cites tests that exist", (table) => {
  const rows = readText(table).trimEnd().split("\n").slice(1);
  const cited = rows.flatMap((row) =>
    (row.split("\t").at(-1) ?? "").split("; ").map((each) => /^`([\w/-]+)`(?:: (.+))?$/.exec(each) ?? [each, "", ""]),
  );
  expect(cited.length).toBeGreaterThan(20);
  for (const [whole, path = "", words = ""] of cited) {
    const files = ["test.ts", "thorough.test.ts"].map((end) => join(root, "tests", `${path}.${end}`)).filter((file) => existsSync(file));
    const lines = files.flatMap((file) => readFileSync(file, "utf8").split("\n"));
    expect([whole, lines.some((line) => line.includes(words) && !COMMENT.test(line))]).toEqual([whole, true]);
  }
});

test("every threat of threats.tsv is in SECURITY.md, and has its tests there", () => {
  const threats = readText("tests/docs/threats.tsv")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((row) => row.split("\t")[0]);
  const named = [...readText("SECURITY.md").matchAll(/^\| (.+?) \| .+ \|$/gm)]
    .map(([, threat]) => threat)
    .filter((threat) => threat !== "Threat");
  expect(named).toEqual(threats);
});

/** Paths in code spans. */
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
