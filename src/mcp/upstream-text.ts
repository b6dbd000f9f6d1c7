/** Text that upstreams wrote: where it is in a result, and how a line of text says it. */
import type { TSchema } from "@sinclair/typebox";
import { dueDateOf, undatedInWords } from "../opportunities/clock.ts";
import { statuses } from "../opportunities/opportunity.ts";
import { timeInWords } from "../text/date-in-words.ts";
import { type EpochMs, parseStoredMs } from "../text/instant.ts";
import { quoted } from "../text/quoted.ts";
import { relativeTime } from "../text/relative-time.ts";

/** The paths of all texts of a schema that have no fixed form: upstreams wrote them. */
export function upstreamTexts({ type, anyOf, items, properties, format, pattern, const: fixed }: TSchema, path: string): string[] {
  if (anyOf !== undefined) return [...new Set((anyOf as TSchema[]).flatMap((each) => upstreamTexts(each, path)))];
  if (type === "array") return upstreamTexts(items, `${path}[]`);
  if (type === "object")
    return Object.entries(properties as Record<string, TSchema>).flatMap(([name, each]) => upstreamTexts(each, `${path}.${name}`));
  const isFree = type === undefined || (type === "string" && format === undefined && pattern === undefined && fixed === undefined);
  return isFree ? [path] : [];
}

/** The number that people call an opportunity by; "–" if it has none. */
export function quotedNumber(number: string | null): string {
  return `number ${number === null ? "–" : quoted(number)}`;
}

/** A value of a list of our own as it is; any other text in quotes. */
export function knownOrQuoted(text: string, known: readonly string[]): string {
  return known.includes(text) ? text : quoted(text);
}

/** A source code, in quotes if it does not look like one. */
export function codeInWords(code: string): string {
  return /^[A-Z0-9_.-]{1,64}$/.test(code) ? code : quoted(code);
}

type Stated = { status: string; closes_at: string | null; response_at: string | null; posted_at: string | null };

/** "open; due in 12 days (Dec 4, 2026, 5:00 PM ET)" */
export function stateInWords({ status, ...dates }: Stated, now: EpochMs): string {
  const state = knownOrQuoted(status, statuses);
  const due = dueDateOf(dates, now);
  const at = parseStoredMs(due);
  if (due === null || at === undefined) return `${state}; ${undatedInWords({ dates })}`;
  const when = `${relativeTime(at, now)} (${timeInWords(due)})`;
  if (at < now) return `${state}; the closing date was ${when}`;
  return due === dates.closes_at ? `${state}; closes ${when}` : `${state}; due ${when}`;
}
