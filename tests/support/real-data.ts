/** Real upstream files. Every clone has excerpts in `tests/data`. A directory of the full files, with the same layout, is optional. */
import { describe, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";

/** The directory of the excerpts. */
export const EXCERPTS = join(import.meta.dir, "../data");

/** The directory of the full files; `undefined` unless `FUNDFEED_REAL_DATA` is set. */
const REAL_DATA: string | undefined = process.env.FUNDFEED_REAL_DATA ? resolve(process.env.FUNDFEED_REAL_DATA) : undefined;

/** Returns the path of a real file by its name among the full files. An excerpt may be gzipped although the full file is not. */
export function realPath(name: string, directory = EXCERPTS): string {
  const path = join(directory, name);
  return existsSync(path) ? path : `${path}.gz`;
}

/** Reads an excerpt and unpacks it. */
export function realFile(name: string): Buffer {
  const path = realPath(name);
  return path.endsWith(".gz") ? gunzipSync(readFileSync(path)) : readFileSync(path);
}

/** Reads an excerpt that is one JSON text. */
export function realJson<T>(name: string): T {
  return JSON.parse(realFile(name).toString());
}

const SKIPPED = "skipped: set FUNDFEED_REAL_DATA to the directory of the full upstream files";

/** Defines tests of the full files. Without the files, `define` is not called, because it may read the directory to define its tests. */
export function describeReal(name: string, define: (directory: string) => void): void {
  if (REAL_DATA === undefined) test.skip(`${name} (${SKIPPED})`, () => undefined);
  else describe(name, () => define(REAL_DATA));
}

/** Defines a test of the full files; it is skipped without them. */
export function testReal(name: string, run: (directory: string) => unknown, timeoutMs?: number): void {
  if (REAL_DATA === undefined) test.skip(`${name} (${SKIPPED})`, () => undefined);
  else test(name, async () => void (await run(REAL_DATA)), timeoutMs);
}
