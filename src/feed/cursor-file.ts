/** Keeps a position in the feed in a file, with the identity of the catalog that it belongs to. */
import { readFileSync } from "node:fs";
import { codeOf, Failure, reasonOf } from "../../db/reason.ts";
import type { FeedPosition } from "../events/feed.ts";
import { replaceText } from "../runtime/replace-file.ts";
import { isObject, parseJson } from "../text/json-value.ts";

/** A cursor file that cannot be used with this catalog. The message says what it must be. */
export class BadCursorFile extends Error {}

/** The position in the file; `undefined` if there is no file yet. Throws a BadCursorFile if it is damaged or of another catalog. */
export function readCursorFile(path: string, catalog: string): FeedPosition | undefined {
  const text = readText(path);
  if (text === undefined) return undefined;
  const stored = parseJson(text);
  if (!isObject(stored) || typeof stored.catalog !== "string" || !isPosition(stored.position))
    throw new BadCursorFile("It must be a whole cursor file; put it back from a backup, or delete it to start again.");
  if (stored.catalog !== catalog)
    throw new BadCursorFile("It must be of this catalog; use one cursor file for each, or delete it to start again.");
  return stored.position;
}

/** Returns once the position is on disk. */
export function saveCursorFile(path: string, catalog: string, position: FeedPosition): void {
  try {
    replaceText(path, `${JSON.stringify({ catalog, position })}\n`);
  } catch (error) {
    throw new Failure(`Cannot save the position in ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw new Failure(`Cannot read ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

function isPosition(value: unknown): value is FeedPosition {
  return value === null || (isObject(value) && Number.isSafeInteger(value.seq) && typeof value.id === "string");
}
