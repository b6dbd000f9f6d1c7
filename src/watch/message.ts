/** The messages of watches, as JSON. The renderers for mail and Slack start from the same message. */
import { withoutContactValues } from "../changes/contacts.ts";
import type { OpportunityEvent } from "../events/event.ts";
import type { Filter } from "../filter/filter.ts";
import type { Opportunity } from "../opportunities/opportunity.ts";
import { numberOf } from "../search/number.ts";

/** An opportunity as the API returns it, without contacts, which are personal data, and without its description, which can be long. */
export type MessageOpportunity = { number: string } & Omit<Opportunity, "contacts" | "description" | "value_estimate">;

/**
 * - `new`: the opportunity matches now and did not before.
 * - `changed`: an opportunity that matches, or did until now, has changed.
 * - `left`: the opportunity no longer matches.
 */
export type Item =
  | { kind: "new"; opportunity: MessageOpportunity }
  | { kind: "changed"; event: OpportunityEvent; opportunity: MessageOpportunity }
  | { kind: "left"; opportunity: MessageOpportunity };

export type Counts = { new: number; changed: number; left: number };

export type Message = {
  /** The same at every attempt to deliver the message. */
  id: string;
  type: "watch.changes" | "watch.test";
  /** When the message was made. */
  timestamp: string;
  data: {
    watch: string;
    filter: Filter;
    /** What the message is about. `events` has all of it unless the message is a digest. */
    counts: Counts;
    events: readonly Item[];
  };
};

/** The longest text of a message. Longer ones are cut, and end with "…". */
const TEXT_MAX = 2000;

/** An opportunity as messages show it. */
export function messageOpportunity(opportunity: Opportunity): MessageOpportunity {
  const { contacts: _, description: __, value_estimate: ___, ...rest } = opportunity;
  return cutTexts({ number: numberOf(opportunity), ...rest }) as MessageOpportunity;
}

/** An event as messages show it: without the values of contacts, and without long texts. */
export function messageEvent(event: OpportunityEvent): OpportunityEvent {
  return cutTexts(withoutContactValues(event)) as OpportunityEvent;
}

function cutTexts(value: unknown): unknown {
  if (typeof value === "string") return value.length <= TEXT_MAX ? value : `${value.slice(0, TEXT_MAX).toWellFormed()}…`;
  if (Array.isArray(value)) return value.map(cutTexts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cutTexts(inner)]));
}
