/** Notices commits without opening the database. */
import { join } from "node:path";
import { fingerprintOf } from "../file-identity.ts";
import { fileNames } from "./open.ts";

/**
 * A text that changes when the catalog of a data directory is written to or replaced. File systems keep times to a few milliseconds, so
 * two commits within them can leave the same text: read once more after it has stayed the same.
 */
export function catalogMark(directory: string): string {
  const path = join(directory, fileNames.catalog);
  return [path, `${path}-wal`].map(fingerprintOf).join(" ");
}
