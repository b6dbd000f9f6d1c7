/** Path and query as texts: where they stand in a URL, what a query says, and how both are written into a link. */

/** Where the path begins in the URL of a request. The URL is absolute, or only a path if the Host line is missing or unusable. */
export function pathStart(url: string): number {
  if (url.charCodeAt(0) === 47) return 0;
  const start = url.indexOf("/", url.indexOf("//") + 2);
  return start < 0 ? url.length : start;
}

/** The path and the query in the URL of a request, still percent-encoded. */
export function partsOf(url: string): { path: string; query: string } {
  const start = pathStart(url);
  const mark = url.indexOf("?", start);
  return mark < 0 ? { path: url.slice(start), query: "" } : { path: url.slice(start, mark), query: url.slice(mark + 1) };
}

export function pathAndQuery(url: string): string {
  return url.slice(pathStart(url));
}

/** A value as sent; `null` if it is not well-formed UTF-8 or contains control characters. */
export type SentValue = string | null;

/** Names and values of a query, decoded. A name that cannot be decoded stays as it was sent. A Map, so that `__proto__` is a plain name. */
export function parseQuery(query: string): Map<string, SentValue[]> {
  const sent = new Map<string, SentValue[]>();
  if (query === "") return sent;
  for (const pair of query.split("&")) {
    if (pair === "" || pair === "=") continue;
    const equals = pair.indexOf("=");
    const name = equals < 0 ? pair : pair.slice(0, equals);
    const decoded = decode(name) ?? name;
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    sent.getOrInsert(decoded, []).push(value);
  }
  return sent;
}

/** The query of the same request for another page: every parameter as it was sent, and another cursor. */
export function queryWithCursor(query: string, cursor: string): string {
  const kept = [...parseQuery(query)].filter(([name]) => name !== "cursor");
  const pairs = kept.flatMap(([name, texts]) => texts.map((text) => `${encode(name)}=${encode(text ?? "")}`));
  return [...pairs, `cursor=${cursor}`].join("&");
}

/** Text that decodes to itself, as nearly all names and values do. Decoding it would take five times as long. */
const PLAIN = /^[\w.,:-]*$/;

/** Includes U+FFFD, with which Bun replaces bytes that are not UTF-8. */
const NOT_IN_TEXT = /[\p{Cc}\uFFFD]/u;

function decode(text: string): SentValue {
  if (PLAIN.test(text)) return text;
  try {
    const decoded = decodeURIComponent(text.replaceAll("+", " "));
    return NOT_IN_TEXT.test(decoded) ? null : decoded;
  } catch {
    return null; // Malformed percent-encoding, or not UTF-8.
  }
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll("%3A", ":").replaceAll("%2C", ",");
}

const URI_CHARACTERS = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*$/;
const NOT_IN_A_URI = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]/gu;

/** A path that begins with two slashes, and would be parsed as a malformed `//user@host:port`. */
const LOOKS_LIKE_A_HOST = /^\/\/[^/]*[:@%]/;

/** A request's path and query as a valid URI reference. Characters that a URI may not contain are percent-encoded. */
export function uriReference(path: string, query = ""): string {
  const reference = query === "" ? path : `${path}?${query}`;
  const encoded = URI_CHARACTERS.test(reference)
    ? reference
    : reference.replace(NOT_IN_A_URI, (character) => encodeURIComponent(character.toWellFormed()));
  return LOOKS_LIKE_A_HOST.test(encoded) ? `/.${encoded}` : encoded;
}
