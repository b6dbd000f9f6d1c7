/** Tells files apart: a file that replaces another one at the same path has another identity. */
import { fstatSync, statSync } from "node:fs";

/** Of the file at a path, or of an open descriptor. `undefined` if there is no file. */
export function identityOf(file: string | number): string | undefined {
  const stat = typeof file === "number" ? fstatSync(file, { bigint: true }) : statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}
