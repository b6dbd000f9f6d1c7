/** The attachments and links of an opportunity, and since when it has each. */
import { type Static, Type } from "@sinclair/typebox";
import type { Sidecar } from "../opportunities/opportunity.ts";
import { dateInWords } from "../text/date-in-words.ts";
import { arrayOf, isObject, type JsonObject, objectOf } from "../text/json-value.ts";
import { nullable, object } from "../text/schema.ts";
import type { OpportunityEvent } from "./event.ts";

const stated = {
  name: nullable(Type.String()),
  url: nullable(Type.String()),
  kind: nullable(Type.String(), "In the upstream's words."),
  size: nullable(Type.Integer(), "Bytes."),
};
type Attachment = Omit<RemovedAttachment, "removed_at">;

/** `since` is null if the opportunity had it when it was first stored. */
export const DatedAttachment = object({ ...stated, since: nullable(Type.String({ format: "date-time" })) });

export const RemovedAttachment = object({ ...stated, removed_at: Type.String({ format: "date-time" }) });
type RemovedAttachment = Static<typeof RemovedAttachment>;

/** What was removed last comes first. */
export type DatedAttachments = { attachments: Static<typeof DatedAttachment>[]; removed_attachments: RemovedAttachment[] };

/** The attachments with the instants at which they appeared in the history, the oldest event first, and those that are gone. */
export function datedAttachments(attachments: Sidecar["attachments"], history: readonly OpportunityEvent[]): DatedAttachments {
  const since = new Map<string, string>();
  const removed = new Map<string, RemovedAttachment>();
  for (const { changes, detected_at } of history) {
    for (const { field, previous, current } of changes) {
      if (field !== "attachments") continue;
      const [before, after] = [previous, current].map(byKey);
      for (const key of after?.keys() ?? []) if (!before?.has(key)) since.set(key, detected_at);
      for (const [key, each] of before ?? []) if (!after?.has(key)) removed.set(key, { ...attachmentOf(each), removed_at: detected_at });
    }
  }
  for (const each of attachments) removed.delete(keyOf(each));
  return {
    attachments: attachments.map((each) => ({ ...attachmentOf(each), since: since.get(keyOf(each)) ?? null })),
    removed_attachments: [...removed.values()].sort((one, other) => (one.removed_at > other.removed_at ? -1 : 1)),
  };
}

function byKey(list: unknown): Map<string, JsonObject> {
  return new Map(arrayOf(list).flatMap((each) => (isObject(each) ? [[keyOf(each), each]] : [])));
}

function attachmentOf(stored: object): Attachment {
  const { name, url, kind, size } = objectOf(stored);
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  return { name: text(name), url: text(url), kind: text(kind), size: typeof size === "number" ? size : null };
}

/** A stored attachment in a line: "Announcement.pdf (Full announcement, 482 kB)". One without a name is called by its address. */
export function attachmentInLine(stored: object): string {
  const attachment = attachmentOf(stored);
  const about = aboutInWords(attachment);
  return `${attachment.name ?? attachment.url ?? ""}${about === "" ? "" : ` (${about})`}`;
}

function aboutInWords({ kind, size }: Attachment): string {
  return [kind, size === null ? null : sizeInWords(size)].filter((each) => each !== null).join(", ");
}

/** An attachment may get another name. */
function keyOf(attachment: object): string {
  const { name, url } = objectOf(attachment);
  return `${url ?? name}`;
}

/** "Full Announcement, 1.3 MB" is its `about`, "since Mar 3, 2026" or "removed Mar 3, 2026" its `dated`. Both may be "". */
export type AttachmentInWords = { name: string; url: string | null; about: string; dated: string; isRemoved: boolean };

/** The present ones, then those that were removed. One without a name is called by its address. */
export function attachmentsInWords({ attachments, removed_attachments }: DatedAttachments): AttachmentInWords[] {
  const words = (attachment: Attachment, dated: string, isRemoved: boolean): AttachmentInWords => {
    const { name, url } = attachment;
    return { name: name ?? url ?? "", url, about: aboutInWords(attachment), dated, isRemoved };
  };
  return [
    ...attachments.map((each) => words(each, each.since === null ? "" : `since ${dateInWords(each.since)}`, false)),
    ...removed_attachments.map((each) => words(each, `removed ${dateInWords(each.removed_at)}`, true)),
  ];
}

function sizeInWords(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const amount = bytes / 1000 ** power;
  return `${power > 0 && amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${units[power]}`;
}
