/** The attachments and links of an opportunity, and since when it has each. */
import type { Sidecar } from "../opportunities/opportunity.ts";
import { arrayOf, objectOf } from "../text/json-value.ts";
import type { OpportunityEvent } from "./event.ts";

/** `since` is null if the opportunity has had it ever since it was first stored. */
export type DatedAttachment = Sidecar["attachments"][number] & { since: string | null };

/** The attachments with the instants at which they appeared in the history, the oldest event first. */
export function datedAttachments(attachments: Sidecar["attachments"], history: readonly OpportunityEvent[]): DatedAttachment[] {
  const since = new Map<string, string>();
  for (const { changes, detected_at } of history) {
    for (const { field, previous, current } of changes) {
      if (field !== "attachments") continue;
      const before = new Set(arrayOf(previous).map(keyOf));
      for (const key of arrayOf(current).map(keyOf)) if (!before.has(key)) since.set(key, detected_at);
    }
  }
  return attachments.map((each) => ({ ...each, since: since.get(keyOf(each)) ?? null }));
}

/** The address; an attachment may get another name. */
function keyOf(attachment: unknown): string {
  const { name, url } = objectOf(attachment);
  return `${url ?? name}`;
}
