/** What tells rounds of one call from other calls: their numbers, titles and dates. */
import { DAY_MS, type EpochMs, parseStoredMs } from "../text/instant.ts";
import { wordsOf } from "../text/words-of.ts";
import { numberKeyOf, type WholeOpportunity } from "./opportunity.ts";

/** The least time between two rounds: the same goods may be bought twice in a month. */
export const ROUND_MS = 150 * DAY_MS;

/** Purchases of goods, "59--FILTER,LOW PASS": the same ones are bought again and again. */
export const GOODS = /^\w{1,4}--/;

/** Two digits above these are a year of the last century. */
const CENTURY = 70;

/** Whether two numbers are the same but for their digits, as PD-23-7236 and PD-20-7236 are. */
export function isNextNumber(one: string, other: string): boolean {
  const [key, otherKey] = [numberKeyOf(one), numberKeyOf(other)];
  const shape = (text: string) => text.replace(/\d+/g, "0");
  return key !== otherKey && /\d/.test(key) && shape(key) === shape(otherKey);
}

/** The year in a number, as in PD-23-7236, A88-136 and FOA-2024-1; NaN without one. */
export function yearOf(number: string): number {
  const [year = ""] = /(?<!\d)(?:20[0-3]\d|\d\d)(?!\d)/.exec(number) ?? [];
  return year === "" ? Number.NaN : Number(year) + (year.length === 4 ? 0 : Number(year) > CENTURY ? 1900 : 2000);
}

/** The words of a title by which rounds are compared: years and other numbers do not count. */
export function titleWordsOf(title: string): Set<string> {
  return new Set(wordsOf(title).filter((word) => !/\d/.test(word)));
}

/** When it was posted, else when it opened; NaN if neither is known. */
export function beganAt({ dates }: Pick<WholeOpportunity, "dates">): EpochMs {
  return parseStoredMs(dates.posted_at ?? dates.opens_at) ?? Number.NaN;
}
