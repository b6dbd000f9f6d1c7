/** The result for one document that may be too long for it. */
import { parseStoredMs } from "../../text/instant.ts";
import { decodeCursor, encodeCursor } from "../cursor.ts";
import { type Cut, pathInWords } from "../cut.ts";
import { beginOf, readLongText } from "../long-text.ts";
import type { Call, Reader } from "../reader.ts";
import { type Result, resultOf } from "../results.ts";
import { quoted } from "../upstream-text.ts";

/** The version of a document, by the instant at which it was stored. */
export function versionOf(instant: string): string {
  return (parseStoredMs(instant) ?? 0).toString(36).replace("-", "_");
}

export type LongRequest = {
  reader: Reader;
  call: Call;
  /** What a cursor is bound to. */
  request: unknown;
  filters: Record<string, unknown>;
  /** What the cut members are read from, and its version. */
  document: unknown;
  version: string;
  cursor: string | undefined;
};
export type WholeResult = {
  data: object;
  cuts: Cut[];
  lines: string[];
  upstream: string[] /** The data of a result that is a piece. */;
  empty: object;
};

/** The result for one document: as a whole, cut where it is too long, or with a cursor a piece of a member that was cut. */
export async function longResult(
  { reader, call, request, filters, document, version, cursor }: LongRequest,
  whole: () => WholeResult,
): Promise<Result> {
  const said = { filters, filters_in_words: [], returned: 1, total: 1 };
  const cursorOf = (after: string) => encodeCursor(request, { now: call.now, after });
  const freshness = await reader.freshness(call);
  const { data, cuts, lines, upstream, empty } = whole();
  if (cursor !== undefined) {
    const { piece, next } = readLongText(document, version, decodeCursor(request, cursor).after);
    const statement = {
      ...said,
      complete: next === null,
      next_cursor: next === null ? null : cursorOf(next),
      upstream_text: ["piece.text"],
    };
    const text = `Characters ${piece.from} to ${piece.to} of ${piece.length} of ${piece.path}: ${quoted(piece.text)}`;
    return resultOf({ data: { ...empty, cut: [], piece }, lines: [text] }, statement, freshness, call.now);
  }
  const cut = cuts.map((each) => ({ ...each, path: pathInWords(each.path), cursor: cursorOf(beginOf(each, version)) }));
  const cutLines = cut.map(({ path, shown, length, unit }) => `${path} is cut: ${shown} of ${length} ${unit} are in this result`);
  const statement = { ...said, complete: cut.length === 0, next_cursor: cut[0]?.cursor ?? null, upstream_text: upstream };
  return resultOf({ data: { ...data, cut, piece: null }, lines: [...lines, ...cutLines] }, statement, freshness, call.now);
}
