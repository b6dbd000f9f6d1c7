/** Keeps keys out of messages. */

/** Shorter texts are not keys, and occur in ordinary sentences. */
const KEY_LENGTH_MIN = 8;

/** Replaces the key with "…", in case a server repeated it: plain, JSON-escaped or URL-encoded, in any letter case. */
export function hideKey(text: string, key: string | undefined): string {
  if (key === undefined || key.length < KEY_LENGTH_MIN) return text;
  const spellings = [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key), `${new URLSearchParams([["", key]])}`.slice(1)];
  return text.replace(new RegExp(spellings.map((spelling) => spelling.replace(/\W/g, "\\$&")).join("|"), "gi"), "…");
}
