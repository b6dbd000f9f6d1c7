/** The conditions on events that history and what_changed share. */
import { eventTypes, type Severity, severities } from "../../events/event.ts";
import { dateInWords, timeInWords } from "../../text/date-in-words.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { PAST, readMoment, SINCE } from "../../text/moment.ts";
import { quoted } from "../../text/quoted.ts";
import { BadValue } from "../../text/read-value.ts";
import { choice, choices, integer } from "../../text/value.ts";
import { cursorArgument } from "../arguments.ts";
import { knownOrQuoted } from "../upstream-text.ts";

export const EVENTS_DEFAULT = 20;
const EVENTS_MAX = 100;

export const eventArguments = {
  types: choices(eventTypes),
  at_least: choice(severities, "This severity or a higher one. Default: informational, which leaves out changes of wording and order."),
  limit: integer(1, EVENTS_MAX, EVENTS_DEFAULT),
  cursor: cursorArgument,
};
export const SINCE_FORMS = "7d (7 days ago; also h and w), monday, 2026-11-30 (midnight, US Eastern time), a timestamp or all.";
export const AT_LEAST_DEFAULT: Severity = "informational";

type EventConditions = { types: string[] | undefined; atLeast: Severity; since: EpochMs | undefined; until: EpochMs | undefined };

/** Conditions on events as they were given: a time such as `-7d` is resolved when it is used. */
export type GivenConditions = { types?: string[]; at_least: Severity; since?: string; until?: string };

/** Throws if no event can meet them. */
export function conditionsOf({ types, at_least, since, until }: GivenConditions, now: EpochMs): EventConditions {
  const begin = since === undefined ? "all" : readMoment(since, now, SINCE);
  const end = until === undefined ? undefined : readMoment(until, now, PAST);
  const conditions = { types, atLeast: at_least, since: begin === "all" ? undefined : begin, until: end };
  if (conditions.since !== undefined && conditions.until !== undefined && conditions.since >= conditions.until)
    throw new BadValue(`"since" (${since}) must be earlier than "until" (${until})`);
  return conditions;
}

export function describeEvents({ types, atLeast, since, until }: EventConditions): string[] {
  return [
    `severity ${severities.slice(severities.indexOf(atLeast)).join(" or ")}`,
    ...(types === undefined ? [] : [`type ${types.join(" or ")}`]),
    ...(since === undefined ? [] : [`detected after ${timeInWords(formatInstant(since))}`]),
    ...(until === undefined ? [] : [`detected up to ${timeInWords(formatInstant(until))}`]),
  ];
}

export function eventInWords({ detected_at, severity, in_words }: { detected_at: string; severity: string; in_words: string }): string {
  return `${dateInWords(detected_at)}, ${knownOrQuoted(severity, severities)}: ${quoted(in_words)}`;
}
