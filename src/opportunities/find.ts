/** One opportunity by its service id. */
import { eq } from "drizzle-orm";
import { opportunities } from "../../db/catalog.ts";
import { query, select } from "../../db/query.ts";
import { type Catalog, catchUp } from "../catalog.ts";
import { type Document, documentColumns, keepDocument, keptDocument } from "./documents.ts";
import { isNewest } from "./list-log.ts";

const documentById = query({ id: opportunities.id }, ({ id }) =>
  select(documentColumns).from(opportunities).where(eq(opportunities.id, id)),
);

/** The newest version of a record, or `undefined`. `id` is a UUID in lower case. */
export async function findOpportunity(catalog: Catalog, id: string): Promise<Document | undefined> {
  await catchUp(catalog);
  const { db, log, documents } = catalog;
  const kept = keptDocument(documents, id);
  if (kept !== undefined && isNewest(log, kept)) return kept;

  const read = await db.get(documentById, { id });
  if (read !== undefined) keepDocument(documents, read);
  return read;
}
