/** The result for one document that may be too long for it: the document with what is too long cut, or a piece of what was cut. */
import { Type } from "@sinclair/typebox";
import { Failure } from "../../../db/reason.ts";
import { type CursorKey, encodePlace } from "../../search/cursor.ts";
import { type Cut, memberAt, type Path, pathInWords } from "../../text/cut.ts";
import { beginning, quoted } from "../../text/quoted.ts";
import { object } from "../../text/schema.ts";
import type { ToolAnswer } from "../results.ts";
import { jsonTextOf } from "../rows.ts";
import { placeAt, type ToolCall } from "./tool.ts";

/** Characters of a piece. A result has it twice: as data, and in its text. */
const PIECE_MAX = 10_000;

export const CutMember = object({
  path: Type.String(),
  unit: Type.Union([Type.Literal("characters"), Type.Literal("items")]),
  shown: Type.Integer(),
  length: Type.Integer(),
  cursor: Type.String(),
});

export const LongText = object({
  path: Type.String(),
  from: Type.Integer(),
  to: Type.Integer(),
  length: Type.Integer(),
  text: Type.String(),
});

type LongRequest = {
  call: ToolCall;
  request: unknown;
  filters: Record<string, unknown>;
  /** What the cut members are read from, and its version: the instant at which it was stored. */
  document: unknown;
  version: string;
  cursor: string | undefined;
};
export type WholeResult = { data: object; cuts: Cut[]; lines: string[]; upstream: string[] };

/** The whole document, cut where it is too long, or with a cursor a piece of a member. `empty` is the data next to a piece. */
export function longResult(request: LongRequest, empty: object, whole: () => WholeResult): ToolAnswer {
  const { cursor, filters } = request;
  const common = { filters, filters_in_words: [], returned: 1, total: 1 };
  const { statement, ...body } = cursor === undefined ? wholeOf(request, whole()) : pieceOf(request, empty, cursor);
  return { ...body, statement: { ...common, ...statement } };
}

function wholeOf(request: LongRequest, { data, cuts, lines, upstream }: WholeResult) {
  const cut = cuts.map((each) => ({ ...each, path: pathInWords(each.path), cursor: cursorAt(request, each.path, 0) }));
  const cutLines = cut.map(
    ({ path, shown, length, unit, cursor }) =>
      `${path} is cut: ${shown} of ${length} ${unit} are in this result; the rest has the cursor ${cursor}`,
  );
  return {
    data: { ...data, cut, piece: null },
    lines: [...lines, ...cutLines],
    statement: { complete: cut.length === 0, next_cursor: cut[0]?.cursor ?? null, upstream_text: upstream },
  };
}

/** Throws if the document has another version now. */
function pieceOf(request: LongRequest, empty: object, cursor: string) {
  const [offset, version, ...path] = placeAt(request.request, cursor).keys;
  if (version !== request.version) throw new Failure("Cannot continue: it has changed since. Start again without the cursor");
  const steps = path.filter((step) => step !== null);
  const member = jsonTextOf(memberAt(request.document, steps) ?? "");
  const [name, from, length] = [pathInWords(steps), Number(offset), member.length];
  const text = beginning(member.slice(from), PIECE_MAX);
  const to = from + text.length;
  const next = to >= length || text === "" ? null : cursorAt(request, steps, to);
  return {
    data: { ...empty, cut: [], piece: { path: name, from, to, length, text } },
    lines: [`Characters ${from} to ${to} of ${length} of ${name}: ${quoted(text, Number.POSITIVE_INFINITY)}`],
    statement: { complete: next === null, next_cursor: next, upstream_text: ["piece.text"] },
  };
}

function cursorAt({ request, version, call: { now } }: LongRequest, path: Path, from: number): string {
  const keys: CursorKey[] = [from, version, ...path];
  return encodePlace(request, { now, keys });
}
