/**
 * What a record was read from. Where that is what it was read from before, nothing can have changed (D-32), and neither mapping nor judging
 * need be done again.
 */
import { programDigest } from "./program-digest.ts" with { type: "macro" };

/** Another program reads everything again, once. */
const program = programDigest();

/** SHA-256 of a record's text and of all else that it follows from: this program, and what the operator has set. */
export function readingUnder(settings: unknown): (text: string) => Buffer {
  const rules = new Bun.CryptoHasher("sha256").update(JSON.stringify([program, settings]));
  return (text) => rules.copy().update(text).digest();
}
