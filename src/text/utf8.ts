/**
 * Decodes UTF-8 in pieces. A byte that is not UTF-8 becomes half of a surrogate pair, which no record may hold, so it rejects only its record.
 * TextDecoder alone fails the whole piece, or puts a valid character in its place.
 */

/** Decodes bytes. Keeps an incomplete character at their end for the next call; without bytes, returns what is left. */
export type Decode = (bytes?: Uint8Array) => string;

/** Creates a decoder of one text. It drops the byte-order mark, and replaces bytes that are not UTF-8 by what `stray` returns. */
export function createUtf8Decoder(stray: (byte: number) => string = halfPair): Decode {
  let unfinished = NOTHING;
  let isFirst = true;
  return (bytes) => {
    const all = unfinished.length === 0 ? (bytes ?? NOTHING) : Buffer.concat([unfinished, bytes ?? NOTHING]);
    const [cutOff = ""] = (bytes && UNFINISHED.exec(latin1(all.subarray(-3)))) ?? [];
    const end = all.length - cutOff.length;
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

/** In a text that has each byte as a character (Unicode 3.9, table 3-7): a character of several bytes, or a byte that belongs to none. */
const CHARACTER_OR_STRAY =
  /[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])[\x80-\xbf]|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{2}|[\x80-\xff]/g;

/** The beginning of a character at the end of such a text. */
const UNFINISHED = /(?:[\xc2-\xf4]|[\xe0-\xf4][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{2})$/;

/** Counts the bytes in characters of several bytes, and those that are not UTF-8. */
export function countBytes(bytes: Uint8Array): { inCharacters: number; stray: number } {
  const counts = { inCharacters: 0, stray: 0 };
  for (const [{ length }] of latin1(bytes).matchAll(CHARACTER_OR_STRAY)) {
    if (length === 1) counts.stray++;
    else counts.inCharacters += length;
  }
  return counts;
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decoded(bytes: Uint8Array, stray: (byte: number) => string): string {
  try {
    return strict.decode(bytes);
  } catch {
    return latin1(bytes).replace(CHARACTER_OR_STRAY, (character) =>
      character.length === 1 ? stray(character.charCodeAt(0)) : Buffer.from(character, "latin1").toString(),
    );
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
