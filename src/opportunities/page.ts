/** Keyset pages, newest first. */
import { Type } from "@sinclair/typebox";
import type { EpochMs } from "../text/instant.ts";

/** A place in the order `time` descending, then `id` descending. */
export type Position = { time: EpochMs; id: string };

/** One page of ready JSON documents, and the position after which the next page starts (`null` on the last page). */
export type ListPage = { documents: Uint8Array[]; next: Position | null };

/** How the envelope of a page says where the list continues. */
export const nextPage = {
  has_more: Type.Boolean({ description: "Whether another page follows." }),
  next_cursor: Type.Union([Type.String({ maxLength: 512, pattern: "^[A-Za-z0-9._~-]+$" }), Type.Null()], {
    description: "Send it as `cursor`, with the same filters, for the next page. Null on the last page.",
  }),
};
