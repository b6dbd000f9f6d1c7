/** Keyset pages, newest first. */
import type { EpochMs } from "../text/instant.ts";

/** A place in the order `time` descending, then `id` descending. */
export type Position = { time: EpochMs; id: string };

/** One page of ready JSON documents, and the position after which the next page starts (`null` on the last page). */
export type Page = { documents: Uint8Array[]; next: Position | null };
