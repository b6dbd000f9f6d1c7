/** The rest of a text or list that was cut, piece by piece. */
import { type Static, Type } from "@sinclair/typebox";
import { Failure } from "../../db/reason.ts";
import type { CursorKey } from "../search/cursor.ts";
import { type Cut, memberAt, type Path, pathInWords } from "../text/cut.ts";
import { beginning } from "../text/quoted.ts";
import { object } from "../text/schema.ts";
import { jsonTextOf } from "./rows.ts";

/** Characters of a piece. A result has it twice: as data, and in its text. */
const PIECE_MAX = 10_000;

export const CutMember = object({
  path: Type.String(),
  unit: Type.Union([Type.Literal("characters"), Type.Literal("items")]),
  shown: Type.Integer(),
  length: Type.Integer(),
  cursor: Type.String(),
});

/** A piece of a long member. */
export const LongText = object({
  path: Type.String(),
  from: Type.Integer(),
  to: Type.Integer(),
  /** In characters; for a list, of its JSON. */
  length: Type.Integer(),
  text: Type.String(),
});
export type LongText = Static<typeof LongText>;

/** The place of the first piece of a member that was cut. */
export function beginOf({ path }: Cut, version: string): CursorKey[] {
  return placeOf(path, 0, version);
}

/** The piece at a place, and the place of the next one; null if there is none. Throws if the document has another version now. */
export function readLongText(
  document: unknown,
  version: string,
  [offset, before, ...steps]: readonly CursorKey[],
): { piece: LongText; next: CursorKey[] | null } {
  if (before !== version) throw new Failure("Cannot continue: it has changed since. Start again without the cursor");
  const path = steps.filter((step) => step !== null);
  const whole = jsonTextOf(memberAt(document, path) ?? "");
  const from = Number(offset);
  const text = beginning(whole.slice(from), PIECE_MAX);
  const to = from + text.length;
  const piece = { path: pathInWords(path), from, to, length: whole.length, text };
  return { piece, next: to >= whole.length || text === "" ? null : placeOf(path, to, version) };
}

function placeOf(path: Path, from: number, version: string): CursorKey[] {
  return [from, version, ...path];
}
