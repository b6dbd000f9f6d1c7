/**
 * Documents that were read lately, in memory: what everybody polls is not read from the database again and again.
 *
 * Nothing is ever taken out because it has changed. A document holds while its `updated_at` is the one that the list index has of the
 * record (D-31: no two versions share one); whoever looks compares.
 */

import { pick, type Row } from "../../db/query.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";

export const documentColumns = pick(opportunities, "seq", "id", "updated_at", "document");

/** An opportunity as a ready JSON document, with what identifies this version of it. */
export type Document = Row<typeof documentColumns>;

/** Both are found by row number and by id. */
export type Documents = { recent: Map<number | string, Document>; former: Map<number | string, Document>; recentBytes: number };

/** Bytes of documents in each half: some 5,000 of them. */
const HALF_BYTES = 16_777_216;

export function createDocuments(): Documents {
  return { recent: new Map(), former: new Map(), recentBytes: 0 };
}

/** The version that was kept last, current or not. */
export function keptDocument(documents: Documents, seqOrId: number | string): Document | undefined {
  const recent = documents.recent.get(seqOrId);
  if (recent !== undefined) return recent;
  const former = documents.former.get(seqOrId);
  if (former !== undefined) keepDocument(documents, former); // Asked for again: it outlives the half that it is in.
  return former;
}

/** Once a half is full, the other one is forgotten. */
export function keepDocument(documents: Documents, document: Document): void {
  if (documents.recentBytes > HALF_BYTES) {
    documents.former = documents.recent;
    documents.recent = new Map();
    documents.recentBytes = 0;
  }
  documents.recent.set(document.seq, document);
  documents.recent.set(document.id, document);
  documents.recentBytes += document.document.length;
}
