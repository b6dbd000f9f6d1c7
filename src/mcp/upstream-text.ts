/** Text that upstreams wrote: where it is in a result, and how a line of text says it. */
import type { TSchema } from "@sinclair/typebox";
import { statuses } from "../opportunities/opportunity.ts";
import { quoted } from "../text/quoted.ts";

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

/** "open; due Dec 4, 2026, 5:00 PM ET (in 12 days)" */
export function stateInWords({ status, due }: { status: string; due: string }): string {
  return `${knownOrQuoted(status, statuses)}; ${due}`;
}
