/** Notices commits without opening the database. */
import { join } from "node:path";
import { fingerprintOf } from "../file-identity.ts";
import { fileNames } from "./open.ts";

/** A text that changes with the catalog. Two commits within milliseconds may leave the same: read once more after it stayed the same. */
export function catalogMark(directory: string): string {
  const path = join(directory, fileNames.catalog);
  return [path, `${path}-wal`].map(fingerprintOf).join(" ");
}
