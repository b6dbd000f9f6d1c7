/** A macro: it runs when the program is built, or when it starts from its source. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

/** Returns the SHA-256 of this program's source in base64url. */
export function programDigest(): string {
  const digest = createHash("sha256");
  const source = join(import.meta.dir, "..");
  for (const path of [...new Glob("**/*.ts").scanSync(source)].sort()) digest.update(path).update(readFileSync(join(source, path)));
  return digest.digest("base64url");
}
