/** JSON that this program stored. */

const utf8 = new TextDecoder();

/** The value of stored JSON. Throws if it is damaged. */
export function parseStored<T>(json: Uint8Array): T {
  return JSON.parse(utf8.decode(json)) as T;
}
