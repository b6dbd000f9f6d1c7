/** One opportunity by its service id. */
import type { Catalog } from "../catalog.ts";

export type Found = { id: string; updated_at: number; document: Uint8Array };

/** The record as a ready JSON document with its validators' parts, or `undefined`. `id` is a UUID in lower case. */
export async function findOpportunity({ db }: Catalog, id: string): Promise<Found | undefined> {
  return db.sqlite.query<Found, [string]>("select id, updated_at, document from opportunities where id = ?").get(id) ?? undefined;
}
