/** An equal source digest means that a record cannot have changed (D-32): it is neither mapped nor validated again. */
import { programDigest } from "./program-digest.ts" with { type: "macro" };

const program = programDigest();

/** Makes source digests: SHA-256 of a record's text, this program and the operator's settings. */
export function digestUnder(settings: unknown): (text: string) => Buffer {
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify([program, settings]));
  return (text) => hash.copy().update(text).digest();
}
