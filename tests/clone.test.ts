/** A clone is complete: none of its files names a path outside it, and every excerpt of an upstream has a provenance. */
import { describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { projectFiles, readText, root } from "./support/project-files.ts";
import { realFile, realPath, testReal } from "./support/real-data.ts";

const EXCERPTS_BYTES_MAX = 6_000_000;

const OUTSIDE_PATHS = [
  /(?<![\w.$}])\/(work|home|root|Users)\/\w/, // A path of one particular machine.
  /\broot, ["'`]\.\./,
  /\bshared\/data\b/,
];

/** Returns how many directories the relative paths in a line go up, at most. */
function parentSteps(line: string): number {
  const paths = line.match(/(?<![\w./])\.\.(?:\/\.\.)*(?=[/"'`)\s])/g) ?? [];
  return Math.max(0, ...paths.map((path) => path.split("/").length));
}

test("no file names a path outside the clone", () => {
  const paths = projectFiles(/\.(ts|js|json|md|html|css|ya?ml|toml|sh|service|timer|lua|py)$|^[^.]+$|^\.\w+\//).filter(
    (path) => !path.startsWith("tests/data/") || path.endsWith(".md"),
  );
  expect(paths.length).toBeGreaterThan(300);
  const named = paths.flatMap((path) => {
    const depth = path.split("/").length - 1;
    const isOfSample = (line: string) => path.endsWith(".md") && line.startsWith("import "); // Its file lies elsewhere.
    return readText(path)
      .split("\n")
      .flatMap((line, index) =>
        (parentSteps(line) > depth && !isOfSample(line)) || OUTSIDE_PATHS.some((pattern) => pattern.test(line))
          ? [`${path}:${index + 1}: ${line.trim()}`]
          : [],
      );
  });
  expect(named).toEqual([]);
});

describe("tests/data", () => {
  const excerpts = projectFiles(/^tests\/data\/(?!schema-)[^/]+\//).map((path) => path.slice("tests/data/".length));

  test("has a line in PROVENANCE.tsv for each file, and none for missing files", () => {
    const rows = readText("tests/data/PROVENANCE.tsv").match(/^`[^\t]*/gm) ?? [];
    const patterns = rows.flatMap((row) => {
      const names = [...row.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
      const directory = names[0]?.replace(/[^/]*$/, "") ?? "";
      return names.map((name) => (name.includes("/") ? name : directory + name)).map((name) => name.replace(/<\w+>/g, "*"));
    });
    const globs = patterns.map((pattern) => new Bun.Glob(`${pattern.replace(/\.gz$/, "")}{,.gz}`));
    expect(excerpts.filter((path) => !globs.some((glob) => glob.match(path)))).toEqual([]);
    expect(patterns.filter((_, index) => !excerpts.some((path) => globs[index]?.match(path)))).toEqual([]);
  });

  test("is smaller than 6 MB", () => {
    const bytes = excerpts.map((path) => statSync(join(root, "tests/data", path)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(EXCERPTS_BYTES_MAX);
  });

  testReal("has only complete lines of the full files, in their order", async (directory) => {
    const names = excerpts.filter((path) => existsSync(realPath(path.replace(/\.gz$/, ""), directory)));
    expect(names.length).toBeGreaterThan(100);
    for (const name of names) {
      const path = realPath(name.replace(/\.gz$/, ""), directory);
      const bytes = await Bun.file(path).bytes();
      const full = linesOf(path.endsWith(".gz") ? gunzipSync(bytes) : bytes);
      let next = 0;
      for (const line of linesOf(realFile(name))) {
        next = full.indexOf(line, next) + 1;
        if (next === 0) throw new Error(`${name}: the full file does not have this line after the previous one: ${line.slice(0, 200)}`);
      }
    }
  });
});

/** Splits into lines without a comma at the end: an excerpt's last record has none. */
function linesOf(bytes: Uint8Array): string[] {
  return Buffer.from(bytes)
    .toString("latin1")
    .split("\n")
    .map((line) => line.replace(/,$/, ""));
}
