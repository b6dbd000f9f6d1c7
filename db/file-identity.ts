/** Tells files apart: a file that replaces another one at the same path has another identity, and a changed one has another fingerprint. */
import { fstatSync, statSync } from "node:fs";

/** Of the file at a path, or of an open descriptor. `undefined` if there is no file. */
export function identityOf(file: string | number): string | undefined {
  const stat = typeof file === "number" ? fstatSync(file, { bigint: true }) : statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}

/** Differs once the file at the path was written or replaced; `undefined` if there is none. An inode alone may be used again for a later file. */
export function fingerprintOf(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file === undefined ? undefined : [file.dev, file.ino, file.size, file.mtimeNs].join();
}
