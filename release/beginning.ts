/** Turns the beginning of a large file into a smaller file that is whole. */
import { constants, inflateRawSync } from "node:zlib";

/** Larger than what the beginning of any real archive unpacks to. */
const UNPACKED_BYTES_MAX = 64 * 1024 ** 2;
const [STORED, DEFLATED] = [0, 8];

/** What the beginning of a ZIP archive holds of its first entry (APPNOTE 4.3.7). Throws if it is not one. */
export function beginningOfZip(bytes: Buffer): Buffer {
  if (bytes.length < 30 || bytes.readUInt32LE(0) !== 0x04034b50) throw new Error("it is not a ZIP archive");
  const method = bytes.readUInt16LE(8);
  const packed = bytes.subarray(30 + bytes.readUInt16LE(26) + bytes.readUInt16LE(28));
  if (method === STORED) return packed;
  if (method !== DEFLATED) throw new Error(`its entry is packed by the unknown method ${method}`);
  return inflateRawSync(packed, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: UNPACKED_BYTES_MAX });
}

/** Cuts XML after its last whole element with a name that `name` matches, and closes the root. Returns it as it is if it has none. */
export function wholeElements(xml: string, name: RegExp, root: string): string {
  const last = [...xml.matchAll(new RegExp(`</(?:\\w+:)?(?:${name.source})\\s*>`, "g"))].at(-1);
  return last === undefined ? xml : `${xml.slice(0, last.index + last[0].length)}</${root}>`;
}

/** Cuts JSON with an indentation of four, whose last member is a list of objects, after its last whole object. Returns it as it is if it has none. */
export function wholeItems(json: string): string {
  const last = [...json.matchAll(/\n {8}\}/g)].at(-1);
  return last === undefined ? json : `${json.slice(0, last.index + last[0].length)}]}`;
}

/**
 * Cuts CSV, in which all fields are quoted, after its last whole row. A quote inside a field is doubled, so it never precedes a row, and no
 * row begins with an empty field.
 */
export function wholeRows(csv: string): string {
  const last = [...csv.matchAll(/"\r?\n(?="[^",\r\n])/g)].at(-1);
  return last === undefined ? csv : csv.slice(0, last.index + last[0].length);
}
