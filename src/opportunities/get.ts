/** One opportunity by its service id. */
import { selectSome } from "../../db/query.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";
import { documentFields, keepDocument, keptDocument, type StoredDocument } from "./documents.ts";
import { isNewest } from "./list-index.ts";
import { type ReadModel, updateModel } from "./read-model.ts";

const documentById = selectSome(opportunities, documentFields, "id");

/** The newest version of an opportunity, or `undefined` if there is none with this `id`, a UUID in lower case. */
export async function getOpportunity(model: ReadModel, id: string): Promise<StoredDocument | undefined> {
  await updateModel(model);
  const { db, index, documents } = model;
  const kept = keptDocument(documents, id);
  if (kept !== undefined && isNewest(index, kept)) return kept;

  const read = await db.get(documentById, { id });
  if (read !== undefined) keepDocument(documents, read);
  return read;
}
