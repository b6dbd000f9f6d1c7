/** The value of JSON that this program stored. Throws if it is damaged. */
export function parseStored<T>(json: Uint8Array): T {
  return JSON.parse(utf8.decode(json)) as T;
}
const utf8 = new TextDecoder();
