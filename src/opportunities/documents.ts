/** Recently read documents. Changed ones stay: callers compare `updated_at`, which two versions never share (D-31), with the index. (E-31) */
import type { opportunities } from "../../db/schema/sqlite/catalog.ts";

export const documentFields = ["seq", "id", "updated_at", "document"] as const;

export type StoredDocument = Pick<typeof opportunities.$inferSelect, (typeof documentFields)[number]>;

/** By row number and id. The less recent half can be dropped as a whole. */
export type Documents = { recent: Map<number | string, StoredDocument>; former: Map<number | string, StoredDocument>; recentBytes: number };

const HALF_BYTES = 16_777_216;

export function createDocuments(): Documents {
  return { recent: new Map(), former: new Map(), recentBytes: 0 };
}

/** The version that was kept last, by row number or id; it may be outdated. `undefined` if none is kept. */
export function keptDocument(documents: Documents, seqOrId: number | string): StoredDocument | undefined {
  const recent = documents.recent.get(seqOrId);
  if (recent !== undefined) return recent;
  const former = documents.former.get(seqOrId);
  if (former !== undefined) keepDocument(documents, former); // It is used again, so it moves to the recent half.
  return former;
}

/** Keeps a document. If the recent half is full, it becomes the former one, and the documents of that are dropped. */
export function keepDocument(documents: Documents, document: StoredDocument): void {
  if (documents.recentBytes > HALF_BYTES) {
    documents.former = documents.recent;
    documents.recent = new Map();
    documents.recentBytes = 0;
  }
  documents.recent.set(document.seq, document);
  documents.recent.set(document.id, document);
  documents.recentBytes += document.document.length;
}
