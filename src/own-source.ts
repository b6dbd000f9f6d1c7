/** A macro: it runs when the program is built, or begun from its source. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

/** SHA-256 of this program's own source. */
export function ownSource(): string {
  const digest = createHash("sha256");
  for (const path of [...new Glob("**/*.ts").scanSync(import.meta.dir)].sort())
    digest.update(path).update(readFileSync(join(import.meta.dir, path)));
  return digest.digest("base64url");
}
