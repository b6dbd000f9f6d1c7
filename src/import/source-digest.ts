/** Source digests. An equal digest means that a record cannot have changed (D-32), so it is neither mapped nor validated again. */
import { programDigest } from "./program-digest.ts" with { type: "macro" };

/** A new version of the program reads every record again, once. */
const program = programDigest();

/** Returns the function that makes source digests: SHA-256 of a record's text, this program and the operator's settings. */
export function digestUnder(settings: unknown): (text: string) => Buffer {
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify([program, settings]));
  return (text) => hash.copy().update(text).digest();
}
