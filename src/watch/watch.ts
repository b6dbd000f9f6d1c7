/** A watch: a saved search, and where messages about its changes go. */
import type { pending, watches } from "../../db/schema/sqlite/watch.ts";
import { type EventType, eventTypes, type Severity } from "../events/event.ts";
import type { Filter } from "../filter/filter.ts";
import type { MessageCounts } from "./message.ts";
import type { Schedule } from "./schedule.ts";

/** watch.db holds the name of a file or of a variable, never the secret. */
export type SecretPlace = { file: string } | { variable: string };

/** A URL that is itself a secret is in a file or a variable. */
export type HttpReceiver = {
  url: { text: string } | SecretPlace;
  allow_private: boolean;
  allow_http: boolean;
};

export type WebhookReceiver = HttpReceiver & { to: "webhook"; secret: SecretPlace };
/** Slack, a program that takes its incoming webhooks, or Teams. */
type ChatReceiver<To extends "slack" | "teams"> = HttpReceiver & { to: To; url: SecretPlace };
/** Several addresses are separate receivers, so that what one refused is not sent to the others again. */
export type MailReceiver = { to: "smtp"; url: SecretPlace; mail_from: string; mail_to: string };
/** The address is read from state.db for each message, so that a member who was removed gets none. */
type MemberReceiver = { to: "member" };
export type ChannelReceiver = { to: "channel"; host: string; sealed: string };
export type Receiver =
  | { to: "stdout" }
  | MemberReceiver
  | ChannelReceiver
  | WebhookReceiver
  | ChatReceiver<"slack">
  | ChatReceiver<"teams">
  | MailReceiver;

export type Zone = string;

/** Added opportunities are reported as the item "new" instead. */
export const changeTypes = eventTypes.filter((type) => type !== "opportunity_added");

export type WatchDefinition = {
  filter: Filter;
  /** Counts every record, instead of one for each opportunity. */
  all_sources?: true;
  at_least: Severity;
  types?: EventType[];
  /** The most days first. */
  remind?: number[];
  every?: Schedule;
  note?: string;
  title?: string;
  follows?: true;
  receiver: Receiver;
  zone: Zone;
};

/** Whether messages are for people: each covers everything since the last one, and only counts what exceeds its limit. */
export function isDigest({ receiver }: WatchDefinition): boolean {
  return ["smtp", "member", "channel", "slack", "teams"].includes(receiver.to);
}

/** Whether the receiver is a member or a member's channel. Both need the state, which says whether the member may still get it. */
export function isOfMember(receiver: Receiver): receiver is MemberReceiver | ChannelReceiver {
  return receiver.to === "member" || receiver.to === "channel";
}

type WatchRow = typeof watches.$inferSelect;
type PendingRow = typeof pending.$inferSelect;

/** For one of its receivers. Each has its own position, messages and state. */
export type Watch = Pick<WatchRow, "key" | "name" | "created_at" | "owner"> & { definition: WatchDefinition };

export type WatchStatus = Pick<WatchRow, "checked_at" | "delivered_at" | "delivered_total" | "failed_total" | "paused"> & {
  pending: PendingMessage | null;
};

export type PendingMessage = SentMessage &
  Pick<PendingRow, "mail" | "created_at" | "oldest_at"> & { attempts: Attempts; counts: MessageCounts };

export type SentMessage = Pick<PendingRow, "id" | "body">;

/** It has been failing for `failing_ms`, as far as the clock can be trusted. */
export type Attempts = Pick<PendingRow, "count" | "at" | "wait_ms" | "failing_ms" | "error">;

export const NAME_RULE = "It must have 1 to 64 letters, digits, dots, dashes or underscores, and begin with a letter or digit.";

/** Whether a text may name a watch. Names appear in messages, metrics and file names of services. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text);
}
