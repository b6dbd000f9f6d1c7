/**
 * A question as the best match looks for it: for each group all words that count for it, and for a word that hardly any record has also the one
 * that was probably meant. That one adds, at a lower weight, and never makes a record match. (E-65, E-150)
 */
import { type Group, type Question, readQuestion } from "../filter/question.ts";
import { stemOf, wordsOf } from "../text/words-of.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A word that counts for what was asked. `weight` is less than 1 for another word of the same stem, and for a guess. */
type Spelling = { word: string; weight: number };

/** A stem that stands for one that was asked for, with its words. */
type Near = { stem: string; spellings: Spelling[] };

/** A group with the words that count for it, several of which in order are a phrase, and the number of records that have any of its words. */
export type SpelledGroup = Group & { spellings: Spelling[]; phrases: string[][]; near: Near[] };

export type SpelledQuestion = Omit<Question, "groups"> & {
  groups: SpelledGroup[];
  /** Words that few records have or none, and what was looked for, too. */
  corrections: { asked: string; also: string; records: number }[];
  /** Words that mean an agency with records, and its code. */
  agencies: { asked: string; code: string }[];
};

const [STEM_WEIGHT, NEAR_WEIGHT] = [0.9, 0.8];
/** A word that more records have is no mistake, nor one beside which the other has not so many times as many: a looser rule corrects names. */
const [RARE_MAX, TIMES_MORE] = [5, 20];
/** A shorter word is as often an abbreviation as a mistake. */
const MISTAKE_LENGTH_MIN = 5;

/** Looks up the words of a question. */
export function spellQuestion(text: string, vocabulary: Vocabulary): SpelledQuestion {
  const { groups, ...question } = readQuestion(text);
  const corrections: SpelledQuestion["corrections"] = [];
  const spelled = groups.map((group) => {
    const { spellings, records } = spellingsOf(group, vocabulary);
    const near = nearOf(group, records, vocabulary);
    if (near !== undefined) corrections.push({ asked: group.asked, also: near.word, records });
    return { ...group, spellings, phrases: phrasesOf(group), near: near === undefined ? [] : [near] };
  });
  const meant = spelled.flatMap(({ asked, agencies }) => agencies.map((code) => ({ asked, code })));
  const agencies = meant.filter(({ code }) => vocabulary.recordsOf(code) > 0);
  return { ...question, groups: spelled, corrections, agencies };
}

/** Which group of a question a word of a text belongs to, as it is written there; undefined if to none. */
export function groupsByWord({ groups }: SpelledQuestion): (word: string) => number | undefined {
  const byWord = new Map<string, number>();
  groups.forEach(({ spellings, phrases, near }, group) => {
    const words = [...spellings, ...near.flatMap((each) => each.spellings)].map(({ word }) => word);
    for (const word of [...words, ...phrases.flat()]) if (!byWord.has(word)) byWord.set(word, group);
  });
  return (text) => {
    const [word = ""] = wordsOf(text);
    return byWord.get(word);
  };
}

function spellingsOf({ terms }: Group, vocabulary: Vocabulary): { spellings: Spelling[]; records: number } {
  const found = terms.flatMap((term): (Spelling & { records: number })[] => {
    if (term.kind === "beginning") return vocabulary.startingWith(term.words.at(-1) ?? "").map((known) => ({ ...known, weight: 1 }));
    if (term.kind === "phrase") return term.words.length > 1 ? [] : term.words.map((word) => ({ word, weight: 1, records: 0 }));
    const known = vocabulary.withStem(term.stem);
    const others = known.filter(({ word }) => word !== term.word).map((each) => ({ ...each, weight: STEM_WEIGHT }));
    return [{ word: term.word, weight: 1, records: known.find(({ word }) => word === term.word)?.records ?? 0 }, ...others];
  });
  const records = found.reduce((sum, each) => sum + each.records, 0);
  return { spellings: found.map(({ word, weight }) => ({ word, weight })), records };
}

function phrasesOf({ terms }: Group): string[][] {
  return terms.flatMap((term) => (term.kind === "phrase" && term.words.length > 1 ? [term.words] : []));
}

/** The word that was probably meant, if hardly any record has the one that was asked for, and many have the other. */
function nearOf(group: Group, records: number, vocabulary: Vocabulary): (Near & { word: string }) | undefined {
  const { agencies, terms } = group;
  const [term] = terms;
  if (terms.length > 1 || term?.kind !== "word" || agencies.length > 0 || records > RARE_MAX) return undefined;
  if (term.word.length < MISTAKE_LENGTH_MIN || /\d/.test(term.word)) return undefined;
  const word = vocabulary.nearest(term.word);
  if (word === undefined) return undefined;
  const stem = stemOf(word);
  const known = vocabulary.withStem(stem);
  const others = known.reduce((sum, each) => sum + each.records, 0);
  if (stem === term.stem || others < records * TIMES_MORE) return undefined;
  return { word, stem, spellings: known.map((each) => ({ word: each.word, weight: NEAR_WEIGHT })) };
}
