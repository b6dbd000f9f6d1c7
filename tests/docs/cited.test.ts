/** The tests that the documentation cites exist. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

test.each(["SECURITY.md", "docs/operate/faults.md"])("%s cites tests that exist", (page) => {
  const rows = readFileSync(join(root, page), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| ") && line.split(" | ").length === 3);
  const cited = rows.slice(1).flatMap((row) => {
    const [, , tests = ""] = row.replace(/ \|$/, "").split(" | ");
    return tests.split("; ").map((each) => /^`([\w/-]+)`(?:: (.+))?$/.exec(each) ?? [each, "", ""]);
  });
  expect(cited.length).toBeGreaterThan(20);
  for (const [whole, path = "", words = ""] of cited) {
    const file = join(root, "tests", `${path}.test.ts`);
    expect([whole, existsSync(file) && readFileSync(file, "utf8").includes(words)]).toEqual([whole, true]);
  }
});
