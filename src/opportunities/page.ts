/** Keyset pages, newest first. */
import { Type } from "@sinclair/typebox";
import { type Column, sql } from "drizzle-orm";
import type { EpochMs } from "../text/instant.ts";

export type Position = { time: EpochMs; id: string };

export type ListPage = { documents: Uint8Array[]; next: Position | null };

/** A page ends with the document that reaches this size, even if more were asked for. Most pages of 100 have less than a megabyte. */
export const PAGE_BYTES_MAX = 4_194_304;

/** Longer documents are read one at a time, so that a page never reads much more than it has room for. */
const LONG_DOCUMENT_BYTES = 65_536;

/** The document of a row, or `null` if it is long. */
export const unlessLong = (document: Column) =>
  sql<Uint8Array | null>`case when octet_length(${document}) <= ${LONG_DOCUMENT_BYTES} then ${document} end`;

/** The first rows whose documents have room on one page; at least one. `readLong` reads a long one, or undefined if it has gone. */
export async function rowsOfOnePage<Row extends { document: Uint8Array }>(
  rows: readonly (Omit<Row, "document"> & { document: Uint8Array | null })[],
  readLong: (row: Omit<Row, "document">) => Promise<Row | undefined>,
): Promise<Row[]> {
  const fitting: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    const whole = row.document === null ? await readLong(row) : (row as Row);
    if (whole === undefined) continue;
    fitting.push(whole);
    bytes += whole.document.length;
    if (bytes >= PAGE_BYTES_MAX) break;
  }
  return fitting;
}

export const nextPage = {
  has_more: Type.Boolean({ description: "Whether another page follows." }),
  next_cursor: Type.Union([Type.String({ maxLength: 512, pattern: "^[A-Za-z0-9._~-]+$" }), Type.Null()], {
    description: "Send it as `cursor`, with the same filters, for the next page. Null on the last page.",
  }),
};
