/** Where a list of results goes on: the sort keys of the last one, as an opaque text. */
import { type Filter, fieldNames } from "../filter/filter.ts";
import type { EpochMs } from "../text/instant.ts";
import { isObject } from "../text/json-value.ts";

export type Key = string | number | null;

/** The place after a result. `now` is the instant of the first page, so that `30d` and deadlines mean the same on every page. */
export type Place = { now: EpochMs; keys: Key[] };

/** A text that is no cursor of this search. The message says what it must be. */
export class BadCursor extends Error {}

/** The cursor is valid for this filter and this sort only. */
export function encodeCursor(filter: Filter, sort: string, { now, keys }: Place): string {
  return Buffer.from(JSON.stringify({ of: searchHash(filter, sort), now, keys })).toString("base64url");
}

/** Throws a BadCursor. */
export function decodeCursor(filter: Filter, sort: string, cursor: string): Place {
  const { of, now, keys } = parsed(cursor);
  if (typeof of !== "string" || !isInstant(now) || !Array.isArray(keys) || !keys.every(isKey))
    throw new BadCursor("It must be a cursor that a search returned.");
  if (of !== searchHash(filter, sort)) throw new BadCursor("It must be a cursor of a search with the same words, filters and sort.");
  return { now, keys };
}

function parsed(cursor: string): { of?: unknown; now?: unknown; keys?: unknown } {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function searchHash(filter: Filter, sort: string): string {
  const values = [sort, ...fieldNames.map((name) => filter[name] ?? null)];
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(values)).digest("base64url").slice(0, 16);
}

function isInstant(value: unknown): value is EpochMs {
  return Number.isSafeInteger(value);
}

function isKey(value: unknown): value is Key {
  return value === null || typeof value === "string" || typeof value === "number";
}
