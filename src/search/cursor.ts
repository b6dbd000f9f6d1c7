/**
 * The position where a list continues, as an opaque text that is valid for one request only. It is not signed, because it gives access to
 * nothing that the request does not.
 */
import type { EpochMs } from "../text/instant.ts";
import { arrayOf, parseJson } from "../text/json-value.ts";

export type CursorKey = string | number | null;

/** `keys` are the sort keys of the last result shown; the first page has none. `now` is the instant of that page, so that `30d` means the same on all. */
export type CursorPlace = { now: EpochMs; keys: readonly CursorKey[] };

/**
 * Thrown for a text that is not a cursor of this request. The message says what it must be. `isOfOther` is true for a cursor of another
 * request.
 */
export class BadCursor extends Error {
  constructor(readonly isOfOther: boolean) {
    super(`It must be a cursor ${isOfOther ? "of a search with the same words, filters and sort" : "that a search returned"}.`);
  }
}

/** A longer text is refused before it is decoded. */
const LENGTH_MAX = 2000;

/** The cursor of a position in the results of `request`, which is any JSON value. It is short because language models copy it. */
export function encodePlace(request: unknown, { now, keys }: CursorPlace): string {
  return hashOf(request) + Buffer.from(JSON.stringify([now, ...keys])).toString("base64url");
}

/** Throws a BadCursor. */
export function decodePlace(request: unknown, cursor: string): CursorPlace {
  const [, of, place = ""] = (cursor.length <= LENGTH_MAX && /^([\w-]{10})([\w-]+)$/.exec(cursor)) || [];
  const [now, ...keys] = arrayOf(parseJson(Buffer.from(place, "base64url").toString()));
  if (!isInstant(now) || !keys.every(isKey)) throw new BadCursor(false);
  if (of !== hashOf(request)) throw new BadCursor(true);
  return { now, keys };
}

function hashOf(request: unknown): string {
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(request)).digest("base64url").slice(0, 10);
}

function isInstant(value: unknown): value is EpochMs {
  return Number.isSafeInteger(value);
}

function isKey(value: unknown): value is CursorKey {
  return value === null || typeof value === "string" || typeof value === "number";
}
