/** The result for one document that may be too long for it. */
import { type CursorKey, encodePlace } from "../../search/cursor.ts";
import { type Cut, pathInWords } from "../../text/cut.ts";
import { quoted } from "../../text/quoted.ts";
import { beginOf, readLongText } from "../long-text.ts";
import type { ToolCall } from "../queries.ts";
import type { ToolAnswer } from "../results.ts";
import { placeAt } from "./tool.ts";

type LongRequest = {
  call: ToolCall;
  /** What a cursor is bound to. */
  request: unknown;
  filters: Record<string, unknown>;
  /** What the cut members are read from, and its version: the instant at which it was stored. */
  document: unknown;
  version: string;
  cursor: string | undefined;
};
export type WholeResult = { data: object; cuts: Cut[]; lines: string[]; upstream: string[] };

/** The result for one document: as a whole, cut where it is too long, or with a cursor a piece of a member. `empty` is the data next to a piece. */
export function longResult(request: LongRequest, empty: object, whole: () => WholeResult): ToolAnswer {
  const { cursor, filters } = request;
  const common = { filters, filters_in_words: [], returned: 1, total: 1 };
  const { statement, ...body } = cursor === undefined ? wholeOf(request, whole()) : pieceOf(request, empty, cursor);
  return { ...body, statement: { ...common, ...statement } };
}

function wholeOf(request: LongRequest, { data, cuts, lines, upstream }: WholeResult) {
  const cut = cuts.map((each) => ({ ...each, path: pathInWords(each.path), cursor: cursorOf(request, beginOf(each, request.version)) }));
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

function pieceOf(request: LongRequest, empty: object, cursor: string) {
  const { piece, next } = readLongText(request.document, request.version, placeAt(request.request, cursor).keys);
  const { path, from, to, length, text } = piece;
  return {
    data: { ...empty, cut: [], piece },
    lines: [`Characters ${from} to ${to} of ${length} of ${path}: ${quoted(text, Number.POSITIVE_INFINITY)}`],
    statement: { complete: next === null, next_cursor: next === null ? null : cursorOf(request, next), upstream_text: ["piece.text"] },
  };
}

function cursorOf({ request, call: { now } }: LongRequest, keys: readonly CursorKey[]): string {
  return encodePlace(request, { now, keys });
}
