/** Files that a program loads before its own. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { oncePerRun } from "./once-per-run.ts";

const support = await oncePerRun("support", (path) => symlinkSync(import.meta.dir, path));

/**
 * The `BUN_OPTIONS` with which a program loads a file of this directory first. The path leads over a link: Bun 1.4.5 cuts the variable at
 * blanks and reads it as Latin-1, and a clone may lie anywhere.
 */
export function preloading(name: string): string {
  return `--preload=${join(support, name)}`;
}
