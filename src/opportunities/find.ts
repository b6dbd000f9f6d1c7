/** One opportunity by its service id. */
import { type Catalog, catchUp } from "../catalog.ts";
import { type Document, keepDocument, keptDocument } from "./documents.ts";
import { isNewest } from "./list-log.ts";

/** The newest version of a record, or `undefined`. `id` is a UUID in lower case. */
export async function findOpportunity(catalog: Catalog, id: string): Promise<Document | undefined> {
  catchUp(catalog);
  const { db, log, documents } = catalog;
  const kept = keptDocument(documents, id);
  if (kept !== undefined && isNewest(log, kept)) return kept;

  const read = db.sqlite.query<Document, [string]>("select seq as row, id, updated_at, document from opportunities where id = ?").get(id);
  if (read === null) return undefined;
  keepDocument(documents, read);
  return read;
}
