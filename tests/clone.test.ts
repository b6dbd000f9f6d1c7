/** A clone is complete: nothing in it reads or names a file outside it, and what it has of upstreams is accounted for. */
import { describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { realFile, realPath, testReal } from "./support/real-data.ts";
import { readText, root, trackedFiles } from "./support/tracked-files.ts";

const EXCERPTS_BYTES_MAX = 6_000_000;

const PATHS_ELSEWHERE = [
  /(?<![\w.$}])\/(work|home|root|Users)\/\w/, // Of somebody's machine.
  /\broot, ["'`]\.\./,
  /\bshared\/data\b/,
];

/** How many directories above its own a line's relative path begins. */
function climbsOf(line: string): number {
  const paths = line.match(/(?<![\w./])\.\.(?:\/\.\.)*(?=[/"'`)\s])/g) ?? [];
  return Math.max(0, ...paths.map((path) => path.split("/").length));
}

test("no file names a path outside the clone", () => {
  const paths = trackedFiles(/\.(ts|js|json|md|html|css|ya?ml|toml|sh|service|timer|lua|py)$|^[^.]+$|^\.\w+\//).filter(
    (path) => !path.startsWith("tests/data/") || path.endsWith(".md"),
  );
  expect(paths.length).toBeGreaterThan(300);
  const named = paths.flatMap((path) => {
    const depth = path.split("/").length - 1;
    return readText(path)
      .split("\n")
      .flatMap((line, index) =>
        climbsOf(line) > depth || PATHS_ELSEWHERE.some((pattern) => pattern.test(line)) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      );
  });
  expect(named).toEqual([]);
});

describe("tests/data", () => {
  const excerpts = trackedFiles(/^tests\/data\/(?!schema-)[^/]+\//).map((path) => path.slice("tests/data/".length));

  test("has the provenance of each file, and no provenance of others", () => {
    const rows = readText("tests/data/PROVENANCE.md").match(/^\| `.*?(?= \|)/gm) ?? [];
    const patterns = rows.flatMap((row) => {
      const names = [...row.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
      const directory = names[0]?.replace(/[^/]*$/, "") ?? "";
      return names.map((name) => (name.includes("/") ? name : directory + name)).map((name) => name.replace(/<\w+>/g, "*"));
    });
    const globs = patterns.map((pattern) => new Bun.Glob(`${pattern.replace(/\.gz$/, "")}{,.gz}`));
    expect(excerpts.filter((path) => !globs.some((glob) => glob.match(path)))).toEqual([]);
    expect(patterns.filter((_, index) => !excerpts.some((path) => globs[index]?.match(path)))).toEqual([]);
  });

  test("is small", () => {
    const bytes = excerpts.map((path) => statSync(join(root, "tests/data", path)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(EXCERPTS_BYTES_MAX);
  });

  testReal("has whole lines of the full files, in their order", async (directory) => {
    const names = excerpts.filter((path) => existsSync(realPath(path.replace(/\.gz$/, ""), directory)));
    expect(names.length).toBeGreaterThan(100);
    for (const name of names) {
      const path = realPath(name.replace(/\.gz$/, ""), directory);
      const bytes = await Bun.file(path).bytes();
      const full = linesOf(path.endsWith(".gz") ? gunzipSync(bytes) : bytes);
      let at = 0;
      for (const line of linesOf(realFile(name))) {
        at = full.indexOf(line, at) + 1;
        if (at === 0) throw new Error(`${name} has a line that its full file does not have there: ${line.slice(0, 200)}`);
      }
    }
  });
});

/** Where records were left out, the comma behind the last one was too. */
function linesOf(bytes: Uint8Array): string[] {
  return Buffer.from(bytes)
    .toString("latin1")
    .split("\n")
    .map((line) => line.replace(/,$/, ""));
}
