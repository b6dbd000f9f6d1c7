/** The messages of watches, as JSON. The renderers for mail and Slack start from the same message. */
import { type Static, Type } from "@sinclair/typebox";
import { withoutContactValues } from "../changes/contacts.ts";
import { OpportunityEvent } from "../events/event.ts";
import type { FeedEntry } from "../events/feed.ts";
import { CUT } from "../events/in-words.ts";
import { briefOf } from "../facts/facts.ts";
import type { Filter } from "../filter/filter.ts";
import { Due } from "../opportunities/due.ts";
import { Opportunity, withoutSidecar } from "../opportunities/opportunity.ts";
import { AlsoAt } from "../opportunities/related.ts";
import { cutTo, jsonBytes } from "../text/cut.ts";
import { withCommas } from "../text/in-words.ts";
import { isObject } from "../text/json-value.ts";
import { nullable, object } from "../text/schema.ts";

/** Without contacts, which are personal data, and without its description, which can be long. */
const MessageOpportunity = Type.Composite(
  [
    object({ number: nullable(Type.String(), "The number that people call it by; null if it has none.") }),
    Type.Omit(Opportunity, ["contacts", "description", "value_estimate"]),
    object({
      due: Due,
      open_to: nullable(Type.String(), "Who may apply, in short; null if no code says it."),
      also_at: Type.Array(AlsoAt, { description: "The records of the same opportunity at other sources." }),
    }),
  ],
  { additionalProperties: false },
);

const opportunity = MessageOpportunity;
const MessageItem = Type.Union([
  object({ kind: Type.Literal("new"), opportunity }, "The opportunity matches now and did not before."),
  object(
    {
      kind: Type.Literal("changed"),
      event: OpportunityEvent,
      at: nullable(Type.String(), "The source at which it changed, if that is not the one of the opportunity shown."),
      opportunity,
      left: Type.Optional(Type.Literal(true, { description: "It no longer matches. Only digests have this." })),
    },
    "An opportunity that matches, or did until now, has changed.",
  ),
  object(
    {
      kind: Type.Literal("due"),
      due_at: Type.String({ format: "date-time" }),
      days: Type.Integer({ description: "How many days before the due date the reminder comes." }),
      opportunity,
    },
    "The reminder of a due date.",
  ),
  object({ kind: Type.Literal("left"), opportunity }, "The opportunity no longer matches."),
]);

const count = Type.Integer({ minimum: 0 });
const MessageCounts = object(
  { new: count, changed: count, due: count, left: count },
  "What the message is about. `events` has all of it unless the message is a digest.",
);

/** The message that webhooks and programs get. Its schema is published (docs/reference/schemas). */
export const Message = object({
  id: Type.String({ description: "The same at every attempt to deliver the message." }),
  type: Type.Union([Type.Literal("watch.changes"), Type.Literal("watch.test")]),
  timestamp: Type.String({ format: "date-time", description: "When the message was made." }),
  data: object({
    watch: Type.String({ description: "Name of the watch." }),
    title: Type.Optional(Type.String({ description: "What its member calls the watch." })),
    note: Type.Optional(Type.String({ description: "The note of the watch." })),
    filter: Type.Unsafe<Filter>({ type: "object", description: "The filter of the watch, as it was given." }),
    counts: MessageCounts,
    muted: Type.Optional(
      Type.Integer({ description: "How many opportunities the watch says nothing about, because they are muted.", minimum: 0 }),
    ),
    severities: Type.Optional(
      Type.Record(Type.String(), count, {
        description: "How many of the changes have each severity. Only digests have it: they do not have every change.",
      }),
    ),
    events: Type.Array(MessageItem),
  }),
});

export type MessageOpportunity = Static<typeof MessageOpportunity>;
export type MessageItem = Static<typeof MessageItem>;
export type MessageCounts = Static<typeof MessageCounts>;
export type Message = Static<typeof Message>;

export const NOTHING_COUNTED: MessageCounts = { new: 0, changed: 0, due: 0, left: 0 };

/** "2 new, 3 changed, 1 due soon, 1 no longer matching" */
export function countsInWords(counts: MessageCounts): string {
  const parts = [
    [counts.new, "new"],
    [counts.changed, "changed"],
    [counts.due, "due soon"],
    [counts.left, "no longer matching"],
  ] as const;
  return parts.flatMap(([count, what]) => (count > 0 ? [`${withCommas(count)} ${what}`] : [])).join(", ");
}

const MESSAGE_BYTES_MAX = 256 * 1024;

/** A larger opportunity or event is cut further, so that both fit into a message. */
const PART_BYTES_MAX = 100_000;
/** With the last limits, an opportunity of any content has less than PART_BYTES_MAX. */
const attempts = [2000, 1000, 500, 250, 125, 62].map((characters) => ({ characters, items: Math.floor(characters / 20) }));

function cutPart<T>(part: T): T {
  return cutTo(part, PART_BYTES_MAX, { attempts, mark: CUT }).value;
}

/** A row, the other records of the opportunity, and when it is due. */
export type MessageRow = Pick<FeedEntry, "opportunity" | "duplicates" | "due">;

/** An opportunity as messages show it. */
export function messageOpportunity({ opportunity, duplicates, due }: MessageRow): MessageOpportunity {
  const { contacts, description, value_estimate, ...rest } = withoutSidecar(opportunity);
  return cutPart({ ...rest, ...briefOf(opportunity, due, duplicates) });
}

/** An event as messages show it: without the values of contacts, and without long texts and lists. */
export function messageEvent(event: OpportunityEvent): OpportunityEvent {
  const shown = cutPart(withoutContactValues(event));
  const changes = shown.changes.filter(isObject); // Without the mark of a cut list.
  if (jsonBytes(shown) <= PART_BYTES_MAX) return { ...shown, changes };
  return { ...shown, changes: changes.map(({ field }) => ({ field, previous: CUT, current: CUT })) }; // Deeply nested values.
}

/** The bytes left for items, given the message without them. */
export function roomIn(empty: Message): number {
  return MESSAGE_BYTES_MAX - jsonBytes(empty);
}

/** The items of one message: as many as its limits allow, and at least one. */
export function itemsUpTo(itemsMax: number, bytesMax: number) {
  const items: MessageItem[] = [];
  let bytes = 0;
  let isFull = false;
  return {
    items,
    room: () => (isFull ? 0 : itemsMax - items.length),
    add: (more: readonly MessageItem[]): number => {
      for (const [added, item] of more.entries()) {
        bytes += jsonBytes(item) + 1;
        isFull ||= items.length > 0 && bytes > bytesMax;
        if (isFull) return added;
        items.push(item);
      }
      return more.length;
    },
  };
}
