/** Keyset pages: a place in an order by (time, id), newest first, and what lies after it. */

/** A place in the order `time` descending, then `id` descending; `time` in milliseconds since 1970 UTC. */
export type Position = { time: number; id: string };

/** One page of ready JSON documents, and the place after which the next one begins (`null` on the last). */
export type Page = { documents: Uint8Array[]; next: Position | null };
