/**
 * A member's choices for a watch in a form, besides the search: reads them, refuses them with a reason for each field, and puts them into
 * words.
 */

import { type Severity, severities } from "../events/event.ts";
import { BadValue } from "../text/bad-value.ts";
import { capitalized } from "../text/capitalized.ts";
import { oneLine } from "../text/terminal-text.ts";
import { findZone } from "../text/zone-name.ts";
import { type ChannelHost, readChannel, sealChannel } from "./member-channel.ts";
import { readSchedule, type Schedule } from "./schedule.ts";
import type { Receiver, WatchDefinition, Zone } from "./watch.ts";

type Choices = Pick<WatchDefinition, "title" | "at_least" | "remind" | "every" | "zone">;

/** The reason of refusal, by field. */
type Refusals = ReadonlyMap<string, string>;

const TITLE_MAX = 80;
/** The most reminders of one deadline, and how many days before it the first may be sent. */
const [REMINDERS_MAX, REMIND_DAYS_MAX] = [5, 365];

/** The days of a schedule, in words; "now" means no schedule. */
export const WHEN: Readonly<Record<string, string>> = {
  now: "when something changes",
  day: "every day",
  ...Object.fromEntries(
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].map((day) => [day, `every ${capitalized(day)}`]),
  ),
};

/** The zones of the United States as people there call them. */
export const ZONES: Readonly<Record<Zone, string>> = {
  "America/New_York": "Eastern",
  "America/Chicago": "Central",
  "America/Denver": "Mountain",
  "America/Phoenix": "Arizona",
  "America/Los_Angeles": "Pacific",
  "America/Anchorage": "Alaska",
  "Pacific/Honolulu": "Hawaii",
  "America/Puerto_Rico": "Puerto Rico",
  "Pacific/Guam": "Guam",
  UTC: "UTC",
};

/** "Eastern time", or "the time zone Europe/Berlin" */
export function zoneInWords(zone: Zone): string {
  const name = ZONES[zone];
  return name === undefined ? `the time zone ${zone}` : zone === "UTC" ? name : `${name} time`;
}

/** What is reported, by minimum severity. */
export const AT_LEAST: Readonly<Partial<Record<Severity, string>>> = {
  material: "changes that matter (recommended)",
  critical: "only critical changes, such as an earlier deadline",
  informational: "smaller changes too",
  cosmetic: "every change of wording",
};

/** Where messages go: to the mailbox, to the channel that the watch has, or to the channel of this address. */
type Place = "mailbox" | "present" | URL;

/** The context for reading a form: the allowed hosts of channels, and the watch that it changes. */
type FormContext = { hosts: readonly ChannelHost[]; receiver: Receiver | undefined };

/** The choices of a form, or why they are refused. */
export function readWatchForm(form: URLSearchParams, context: FormContext): { choices: Choices; place: Place } | { refusals: Refusals } {
  const refusals = new Map<string, string>();
  const read = <T>(field: string, make: (text: string) => T): T | undefined => {
    try {
      return make((form.get(field) ?? "").trim());
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      refusals.set(field, error.message);
      return undefined;
    }
  };
  const title = read("title", readTitle);
  const at_least = read(
    "at_least",
    (text) => severities.find((each) => each === text && text in AT_LEAST) ?? refuse("Choose which changes."),
  );
  const every = read("time", (time) => readEvery(form.get("when") ?? "", time));
  const zone = read("zone", readZone);
  const remind = read("remind", readReminders);
  const place = read("to", (to) => (to === "channel" ? read("channel", (text) => readPlace(text, context)) : "mailbox"));
  if (!title || !at_least || !zone || !remind || !place || refusals.size > 0) return { refusals };
  return { choices: { title, at_least, ...(remind.length > 0 && { remind }), ...(every !== undefined && { every }), zone }, place };
}

function refuse(reason: string): never {
  throw new BadValue(reason);
}

function readPlace(text: string, { hosts, receiver }: FormContext): Place {
  return text === "" && receiver?.to === "channel" ? "present" : readChannel(text, hosts);
}

/** The receiver that a form chose. */
export function receiverOf(place: Place, present: Receiver | undefined, secret: Uint8Array): Receiver {
  if (place instanceof URL) return sealChannel(place, secret);
  return place === "present" && present !== undefined ? present : { to: "member" };
}

function readTitle(text: string): string {
  const title = oneLine(text);
  if (title === "" || title.length > TITLE_MAX || !title.isWellFormed()) refuse(`Give it a name of 1 to ${TITLE_MAX} characters.`);
  return title;
}

function readEvery(when: string, time: string): Schedule | undefined {
  if (when === "now") return undefined;
  const every = when in WHEN ? readSchedule(`${when} ${time}`) : refuse("Choose a day.");
  return every ?? refuse("Choose a time, such as 08:00.");
}

function readZone(text: string): Zone {
  return findZone(text) ?? refuse("Choose a time zone of the list.");
}

function readReminders(text: string): number[] {
  const days = text.split(/[\s,;]+/).filter((each) => each !== "");
  const isRight = days.length <= REMINDERS_MAX && days.every((each) => /^\d{1,3}$/.test(each) && Number(each) <= REMIND_DAYS_MAX);
  if (!isRight) refuse(`Give up to ${REMINDERS_MAX} numbers of days, each at most ${REMIND_DAYS_MAX}, such as 14, 3.`);
  return [...new Set(days.map(Number))].sort((one, other) => other - one);
}

/** "Mondays at 8 in the morning, Eastern" */
export function scheduleInWords({ every, zone }: Pick<WatchDefinition, "every" | "zone">): string {
  if (every === undefined) return "when something changes";
  const [day = "", time = ""] = every.split(" ");
  return `${day === "day" ? "every day" : `${capitalized(day)}s`} at ${timeOfDay(time)}, ${ZONES[zone] ?? zone}`;
}

/** "8 in the morning" of "08:00" */
export function timeOfDay(time: string): string {
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  if (minute === 0 && hour % 12 === 0) return hour === 0 ? "midnight" : "noon";
  const clock = `${hour % 12 || 12}${minute === 0 ? "" : `:${time.slice(3)}`}`;
  return `${clock} in the ${hour < 12 ? "morning" : hour < 18 ? "afternoon" : "evening"}`;
}
