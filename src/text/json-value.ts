/** Reads JSON whose shape an upstream does not guarantee: each function returns an empty value if it finds another type. */
import { parseBounded } from "../../clients/typescript/src/json-scan.ts";

export type JsonObject = { readonly [name: string]: unknown };

/** Whether `value` is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a list, with an empty one for each item of another type; none if `value` is no array. */
export function objectsOf(value: unknown): JsonObject[] {
  return arrayOf(value).map(objectOf);
}

/** A string trimmed, or a number as text; "" for any other value and for the word "null", which some upstreams write for nothing. */
export function textOf(value: unknown): string {
  const text = typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : "";
  return text.length === 4 && text.toLowerCase() === "null" ? "" : text;
}

/** The value of a JSON text; `undefined` if `text` is no string, not JSON, or nested too deeply. */
export function parseJson(text: unknown): unknown {
  try {
    return typeof text === "string" ? parseBounded(text) : undefined;
  } catch {
    return undefined;
  }
}
