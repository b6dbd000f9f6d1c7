/** A page as the client gets it: documents, the cursor that continues it, and links (D-16). */
import type { Page } from "../page.ts";
import { type Call, uriReference } from "./call.ts";
import { encodeCursor } from "./cursor.ts";
import { pageEnvelope } from "./envelope.ts";
import { queryWithCursor } from "./query.ts";
import { type Answer, respondJson } from "./respond.ts";

export function respondPage(
  call: Call,
  { documents, next }: Page,
  { cursorSecret, scope }: { cursorSecret: Uint8Array; scope: string },
): Answer {
  const cursor = next === null ? null : encodeCursor(cursorSecret, scope, next);
  const links = {
    self: uriReference(call.path, call.query),
    next: cursor === null ? null : uriReference(call.path, queryWithCursor(call.query, cursor)),
  };
  return respondJson(call, pageEnvelope(documents, call.id, cursor, links));
}
