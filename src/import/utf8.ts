/**
 * UTF-8 in pieces. A byte that is not UTF-8 becomes half of a surrogate pair (U+DC80 to U+DCFF), which no record may hold: it costs the
 * record that it is in, and no other.
 */

/** The text of the bytes, but for a character that they end within; without bytes, what is left. */
export type Decode = (bytes?: Uint8Array) => string;

/** A decoder of one text, without its byte-order mark. `stray` is what stands for a byte that is not UTF-8. */
export function createUtf8Decoder(stray: (byte: number) => string = halfPair): Decode {
  let unfinished = NOTHING;
  let isFirst = true;
  return (bytes) => {
    const all = unfinished.length === 0 ? (bytes ?? NOTHING) : Buffer.concat([unfinished, bytes ?? NOTHING]);
    const end = bytes === undefined ? all.length : all.length - unfinishedLength(all);
    unfinished = new Uint8Array(all.subarray(end)); // A copy: the next bytes may take its place.
    const text = decoded(all.subarray(0, end), stray);
    if (!isFirst || text === "") return text;
    isFirst = false;
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  };
}

const NOTHING = new Uint8Array();

/** What stands for a byte that is not UTF-8. */
export function halfPair(byte: number): string {
  return String.fromCharCode(0xdc00 + byte);
}

/** Whether a text has what stands for such a byte. */
export function hasStrayByte(text: string): boolean {
  return /[\udc80-\udcff]/u.test(text); // In Unicode mode, half of a whole pair does not match.
}

/** How many of the bytes are in characters of several bytes, and how many are not UTF-8. */
export function countBytes(bytes: Uint8Array): { inCharacters: number; stray: number } {
  const counts = { inCharacters: 0, stray: 0 };
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    if (length === 0) counts.stray++;
    if (length > 1) counts.inCharacters += length;
    at += Math.max(1, length);
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

/** Bytes at the end that may begin a character. */
function unfinishedLength(bytes: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length++) {
    const byte = bytes[bytes.length - length] as number;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return wantedLength(byte) > length ? length : 0;
  }
  return 0;
}

/** Bytes of the character at a place, or 0 where there is none (Unicode 3.9, table 3-7). */
function characterLength(bytes: Uint8Array, at: number): number {
  const [first = 0, second = 0] = [bytes[at], bytes[at + 1]];
  const length = wantedLength(first);
  if (length < 2) return length;
  const [low, high] = [SECOND_FROM[first] ?? 0x80, SECOND_TO[first] ?? 0xbf];
  if (second < low || second > high) return 0;
  for (let next = 2; next < length; next++) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}

function wantedLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

const SECOND_FROM: Readonly<Record<number, number>> = { 224: 0xa0, 240: 0x90 };
const SECOND_TO: Readonly<Record<number, number>> = { 237: 0x9f, 244: 0x8f };
