/** One opportunity by its service id. */
import { type Catalog, catchUp } from "../catalog.ts";
import { type Document, keepDocument, keptDocument } from "./documents.ts";
import { isNewest } from "./list-log.ts";

/** The newest version of a record, or `undefined`. `id` is a UUID in lower case. */
export async function findOpportunity(catalog: Catalog, id: string): Promise<Document | undefined> {
  await catchUp(catalog);
  const { db, log, documents } = catalog;
  const kept = keptDocument(documents, id);
  if (kept !== undefined && isNewest(log, kept)) return kept;

  const read = await db.get<Document>("select seq, id, updated_at, document from opportunities where id = ?", id);
  if (read !== undefined) keepDocument(documents, read);
  return read;
}
