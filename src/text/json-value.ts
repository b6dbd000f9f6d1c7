/** Upstream JSON as it comes: each reader answers with an empty value where another kind of value stands. */

export type JsonObject = { readonly [name: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The trimmed text of a string or number; what is absent, blank or the word "null" is "". */
export function textOf(value: unknown): string {
  const text = typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : "";
  return text.length === 4 && text.toLowerCase() === "null" ? "" : text;
}

/** The value of JSON inside a string, as some upstreams put it there; `undefined` where it is none. */
export function parsedJson(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
