/** How a question was understood, and what answers it, in sentences for people and agents. */
import { agencyInWords } from "../agencies/understand.ts";
import { capitalized } from "../text/capitalized.ts";
import { withCommas } from "../text/counted.ts";
import { quoted } from "../text/quoted.ts";

/** How a question was understood. */
export type Understood = {
  /** The words that were looked for. */
  words: string[];
  /** Words that must not be there. */
  excluded: string[];
  /** Words that few records have or none, and what was looked for, too. */
  corrections: { asked: string; also: string; records: number }[];
  /** Words that mean an agency, and our code of it: what is of the agency was found, too. */
  agencies: { asked: string; code: string }[];
  /** Whether the words of a phrase were looked for anywhere, because no record has the phrase. */
  isPhraseLoosened: boolean;
};

/** How many opportunities match, and how many more have only some of the words; at least so many, if `isAll` is false. */
export type Matched = { matching: number; partial: number; isAll: boolean };

/** Sentences without a period: how the words were read. */
export function readingInWords({ corrections, agencies, excluded, isPhraseLoosened }: Understood): string[] {
  const sentences = corrections.map(({ asked, also, records }) => {
    const has = records === 0 ? "no record has" : records === 1 ? "one record has" : `only ${records} records have`;
    return `Also looked for ${quoted(also)}: ${has} ${quoted(asked)}`;
  });
  for (const { asked, code } of agencies) sentences.push(`${quoted(asked)} also finds what is of ${agencyInWords(code)}`);
  if (excluded.length > 0) sentences.push(`Without what has ${excluded.map(quoted).join(" or ")}`);
  if (isPhraseLoosened) sentences.push("No record has the phrase, so its words were looked for anywhere");
  return sentences;
}

/** "12 match; 148 more have some of these words"; null if only one number is to be told, which is the total. */
export function matchedInWords({ matching, partial, isAll }: Matched): string | null {
  if (partial === 0) return null;
  const some = `${partial === 1 ? "has" : "have"} some of these words`;
  if (matching === 0) return `nothing matches; ${atLeast(partial, isAll)} ${some}`;
  return `${atLeast(matching, isAll)} ${matching === 1 ? "matches" : "match"}; ${atLeast(partial, isAll)} more ${some}`;
}

/** The same as a sentence, with where the others are: they are only among the best matches. */
export function matchedElsewhere(matched: Matched, where: string): string[] {
  const sentence = matchedInWords(matched);
  return sentence === null ? [] : [`${capitalized(sentence)}${where}`];
}

/** The line between what matches and what has only some of the words. */
export function partialInWords({ matching, partial, isAll }: Matched): string {
  const more = matching === 0 ? "" : " more";
  return `${capitalized(atLeast(partial, isAll))}${more} ${partial === 1 ? "has" : "have"} some of these words`;
}

function atLeast(records: number, isAll: boolean): string {
  return `${isAll ? "" : "at least "}${withCommas(records)}`;
}

/** "3 of 4 words; without: sonar"; null if none is missing. */
export function missingInWords(missing: readonly string[], { words }: Understood): string | null {
  if (missing.length === 0) return null;
  return `${words.length - missing.length} of ${words.length} words; without: ${missing.join(", ")}`;
}
