/** Which test files are quick: those that start no process, and take at most two seconds. */
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import timings from "../timings.json";
import { root, trackedFiles } from "./tracked-files.ts";

const SECONDS_MAX = 2;

/** What starts a process: the program, PostgreSQL, Redis, a browser. */
const STARTS = /\bBun\.spawn|\bnode:child_process\b|\bchromium\.launch\b|\bpostgres(Server|Location)\b/;
const IMPORT = /\bfrom "(\.[^"]+\.ts)"/g;
/** These start something only for who asks: PostgreSQL in a run on it, and git for a list of files. */
const ON_REQUEST = new Set(["tests/support/database-locations.ts", "tests/support/tracked-files.ts"]);

/** Whether a file, or a file of the tests that it imports, starts a process. */
export function startsProcess(path: string, seen = new Set<string>()): boolean {
  if (seen.has(path) || ON_REQUEST.has(path) || !path.startsWith("tests/")) return false;
  seen.add(path);
  const text = readFileSync(join(root, path), "utf8");
  const imported = [...text.matchAll(IMPORT)].map(([, name = ""]) => relative(root, join(root, dirname(path), name)));
  return STARTS.test(text) || imported.some((each) => startsProcess(each, seen));
}

/** The paths of the quick test files. */
export function quickTests(): string[] {
  const measured: Partial<Record<string, number>> = timings.files;
  return trackedFiles(/^tests\/.*\.test\.ts$/).filter((path) => (measured[path] ?? 0) <= SECONDS_MAX * 1000 && !startsProcess(path));
}
