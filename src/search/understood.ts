/** How a question was understood, and what answers it, in sentences for people and agents. */
import { agencyInWords } from "../agencies/understand.ts";
import { capitalized } from "../text/capitalized.ts";
import { withCommas } from "../text/counted.ts";
import { quoted } from "../text/quoted.ts";

/** How a question was understood, and how many records answer it. */
export type Understood = {
  /** The words that were looked for. */
  words: string[];
  /** Words that no record has, and what was looked for instead. */
  corrections: { asked: string; instead: string }[];
  /** Words that mean an agency, and our code of it: what is of the agency was found, too. */
  agencies: { asked: string; code: string }[];
  /** Whether the words of a phrase were looked for anywhere, because no record has the phrase. */
  isPhraseLoosened: boolean;
  /** Records that have all words, and that have any of them; at least so many, if `isAll` is false. */
  every: number;
  any: number;
  isAll: boolean;
};

/** Sentences without a period: how the question was read, and how many records have all of its words. */
export function understoodInWords(understood: Understood): string[] {
  const every = everyInWords(understood);
  return [...readingInWords(understood), ...(every === null ? [] : [every])];
}

/** What was changed in the question. */
export function readingInWords({ corrections, agencies, isPhraseLoosened }: Understood): string[] {
  const sentences = corrections.map(({ asked, instead }) => `Showing ${quoted(instead)} instead of ${quoted(asked)}, which no record has`);
  for (const { asked, code } of agencies) sentences.push(`${quoted(asked)} also finds what is of ${agencyInWords(code)}`);
  if (isPhraseLoosened) sentences.push("No record has the phrase, so its words were looked for anywhere");
  return sentences;
}

/** "13 with all 2 words", as a short form; null if one word was looked for, or nothing has any of them. */
export function everyInShort({ words, every, any, isAll }: Understood): string | null {
  return words.length < 2 || any === 0 ? null : `${counted(every, isAll)} with all ${words.length} words`;
}

function counted(records: number, isAll: boolean): string {
  return `${isAll ? "" : "at least "}${withCommas(records)}`;
}

function everyInWords({ words, every, any, isAll }: Understood): string | null {
  if (words.length < 2 || any === 0) return null;
  const count = (records: number) => counted(records, isAll);
  const all = every === 0 ? "No record has" : every === 1 && isAll ? "1 record has" : `${capitalized(count(every))} records have`;
  return `${all} all ${words.length} words, ${count(any)} any of them`;
}

/** "3 of 4 words; without: sonar"; null if none is missing. */
export function missingInWords(missing: readonly string[], { words }: Understood): string | null {
  if (missing.length === 0) return null;
  return `${words.length - missing.length} of ${words.length} words; without: ${missing.join(", ")}`;
}
