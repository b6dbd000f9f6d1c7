/** A watch: a saved search, and where messages about its changes go. */
import { type EventType, eventTypes, type Severity } from "../events/event.ts";
import type { Filter } from "../filter/filter.ts";
import type { EpochMs } from "../text/instant.ts";
import type { MessageCounts } from "./message.ts";
import type { Schedule } from "./schedule.ts";

/** Where a secret is. watch.db holds the name of a file or of an environment variable, never the secret. */
export type SecretPlace = { file: string } | { variable: string };

/** A receiver over HTTP. A URL that is itself a secret is in a file or a variable. */
export type HttpReceiver = {
  url: { text: string } | SecretPlace;
  /** Allows addresses of this machine and of private networks. */
  allow_private: boolean;
  /** Allows a URL without TLS. */
  allow_http: boolean;
};

export type WebhookReceiver = HttpReceiver & { to: "webhook"; secret: SecretPlace };
/** A channel of Slack (or of a program that takes its incoming webhooks) or of Teams. Its URL is a secret. */
type ChatReceiver<To extends "slack" | "teams" = "slack" | "teams"> = HttpReceiver & { to: To; url: SecretPlace };
/** One person or mailing list. Several addresses are separate receivers, so that a message that one refused is not sent to the others again. */
export type MailReceiver = { to: "smtp"; url: SecretPlace; mail_from: string; mail_to: string };
/** The member whose watch it is. The address is read from state.db for each message, so that a member who was removed gets none. */
type MemberReceiver = { to: "member" };
/** A channel of Teams that a member chose. Its URL is sealed, because it is a secret. */
export type ChannelReceiver = { to: "channel"; host: string; sealed: string };
export type Receiver =
  | { to: "stdout" }
  | MemberReceiver
  | ChannelReceiver
  | WebhookReceiver
  | ChatReceiver<"slack">
  | ChatReceiver<"teams">
  | MailReceiver;

/** The IANA zone in which messages for people show dates. */
export type Zone = string;

/** The types of events that are reported as changes. Added opportunities are reported as the item "new" instead. */
export const changeTypes = eventTypes.filter((type) => type !== "opportunity_added");

/** The part that a person entered. */
export type WatchDefinition = {
  filter: Filter;
  /** Counts every record, instead of one for each opportunity. */
  all_sources?: true;
  /** The minimum severity of the changes that are reported. */
  at_least: Severity;
  /** Only changes of these types are reported; by default, all. */
  types?: EventType[];
  /** How many days before a due date reminders are sent, the most days first. */
  remind?: number[];
  /** When messages are made, in the zone of the watch; by default, at every run. */
  every?: Schedule;
  /** What every message says about the watch. */
  note?: string;
  /** The member's name for the watch. */
  title?: string;
  /** True for the watch of followed opportunities. */
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

/** A watch, for one of its receivers. Each receiver has its own position, messages and state. */
export type Watch = {
  key: number;
  name: string;
  created_at: EpochMs;
  definition: WatchDefinition;
  /** The id of the member whose watch it is. */
  owner: string | null;
};

/** The state of a watch's deliveries. */
export type WatchStatus = {
  /** When it was last compared with the catalog, and the receiver had everything until then. */
  checked_at: EpochMs;
  /** When the last message was accepted. */
  delivered_at: EpochMs | null;
  /** Messages accepted, and attempts that failed, since the watch was added. */
  delivered_total: number;
  failed_total: number;
  /** The reason why the watch is paused. */
  paused: string | null;
  /** The message that is to be delivered next. */
  pending: PendingMessage | null;
};

/** A message that was planned and not yet accepted, with its attempts so far. */
export type PendingMessage = {
  id: string;
  /** The id of the mail to a member that it is part of; null before its first attempt. */
  mail: string | null;
  created_at: EpochMs;
  oldest_at: EpochMs;
  attempts: Attempts;
  body: string;
  counts: MessageCounts;
};

/** What a receiver gets, the same at every attempt: the id of the message, and its JSON. */
export type SentMessage = Pick<PendingMessage, "id" | "body">;

/** The failed attempts of a message in a row. */
export type Attempts = {
  count: number;
  /** When the last one began. */
  at: EpochMs | null;
  /** How long after it the next one may begin. */
  wait_ms: number;
  /** How long it has been failing, as far as the clock can be trusted. */
  failing_ms: number;
  /** Why the last one failed. */
  error: string | null;
};

export const NAME_RULE = "It must have 1 to 64 letters, digits, dots, dashes or underscores, and begin with a letter or digit.";

/** Whether a text may name a watch. Names appear in messages, metrics and file names of services. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text);
}
