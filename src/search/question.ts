/**
 * What a person asks for, read for the best match: groups of words, each of which counts on its own, and what must or must not occur. Any
 * text is a question: there is no syntax that could be wrong.
 */
import { stemOf, wordsOf } from "../text/words-of.ts";
import { agenciesIn } from "./agency-words.ts";
import type { KnownWord, Vocabulary } from "./vocabulary.ts";

/** A word that counts for what was asked. `weight` is less than 1 for another word of the same stem, and for a guess. */
type Spelling = { word: string; weight: number };

/** One thing that is asked for, with all words that count for it. `stem` is set if these are the words of one stem. */
export type Group = {
  asked: string;
  spellings: Spelling[];
  stem?: string;
  /** An agency that the word means, alone or with its neighbors: what is of it, or of its parts, has the group. */
  agency?: string;
  isRequired: boolean;
  times: number;
};

export type Question = {
  groups: Group[];
  /** Words that must stand next to each other, exactly as they are. */
  phrases: string[][];
  /** A word, or several next to each other, that must not occur. */
  excluded: string[][];
  /** Words that no record has, and what was looked for instead. */
  corrections: { asked: string; instead: string }[];
  /** Words that mean an agency with records, and its code. */
  agencies: { asked: string; code: string }[];
};

/** Words that say nothing about what is sought. They count if there is nothing else. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about am an and any are as at available be been by can could do does find for from get have how i if in into is it its looking me my
  need of on or our please show that the their them there these they this those to under us want was we were what when where which who
  whom why will with would you your`.split(/\s+/),
);

const [STEM_WEIGHT, GUESS_WEIGHT] = [0.9, 0.8];
/** A shorter word is as often an abbreviation as a mistake. */
const MISTAKE_LENGTH_MIN = 5;
/** Of more groups, the rest is ignored: nobody types so much, and each one costs time. */
const GROUPS_MAX = 64;

/** Reads a question. With `allWords`, every word is required as it is: no stems, no stop words, no guesses. */
export function readQuestion(text: string, vocabulary: Vocabulary, { allWords = false } = {}): Question {
  const question: Question = { groups: [], phrases: [], excluded: [], corrections: [], agencies: [] };
  const plain: { word: string; isRequired: boolean; agency: string | undefined; others: string[] }[] = [];
  let [isAfterAnd, isAfterOr] = [false, false];
  const terms = termsIn(text.replace(/\p{Co}/gu, " "));
  const agencies = allWords ? [] : agenciesAmong(terms, vocabulary, question);
  for (const [n, { sign, phrase, word }] of terms.entries()) {
    const words = wordsOf(word);
    const last = plain.at(-1);
    if (!phrase && word === "AND" && last !== undefined) last.isRequired = isAfterAnd = true;
    if (!phrase && word === "OR") isAfterOr = allWords;
    if (words.length === 0 || (!phrase && /^(AND|OR)$/.test(word))) continue;
    if (isAfterOr && sign !== "-" && last !== undefined && words.length === 1) {
      last.others.push(words[0] ?? "");
      isAfterOr = false;
      continue;
    }
    isAfterOr = false;
    const isRequired = allWords || sign === "+" || isAfterAnd;
    isAfterAnd = false;
    if (sign === "-") question.excluded.push(words);
    else if (phrase && words.length > 1) question.phrases.push(words);
    else if (!phrase && /[\p{L}\p{N}]\*$/u.test(word)) question.groups.push(completionsOf(words, vocabulary, isRequired));
    else if (phrase) question.groups.push(exactly([words[0] ?? ""], true));
    else plain.push(...words.map((each) => ({ word: each, isRequired, agency: agencies[n], others: [] })));
  }
  const telling = allWords ? plain : plain.filter(({ word, isRequired }) => isRequired || !STOP_WORDS.has(word));
  for (const { word, isRequired, agency, others } of telling.length + question.groups.length + question.phrases.length > 0
    ? telling
    : plain)
    question.groups.push(allWords ? exactly([word, ...others], true) : groupOf(word, vocabulary, { isRequired, agency }, question));
  for (const phrase of question.phrases) question.groups.push(...phrase.map((word) => exactly([word], false)));
  question.groups = distinct(question.groups).slice(0, GROUPS_MAX);
  return question;
}

/** The question with its phrases as words that may stand anywhere. */
export function withoutPhrases(text: string): string {
  return text.replace(/(^|[^-\S])["“”]([^"“”]*)["“”]?/g, "$1$2");
}

/** Which group of a question a word of a text belongs to, as it is written there; undefined if to none. */
export function groupsByWord({ groups }: Question): (word: string) => number | undefined {
  const byWord = new Map(groups.flatMap(({ spellings }, group) => spellings.map(({ word }) => [word, group] as const)));
  return (text) => {
    const [word = ""] = wordsOf(text);
    return byWord.get(word);
  };
}

type Term = { sign: string; phrase: boolean; word: string };

/** For each term the agency that it means; only agencies that have records. */
function agenciesAmong(terms: readonly Term[], vocabulary: Vocabulary, { agencies }: Question): (string | undefined)[] {
  const codes = agenciesIn(terms.map(({ sign, phrase, word }) => (phrase || sign === "-" ? "" : word)));
  return codes.map((code, n) => {
    if (code === undefined || vocabulary.recordsOf(code) === 0) return undefined;
    const word = terms[n]?.word ?? "";
    const last = agencies.at(-1);
    if (last?.code === code && codes[n - 1] === code) last.asked += ` ${word}`;
    else agencies.push({ asked: word, code });
    return code;
  });
}

function termsIn(text: string): Term[] {
  const terms = text.replace(/[“”]/g, '"').matchAll(/(?<![^\s"])([-+]?)(?:"([^"]*)"?|([^\s"]+))/g);
  return [...terms].map(([, sign = "", phrase, word = ""]) => ({
    sign,
    phrase: phrase !== undefined,
    word: (phrase ?? word).replace(/['’]s\b/g, ""),
  }));
}

function groupOf(
  word: string,
  vocabulary: Vocabulary,
  { isRequired, agency }: { isRequired: boolean; agency: string | undefined },
  { corrections }: Question,
): Group {
  const stem = stemOf(word);
  const found = spellingsOf(vocabulary.withStem(stem), word, STEM_WEIGHT);
  if (agency !== undefined) return { ...exactly([word], isRequired), ...(found.length > 0 && { spellings: found, stem }), agency };
  if (found.length > 0) return { asked: word, spellings: found, stem, isRequired, times: 1 };
  const instead = word.length < MISTAKE_LENGTH_MIN || /\d/.test(word) ? undefined : vocabulary.nearest(word);
  if (instead === undefined) return exactly([word], isRequired); // A number that only one record has is not among the known words.
  corrections.push({ asked: word, instead });
  const near = stemOf(instead);
  return { asked: word, spellings: spellingsOf(vocabulary.withStem(near), "", GUESS_WEIGHT), stem: near, isRequired, times: 1 };
}

function spellingsOf(known: readonly KnownWord[], asked: string, weight: number): Spelling[] {
  return known.map(({ word }) => ({ word, weight: word === asked ? 1 : weight }));
}

function completionsOf(words: readonly string[], vocabulary: Vocabulary, isRequired: boolean): Group {
  const beginning = words.at(-1) ?? "";
  return { asked: `${beginning}*`, spellings: spellingsOf(vocabulary.startingWith(beginning), "", 1), isRequired, times: 1 };
}

/** Any of these words, as they are. */
function exactly(words: readonly string[], isRequired: boolean): Group {
  return { asked: words.join(" OR "), spellings: words.map((word) => ({ word, weight: 1 })), isRequired, times: 1 };
}

/** One group for words of the same stem. */
function distinct(groups: readonly Group[]): Group[] {
  const byWord = new Map<string, Group>();
  for (const group of groups) {
    const key = group.spellings[0]?.word ?? group.asked;
    const known = byWord.get(key);
    if (known === undefined) byWord.set(key, group);
    else {
      known.isRequired ||= group.isRequired;
      if (group.agency !== undefined) known.agency = group.agency;
      known.times++;
    }
  }
  return [...byWord.values()];
}
