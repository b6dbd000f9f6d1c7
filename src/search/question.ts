/**
 * A question, prepared for the best match: all words that count for each group, synonyms, and corrections of words that hardly any record has.
 * Synonyms and corrections add weight, at a lower rate, but never make a record match. (E-65, E-150)
 */
import { type Group, type Question, readQuestion } from "../filter/question.ts";
import { isWithinEdits } from "../text/closest.ts";
import { stemOf, wordsOf } from "../text/words-of.ts";
import { isForm, synonymsIn } from "./synonyms.ts";
import type { KnownWord, Vocabulary } from "./vocabulary.ts";

/** A word that counts for the word that was asked for. `weight` is less than 1 for another word of the same stem and for a correction. */
type Spelling = { word: string; weight: number };

/** A substitute for one or several groups: words (all words of a stem, if it is given), or phrases. `isGuess`: it is a correction, not a synonym. */
export type Near = { stem?: string; spellings: Spelling[]; phrases: string[][]; isGuess: boolean };

/** A group with the words that count for it (several words in order are a phrase), and the number of records that have any of them. */
export type SpelledGroup = Group & { spellings: Spelling[]; phrases: string[][]; near: Near[] };

export type SpelledQuestion = Omit<Question, "groups"> & {
  groups: SpelledGroup[];
  /** Words that few or no records have, with the corrections that were also looked for. */
  corrections: { asked: string; also: string; records: number }[];
  /** Synonyms that were also looked for. */
  synonyms: { asked: string; also: string[] }[];
  /** Words that name an agency with records, and its code. */
  agencies: { asked: string; code: string }[];
};

const [STEM_WEIGHT, NEAR_WEIGHT] = [0.9, 0.8];
/** The weight of a synonym. */
export const SYNONYM_WEIGHT = 0.6;
/** The most synonyms of one question: each is a query of its own, and no judged question gained from more. */
const SYNONYMS_MAX = 12;
/** The most records of their words: FTS5 reads every record that has any word of a phrase. At a million records it takes some 40 ms for these. */
const SYNONYM_RECORDS_MAX = 1_000_000;
/** The forms of the last word of a synonym: "unmanned aerial vehicle", "unmanned aerial vehicles". */
const FORMS_MAX = 4;
/**
 * A word is corrected only if at most this many records have it and the other word has this many times as many. A looser rule would correct
 * names.
 */
const [RARE_MAX, TIMES_MORE] = [5, 20];
/** A shorter word is as likely an abbreviation as a mistake. */
const MISTAKE_LENGTH_MIN = 5;

/** Looks up the words of a question. */
export function spellQuestion(text: string, vocabulary: Vocabulary): SpelledQuestion {
  const { groups, ...question } = readQuestion(text);
  const corrections: SpelledQuestion["corrections"] = [];
  const meant: Group[] = [];
  const inNames = new Set(synonymsIn(groups).flatMap(({ groups: places }) => places));
  const spelled = groups.map((group, place): SpelledGroup => {
    const { spellings, records } = spellingsOf(group, vocabulary);
    const near = inNames.has(place) ? undefined : nearOf(group, records, vocabulary); // The word of a known name is no mistake.
    if (near !== undefined) corrections.push({ asked: group.asked, also: near.word, records: near.records });
    meant.push(near === undefined ? group : { ...group, terms: [{ kind: "word", word: near.word, stem: near.stem }] });
    return { ...group, spellings, phrases: phrasesOf(group), near: near === undefined ? [] : [near] };
  });
  const known = synonymsIn(meant).map((each) => ({ ...each, names: each.names.flatMap((name) => namedOf(name, vocabulary) ?? []) }));
  const sought = cheapestOf(known.flatMap(({ names }) => names));
  const synonyms = known.flatMap(({ asked, groups: places, names }) => {
    const also = names.filter((name) => sought.has(name));
    for (const place of places) spelled[place]?.near.push(...also.map(({ near }) => near));
    return also.length === 0 ? [] : [{ asked, also: also.map(({ name }) => name) }];
  });
  const named = spelled.flatMap(({ asked, agencies }) => agencies.map((code) => ({ asked, code })));
  const agencies = named.filter(({ code }) => vocabulary.recordsOf(code) > 0);
  return { ...question, groups: spelled, corrections, synonyms, agencies };
}

/** The group of a question that a word of a text belongs to; undefined if there is none. */
export function groupsByWord({ groups }: SpelledQuestion): (word: string) => number | undefined {
  const byWord = new Map<string, number>();
  groups.forEach(({ spellings, phrases, near }, group) => {
    const words = [...spellings, ...near.flatMap((each) => each.spellings)].map(({ word }) => word);
    for (const word of [...words, ...phrases.flat(), ...near.flatMap((each) => each.phrases.flat())])
      if (!byWord.has(word)) byWord.set(word, group);
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

/**
 * The correction of a word that hardly any record has, if many records have the corrected word. `ofStem`: how many records have a word of its
 * stem. A word that no record has may be mistyped although its stem is known: "semiconducter".
 */
function nearOf(
  group: Group,
  ofStem: number,
  vocabulary: Vocabulary,
): (Near & { word: string; stem: string; records: number }) | undefined {
  const { agencies, terms } = group;
  const [term] = terms;
  if (terms.length > 1 || term?.kind !== "word" || agencies.length > 0) return undefined;
  const records = vocabulary.records(term.word) > 0 ? ofStem : 0;
  if (records > RARE_MAX) return undefined;
  if (term.word.length < MISTAKE_LENGTH_MIN || /\d/.test(term.word)) return undefined;
  const isKnown = (each: KnownWord) => each.records > RARE_MAX && isForm(each.word, term.word, each.word);
  if (vocabulary.withStem(term.stem).some(isKnown)) return undefined; // "ramps" is no mistake where records have "ramp".
  const word = vocabulary.nearest(term.word);
  if (word === undefined || (records > 0 && word[0] !== term.word[0])) return undefined; // "coral" is not "oral".
  if (ofStem > RARE_MAX && !isWithinEdits(term.word, word, 1)) return undefined;
  const stem = stemOf(word);
  const known = vocabulary.withStem(stem);
  const others = known.reduce((sum, each) => sum + each.records, 0);
  if (stem === term.stem || others < records * TIMES_MORE) return undefined;
  return { word, stem, records, spellings: known.map((each) => ({ word: each.word, weight: NEAR_WEIGHT })), phrases: [], isGuess: true };
}

/** A synonym, and how many records FTS5 reads to find it. */
type Synonym = { name: string; near: Near; records: number };

/** Of the first synonyms, those that are found with the least reading, as many as a question may have. */
function cheapestOf(synonyms: readonly Synonym[]): Set<Synonym> {
  let left = SYNONYM_RECORDS_MAX;
  const cheapestFirst = synonyms.slice(0, SYNONYMS_MAX).sort((one, other) => one.records - other.records);
  return new Set(
    cheapestFirst.filter(({ records }) => {
      left -= records;
      return left >= 0;
    }),
  );
}

/** The words to look for as a synonym: its forms, or the phrase with the forms of its last word; undefined if no record has them. */
function namedOf(name: string, vocabulary: Vocabulary): Synonym | undefined {
  const words = wordsOf(name);
  const [last = ""] = words.splice(-1);
  const stem = stemOf(last);
  const ofStem = vocabulary.withStem(stem);
  const forms = ofStem.filter(({ word }) => isForm(word, last, name));
  const others = words.map((word) => vocabulary.records(word));
  if (forms.length === 0 || others.includes(0)) return undefined;
  const read = forms.slice(0, FORMS_MAX).reduce((sum, form) => others.reduce((all, each) => all + each, sum + form.records), 0);
  if (words.length === 0) {
    const spellings = forms.map(({ word }) => ({ word, weight: SYNONYM_WEIGHT }));
    return { name, near: { ...(forms.length === ofStem.length && { stem }), spellings, phrases: [], isGuess: false }, records: read };
  }
  const phrases = forms.slice(0, FORMS_MAX).map(({ word }) => [...words, word]);
  return { name, near: { spellings: [], phrases, isGuess: false }, records: read };
}
