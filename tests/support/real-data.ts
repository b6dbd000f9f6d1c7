/** Real upstream files: every clone has excerpts in `tests/data`. A directory with the full files, laid out alike, is optional. */
import { describe, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";

/** Excerpts of the real files. */
export const EXCERPTS = join(import.meta.dir, "../data");

/** The full files, where there are any. */
export const REAL_DATA: string | undefined = process.env.FUNDFEED_REAL_DATA ? resolve(process.env.FUNDFEED_REAL_DATA) : undefined;

/** Where a real file lies, by its name in the directory of full files: an excerpt may be gzipped although the full file is not. */
export function realPath(name: string, directory = EXCERPTS): string {
  const path = join(directory, name);
  return existsSync(path) ? path : `${path}.gz`;
}

/** The bytes of an excerpt, unpacked. */
export function realFile(name: string): Buffer {
  const path = realPath(name);
  return path.endsWith(".gz") ? gunzipSync(readFileSync(path)) : readFileSync(path);
}

export function realJson<T>(name: string): T {
  return JSON.parse(realFile(name).toString());
}

const HOW = "skipped: set FUNDFEED_REAL_DATA to the directory of the full upstream files to run it";

/** Tests of the full files. They are not even defined without those, as they may read the directory to define themselves. */
export function describeReal(name: string, define: (directory: string) => void): void {
  if (REAL_DATA === undefined) test.skip(`${name} (${HOW})`, () => undefined);
  else describe(name, () => define(REAL_DATA));
}

/** A test of the full files. */
export function testReal(name: string, run: (directory: string) => unknown, timeoutMs?: number): void {
  if (REAL_DATA === undefined) test.skip(`${name} (${HOW})`, () => undefined);
  else test(name, async () => void (await run(REAL_DATA)), timeoutMs);
}
