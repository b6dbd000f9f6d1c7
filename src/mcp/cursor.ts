/** Where a list goes on, as an opaque text that is valid for one request only. */
import { Failure } from "../../db/reason.ts";
import type { EpochMs } from "../text/instant.ts";

/** A longer text is refused before it is decoded. */
const CURSOR_LENGTH_MAX = 2000;

/** The cursor of the page before, of letters, digits and `_.~-`; and the time of the first page, so that `30d` means the same on every page. */
export type Place = { now: EpochMs; after: string };

const CURSOR = /^([\w-]{10})\.([0-9a-z]{1,11})\.([\w.~-]+)$/;

/** The cursor of a place in what `request`, any JSON value, returns. Models repeat it, so it is as short as it can be. */
export function encodeCursor(request: unknown, { now, after }: Place): string {
  return `${hashOf(request)}.${now.toString(36)}.${after}`;
}

/** Throws if the cursor is not one of this request. */
export function decodeCursor(request: unknown, cursor: string): Place {
  const [, of, now = "", after = ""] = (cursor.length <= CURSOR_LENGTH_MAX && CURSOR.exec(cursor)) || [];
  if (of === undefined) throw new Failure("Cannot continue: this is not a cursor that a tool returned. Start again without it");
  if (of !== hashOf(request))
    throw new Failure("Cannot continue: the cursor belongs to a request with other arguments. Repeat them, or start again without it");
  return { now: Number.parseInt(now, 36), after };
}

function hashOf(request: unknown): string {
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(request)).digest("base64url").slice(0, 10);
}
