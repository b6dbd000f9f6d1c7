/** Keeps a position in the feed in a file, with the identity of the catalog that it belongs to. */
import { existsSync, readFileSync } from "node:fs";
import { attempt } from "../../db/reason.ts";
import type { FeedPosition } from "../events/feed.ts";
import { replaceText } from "../runtime/replace-file.ts";
import { isObject, parseJson } from "../text/json-value.ts";

/** A cursor file that cannot be used with this catalog. The message says what it must be. */
export class BadCursorFile extends Error {}

/** The position in the file; `undefined` if there is no file yet. Throws a BadCursorFile if it is damaged or of another catalog. */
export function readCursorFile(path: string, catalog: string): FeedPosition | undefined {
  if (!existsSync(path)) return undefined;
  const stored = parseJson(attempt(`Cannot read ${path}`, () => readFileSync(path, "utf8")));
  if (!isObject(stored) || typeof stored.catalog !== "string" || !isPosition(stored.position))
    throw new BadCursorFile("It must be a whole cursor file; put it back from a backup, or delete it to start again.");
  if (stored.catalog !== catalog)
    throw new BadCursorFile("It must be of this catalog; use one cursor file for each, or delete it to start again.");
  return stored.position;
}

/** Returns once the position is on disk. */
export function saveCursorFile(path: string, catalog: string, position: FeedPosition): void {
  attempt(`Cannot save the position in ${path}`, () => replaceText(path, `${JSON.stringify({ catalog, position })}\n`));
}

function isPosition(value: unknown): value is FeedPosition {
  return value === null || (isObject(value) && Number.isSafeInteger(value.seq) && typeof value.id === "string");
}
