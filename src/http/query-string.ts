/** Query strings: names and values as they were sent, and as they are sent again for the next page. */

/** A value as sent; `null` if it is not well-formed UTF-8 or contains control characters. */
export type Sent = string | null;

/** Names and values, decoded. A name that cannot be decoded stays as it was sent. In a Map, no name is special, `__proto__` included. */
export function parseQuery(query: string): Map<string, Sent[]> {
  const sent = new Map<string, Sent[]>();
  if (query === "") return sent;
  for (const pair of query.split("&")) {
    if (pair === "" || pair === "=") continue;
    const equals = pair.indexOf("=");
    const name = equals < 0 ? pair : pair.slice(0, equals);
    const decoded = decode(name) ?? name;
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    const values = sent.get(decoded);
    if (values === undefined) sent.set(decoded, [value]);
    else values.push(value);
  }
  return sent;
}

/** The query of the same request for another page: every parameter as it was sent, with another cursor. */
export function queryWithCursor(query: string, cursor: string): string {
  const kept = [...parseQuery(query)].filter(([name]) => name !== "cursor");
  const pairs = kept.flatMap(([name, texts]) => texts.map((text) => `${encode(name)}=${encode(text ?? "")}`));
  return [...pairs, `cursor=${cursor}`].join("&");
}

/** Stands for itself, as nearly all names and values do: decoding it would take five times as long. */
const PLAIN = /^[\w.,:-]*$/;

/** U+FFFD, too: Bun puts it in place of bytes that are not UTF-8. */
const NOT_IN_TEXT = /[\p{Cc}\uFFFD]/u;

function decode(text: string): Sent {
  if (PLAIN.test(text)) return text;
  try {
    const decoded = decodeURIComponent(text.replaceAll("+", " "));
    return NOT_IN_TEXT.test(decoded) ? null : decoded;
  } catch {
    return null; // Malformed percent-encoding, or not UTF-8.
  }
}

/** Percent-encoded, with colons and commas left readable. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll("%3A", ":").replaceAll("%2C", ",");
}
