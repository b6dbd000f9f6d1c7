/** How a question was understood, and what answers it, in sentences for people and agents. */
import { agencyInWords } from "../agencies/understand.ts";
import { describeFilter, type Filter } from "../filter/filter.ts";
import { capitalized, withCommas } from "../text/in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import { quoted } from "../text/quoted.ts";
import type { Preferred } from "./preferred.ts";

/** How a question was understood. */
export type Understood = {
  /** The words that were looked for. */
  words: string[];
  /** Words that must not be there. */
  excluded: string[];
  /** Words that few or no records have, with the corrections that were also looked for. */
  corrections: { asked: string; also: string; records: number }[];
  /** Synonyms that were also looked for. */
  synonyms: { asked: string; also: string[] }[];
  /** Preferences in the question, and the filters that make them strict. */
  preferences: Preferred[];
  /** Words that name an agency, with its code. Records of the agency are found, too. */
  agencies: { asked: string; code: string }[];
  /** Phrases that no record has, or none that meets the filters, so their words were looked for anywhere. */
  loosened: { phrases: string[]; isFiltered: boolean } | null;
  /** What was typed of a number, if no number is so and some begin so: these were found, too. */
  cutNumber: string | null;
  /** Whether the question is in Spanish. */
  isSpanish: boolean;
};

/** How many opportunities match, and how many more have only some of the words. These are minimums if `isAll` is false. */
export type Matched = { matching: number; partial: number; isAll: boolean };

/** Sentences without a period: how the words were read. */
export function readingInWords({ corrections, synonyms, agencies, excluded, loosened, cutNumber, isSpanish }: Understood): string[] {
  const sentences = isSpanish ? ["The texts are in English: words in Spanish find little (los textos están en inglés)"] : [];
  const corrected = corrections.map(({ asked, also, records }) => {
    const has = records === 0 ? "no record has" : records === 1 ? "one record has" : `only ${records} records have`;
    return `Also looked for ${quoted(also)}: ${has} ${quoted(asked)}`;
  });
  sentences.push(...corrected);
  for (const { asked, also } of synonyms) {
    const more = also.length > NAMES_SHOWN ? ` and ${also.length - NAMES_SHOWN} more` : "";
    const names = also.length === 1 ? "another name of" : "other names of";
    sentences.push(`Also looked for ${also.slice(0, NAMES_SHOWN).join(", ")}${more}: ${names} ${quoted(asked)}`);
  }
  for (const { asked, code } of agencies) sentences.push(`${quoted(asked)} also finds what is of ${agencyInWords(code)}`);
  if (cutNumber !== null) sentences.push(`Also looked for numbers that begin with ${quoted(cutNumber)}: none is exactly that`);
  if (excluded.length > 0) sentences.push(`Without what has ${excluded.map(quoted).join(" or ")}`);
  if (loosened !== null) {
    const nothing = loosened.isFiltered ? "Nothing that meets the filters has" : "No record has";
    sentences.push(`${nothing} ${loosened.phrases.map((phrase) => quoted(phrase)).join(" and ")}; the words were looked for anywhere`);
  }
  return sentences;
}

/** The most synonyms in a sentence. */
const NAMES_SHOWN = 4;

/**
 * A sentence for each preference: 'Understood "over $2 million" as awards of $2,000,000 or more (--min-amount 2000000, 12 of these)'. `how`
 * tells how to use only that filter.
 */
export function preferencesInWords({ preferences }: Understood, now: EpochMs, how: (filter: Filter) => string): string[] {
  return preferences.map((preferred) => `${preferenceInWords(preferred, now)} (${how(preferred.filter)}${ofThese(preferred)})`);
}

/** 'Understood "over $2 million" as awards of $2,000,000 or more'. */
export function preferenceInWords({ asked, filter: { words, ...others } }: Preferred, now: EpochMs): string {
  const excluded =
    words === undefined
      ? []
      : words
          .slice(1)
          .split(" -")
          .map((word) => quoted(word));
  const meant = [...describeFilter(others, now), ...(excluded.length === 0 ? [] : [`without ${excluded.join(" or ")}`])];
  return `Understood ${quoted(asked)} as ${meant.join(" and ")}`;
}

function ofThese({ opportunities }: Preferred): string {
  return opportunities === null ? "" : `, ${opportunities === 0 ? "none" : withCommas(opportunities)} of these`;
}

/** "12 match; 148 more have some of these words"; null if there is only one number to report, which is the total. */
export function matchedInWords({ matching, partial, isAll }: Matched): string | null {
  if (partial === 0) return null;
  const some = `${partial === 1 ? "has" : "have"} some of these words`;
  if (matching === 0) return `nothing matches; ${atLeast(partial, isAll)} ${some}`;
  return `${atLeast(matching, isAll)} ${matching === 1 ? "matches" : "match"}; ${atLeast(partial, isAll)} more ${some}`;
}

/** The same as a sentence, which adds that partial matches are only listed among the best matches. */
export function matchedElsewhere(matched: Matched, where: string): string[] {
  const sentence = matchedInWords(matched);
  return sentence === null ? [] : [`${capitalized(sentence)}${where}`];
}

/** The line between matches and partial matches. `isWeak`: no result has most of the words. */
export function partialInWords({ matching, partial, isAll, isWeak }: Matched & { isWeak: boolean }): string {
  if (isWeak) return "Nothing has most of your words; nearest";
  const more = matching === 0 ? "" : " more";
  return `${capitalized(atLeast(partial, isAll))}${more} ${partial === 1 ? "has" : "have"} some of these words`;
}

function atLeast(records: number, isAll: boolean): string {
  return `${isAll ? "" : "at least "}${withCommas(records)}`;
}

/** "3 of 4 words; without: sonar", other names, or that the words are far apart; null if a result plainly has all of them. */
export function missingInWords({ missing, named, isFar }: Lacking, { words }: Pick<Understood, "words">): string | null {
  if (isFar) return "all words, but far apart";
  const others = named.length === 0 ? "" : `another name of ${named.join(", ")}`;
  if (missing.length === 0) return others || null;
  const has = words.length - missing.length - named.length;
  const parts = [has === 0 && named.length > 0 ? "" : `${has} of ${words.length} words`, others, `without: ${missing.join(", ")}`];
  return parts.filter((part) => part !== "").join("; ");
}

type Lacking = { missing: readonly string[]; named: readonly string[]; isFar: boolean };
