/** Real upstream files: every clone has excerpts in `tests/data`. A directory with the full files, laid out alike, is optional. */
import { describe, test } from "bun:test";
import { join, resolve } from "node:path";

/** Excerpts of the real files. */
export const EXCERPTS = join(import.meta.dir, "../data");

/** The full files, where there are any. */
export const REAL_DATA: string | undefined = process.env.FUNDFEED_REAL_DATA ? resolve(process.env.FUNDFEED_REAL_DATA) : undefined;

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
