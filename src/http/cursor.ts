/** Cursors (D-15): a signed position in one list, as URL-safe text. One HMAC covers path, filters and position. */
import type { Position } from "../opportunities/page.ts";
import { Problem } from "./problem.ts";

/** A longer text is refused before it is decoded. Our own cursors have 55 characters. */
export const CURSOR_LENGTH_MAX = 512;

/** Version 1: version (1 byte), time (8), UUID (16), signature (16). */
const VERSION = 1;
const [TIME_AT, ID_AT, SIGNATURE_AT, LENGTH] = [1, 9, 25, 41];

/** What a cursor is bound to. Filters that mean the same return the same text: only their lists are still unsorted here. */
export function cursorScope(path: string, filter: Readonly<Record<string, unknown>>): string {
  const sorted = Object.entries(filter).map(([name, value]) => [name, Array.isArray(value) ? value.toSorted() : value]);
  return JSON.stringify([path, sorted]);
}

export function encodeCursor(secret: Uint8Array, scope: string, { time, id }: Position): string {
  const bytes = Buffer.alloc(LENGTH);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeDoubleBE(time, TIME_AT);
  bytes.write(id.replaceAll("-", ""), ID_AT, "hex");
  bytes.set(sign(secret, scope, bytes), SIGNATURE_AT);
  return bytes.toString("base64url");
}

/** The position in a cursor; `null` if none was sent. Throws `invalid_cursor` for any text that `encodeCursor` did not return. */
export function decodeCursor(secret: Uint8Array, scope: string, cursor: string | undefined): Position | null {
  if (cursor === undefined) return null;
  const bytes = cursor.length <= CURSOR_LENGTH_MAX ? Buffer.from(cursor, "base64url") : Buffer.alloc(0);
  // Compared with its own encoding, because decoding ignores foreign characters, padding and spare bits.
  if (bytes.length !== LENGTH || bytes[0] !== VERSION || bytes.toString("base64url") !== cursor) throw invalidCursor();
  if (!crypto.timingSafeEqual(sign(secret, scope, bytes), bytes.subarray(SIGNATURE_AT))) throw invalidCursor();
  const hex = bytes.toString("hex", ID_AT, SIGNATURE_AT);
  return {
    time: bytes.readDoubleBE(TIME_AT),
    id: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
  };
}

function sign(secret: Uint8Array, scope: string, bytes: Buffer): Uint8Array {
  const position = bytes.subarray(0, SIGNATURE_AT);
  return new Bun.CryptoHasher("sha256", secret)
    .update(position)
    .update(scope)
    .digest()
    .subarray(0, LENGTH - SIGNATURE_AT);
}

function invalidCursor(): Problem {
  return new Problem("invalid_cursor", "The cursor is damaged, or it belongs to a request with other filters. Start again without it.");
}
