/** The form of a member's watch, besides its search. One declaration of each field says how it is labelled, shown, read and refused. */
import type { Severity } from "../events/event.ts";
import { capitalized } from "../text/in-words.ts";
import { BadValue } from "../text/read-value.ts";
import { oneLine } from "../text/terminal-text.ts";
import { findZone } from "../text/zone-name.ts";
import { readChannel, sealChannel } from "./member-channel.ts";
import { readSchedule, WEEKDAYS } from "./schedule.ts";
import type { Receiver, WatchDefinition, Zone } from "./watch.ts";

const TITLE_MAX = 80;
const [REMINDERS_MAX, REMIND_DAYS_MAX] = [5, 365];

type Texts = Readonly<Record<string, string>>;

/** The days of a schedule, in words; "now" means no schedule. */
const WHEN: Texts = {
  now: "when something changes",
  day: "every day",
  ...Object.fromEntries(WEEKDAYS.map((day) => [day, `every ${capitalized(day)}`])),
};

/** The hours as people say them, from five in the morning on. */
const TIMES: Texts = Object.fromEntries(
  Array.from({ length: 24 }, (_, n) => `${(n + 5) % 24}:00`.padStart(5, "0")).map((time) => [time, timeOfDay(time)]),
);

const ZONES: Texts = {
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

const AT_LEAST: Texts = {
  material: "changes that matter (recommended)",
  critical: "only critical changes, such as an earlier deadline",
  informational: "smaller changes too",
  cosmetic: "every change of wording",
};

const PLACES: Texts = { member: "my mailbox", channel: "a channel in Teams" };
const WORKFLOW = "In Teams, make the workflow “Send webhook alerts to a channel”, and copy the address that it shows.";

type Definition = Partial<WatchDefinition>;
/** A choice that is undefined removes what the watch has. */
type Choice = { [name in keyof WatchDefinition]?: WatchDefinition[name] | undefined };
/** What a form is read with: the allowed hosts of channels, the receiver that the watch has, and the secret that seals another one. */
type FormContext = { hosts: readonly string[]; receiver: Receiver | undefined; secret: Uint8Array };

type FormField = {
  label: string;
  help?: (watch: Definition) => string;
  /** The values that are offered; without them, one is typed. */
  options?: Texts;
  input?: { type?: string; required?: boolean; inputmode?: "numeric" };
  /** The text of what a watch has, if that is not its value. */
  shown?: (watch: Definition) => string;
  /** Throws a BadValue. `also` returns the text of another field. */
  read?: (text: string, also: (name: string) => string, context: FormContext) => Choice;
};

export const FIELDS: Readonly<Record<string, FormField>> = {
  title: { label: "Name", input: { required: true }, read: readTitle },
  to: { label: "Where to", options: PLACES, shown: ({ receiver = { to: "member" } }) => receiver.to },
  channel: {
    label: "Address of the channel (if to Teams)",
    help: ({ receiver }) => (receiver?.to === "channel" ? `Empty for the one that it has, at ${receiver.host}. ${WORKFLOW}` : WORKFLOW),
    input: { type: "url" },
    read: (text, also, { hosts, receiver, secret }) => {
      if (also("to") !== "channel") return { receiver: { to: "member" } };
      return text === "" && receiver?.to === "channel" ? {} : { receiver: sealChannel(readChannel(text, hosts), secret) };
    },
  },
  when: { label: "When", options: WHEN, shown: ({ every = "now" }) => every.replace(/ .*/, "") },
  time: {
    label: "At what time",
    help: () => "For mails every day, or on a day of the week",
    options: TIMES,
    shown: ({ every = "day 08:00" }) => every.replace(/.* /, ""),
    read: (time, also) => {
      const when = also("when");
      if (!Object.hasOwn(WHEN, when)) refuse("Choose a day.");
      if (when === "now") return { every: undefined };
      return { every: readSchedule(`${when} ${time}`) ?? refuse("Choose a time, such as 08:00.") };
    },
  },
  zone: {
    label: "Time zone",
    options: ZONES,
    read: (text) => ({ zone: findZone(text) ?? refuse("Choose a time zone of the list.") }),
  },
  at_least: {
    label: "Which changes",
    options: AT_LEAST,
    read: (text) => (Object.hasOwn(AT_LEAST, text) ? { at_least: text as Severity } : refuse("Choose which changes.")),
  },
  remind: {
    label: "Reminders, in days before a deadline (optional)",
    help: () => "For example: 14, 3",
    input: { inputmode: "numeric" },
    read: readReminders,
  },
};

/** The texts of what a watch has, by field. */
export function shownChoices(watch: Definition): Record<string, string> {
  const entries = Object.entries<FormField>(FIELDS).map(([name, { shown }]) => {
    return [name, shown?.(watch) ?? [watch[name as keyof Definition] ?? ""].flat().join(", ")];
  });
  return Object.fromEntries(entries);
}

/** The choices of a form, or why they are refused, by field. */
export function readWatchForm(form: URLSearchParams, context: FormContext): { choices: Choice } | { errors: ReadonlyMap<string, string> } {
  const textOf = (name: string) => (form.get(name) ?? "").trim();
  const [choices, errors] = [{}, new Map<string, string>()];
  for (const [name, { read }] of Object.entries(FIELDS)) {
    try {
      Object.assign(choices, read?.(textOf(name), textOf, context));
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      errors.set(name, error.message);
    }
  }
  return errors.size > 0 ? { errors } : { choices };
}

function refuse(reason: string): never {
  throw new BadValue(reason);
}

function readTitle(text: string): Choice {
  const title = oneLine(text);
  if (title === "" || title.length > TITLE_MAX || !title.isWellFormed()) refuse(`Give it a name of 1 to ${TITLE_MAX} characters.`);
  return { title };
}

function readReminders(text: string): Choice {
  const days = text.split(/[\s,;]+/).filter((each) => each !== "");
  const isRight = days.length <= REMINDERS_MAX && days.every((each) => /^\d{1,3}$/.test(each) && Number(each) <= REMIND_DAYS_MAX);
  if (!isRight) refuse(`Give up to ${REMINDERS_MAX} numbers of days, each at most ${REMIND_DAYS_MAX}, such as 14, 3.`);
  return { remind: days.length === 0 ? undefined : [...new Set(days.map(Number))].sort((one, other) => other - one) };
}

/** "Mondays at 8 in the morning, Eastern" */
export function scheduleInWords({ every, zone }: Pick<WatchDefinition, "every" | "zone">): string {
  if (every === undefined) return "when something changes";
  const [day = "", time = ""] = every.split(" ");
  return `${day === "day" ? "every day" : `${capitalized(day)}s`} at ${timeOfDay(time)}, ${ZONES[zone] ?? zone}`;
}

/** "Eastern time", or "the time zone Europe/Berlin" */
export function zoneInWords(zone: Zone): string {
  const name = ZONES[zone];
  return name === undefined ? `the time zone ${zone}` : zone === "UTC" ? name : `${name} time`;
}

/** "8 in the morning" of "08:00" */
function timeOfDay(time: string): string {
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  if (minute === 0 && hour % 12 === 0) return hour === 0 ? "midnight" : "noon";
  const clock = `${hour % 12 || 12}${minute === 0 ? "" : `:${time.slice(3)}`}`;
  return `${clock} in the ${hour < 12 ? "morning" : hour < 18 ? "afternoon" : "evening"}`;
}
