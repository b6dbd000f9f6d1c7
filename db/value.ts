/** Values that both engines store and return alike. */
import { Failure } from "./reason.ts";

/** Numbers are integers up to 2^53: PostgreSQL would round a fraction that SQLite keeps. */
export type Value = string | number | null | Uint8Array;

/** A value that one of the engines would alter or refuse. */
export class Unstorable extends Failure {}

/** Throws `Unstorable` for lone surrogates, NUL, fractions, and numbers that a double rounds. */
export function requireStorable(values: readonly Value[]): void {
  for (const value of values) {
    if (typeof value === "string" && (!value.isWellFormed() || value.includes("\0"))) {
      throw new Unstorable("Cannot store a text that contains NUL or half of a surrogate pair");
    }
    if (typeof value === "number" && !Number.isSafeInteger(value))
      throw new Unstorable(`Cannot store ${value}: it is not an integer below 2^53`);
  }
}
