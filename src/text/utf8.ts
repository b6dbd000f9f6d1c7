/**
 * Decodes UTF-8 in pieces. A byte that is not UTF-8 becomes half of a surrogate pair, which no record may hold, so it rejects only its record.
 * TextDecoder alone fails the whole piece, or puts a valid character in its place.
 */

import { isUtf8 } from "node:buffer";

/** Decodes bytes. Keeps an incomplete character at their end for the next call; without bytes, returns what is left. */
export type Decode = (bytes?: Uint8Array) => string;

/** Creates a decoder of one text. It drops the byte-order mark, and replaces bytes that are not UTF-8 by what `stray` returns. */
export function createUtf8Decoder(stray: (byte: number) => string = halfPair): Decode {
  let unfinished = NOTHING;
  let isFirst = true;
  return (bytes) => {
    const all = unfinished.length === 0 ? (bytes ?? NOTHING) : Buffer.concat([unfinished, bytes ?? NOTHING]);
    const end = bytes === undefined ? all.length : all.length - unfinishedLength(all);
    unfinished = new Uint8Array(all.subarray(end)); // A copy, because the next bytes may overwrite it.
    const text = decoded(all.subarray(0, end), stray);
    if (!isFirst || text === "") return text;
    isFirst = false;
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  };
}

const NOTHING = new Uint8Array();

function halfPair(byte: number): string {
  return String.fromCharCode(0xdc00 + byte);
}

/** Whether a text has a byte that `halfPair` replaced. */
export function hasStrayByte(text: string): boolean {
  return /[\udc80-\udcff]/u.test(text); // In Unicode mode, half of a complete pair does not match.
}

/** Counts the bytes in characters of several bytes, and those that are not UTF-8. Skips ASCII natively, which is ten times faster. */
export function countBytes(bytes: Uint8Array): { inCharacters: number; stray: number } {
  const counts = { inCharacters: 0, stray: 0 };
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  for (const { 0: run, index } of text.matchAll(/[\x80-\xff]+/g)) {
    for (let at = index; at < index + run.length; ) {
      const length = characterLength(bytes, at);
      if (length === 0) counts.stray++;
      if (length > 1) counts.inCharacters += length;
      at += Math.max(1, length);
    }
  }
  return counts;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decoded(bytes: Uint8Array, stray: (byte: number) => string): string {
  try {
    return strict.decode(bytes);
  } catch {
    return decodedAround(bytes, stray);
  }
}

function decodedAround(bytes: Uint8Array, stray: (byte: number) => string): string {
  let text = "";
  let start = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    if (length === 0) {
      text += strict.decode(bytes.subarray(start, at)) + stray(bytes[at] as number);
      start = at + 1;
    }
    at += Math.max(1, length);
  }
  return text + strict.decode(bytes.subarray(start));
}

function unfinishedLength(bytes: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const byte = bytes[bytes.length - length] as number;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return wantedLength(byte) > length ? length : 0;
  }
  return 0;
}

function characterLength(bytes: Uint8Array, at: number): number {
  const length = wantedLength(bytes[at] ?? 0);
  return length < 2 || isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

/** How many bytes a character has that begins with this one; 0 if none does (Unicode 3.9, table 3-7). */
function wantedLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}
