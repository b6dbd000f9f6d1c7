/**
 * The exact score of a record for a question, from its texts: BM25 over columns of different weight (Robertson and Zaragoza, 2009, BM25F),
 * times the share of the question that the record has, plus a bonus for words of the question that are neighbors in the text. (E-65)
 */
import { isWithin } from "../agencies/table.ts";
import { textColumns, textWeights } from "../filter/texts.ts";
import { wordsOf } from "../text/words-of.ts";
import { type SpelledQuestion, SYNONYM_WEIGHT } from "./question.ts";

/** The parameters of BM25, and the words of an average record. K1 is higher than usual because a word in the title counts as five. */
const [K1, B, AVERAGE_WORDS] = [2, 0.75, 150];
/** The bonus for two neighboring words of the question that are also neighbors in a text. */
const NEIGHBORS = { text: 0.3, title: 0.6 };
/** How much of a long text is scored. An opportunity says at its beginning what it is about. */
const CHARACTERS_MAX = 8000;
/** The words of a question are close together if all are within this many words of a text, about two sentences. */
const CLOSE_WORDS = 30;

/**
 * For each group of the question, `has` shows whether the record has it, and `named` whether it has only a synonym. A correction counts for
 * neither. `isClose`: all groups are there, those that only the text has close together.
 */
type Score = { score: number; has: boolean[]; named: boolean[]; isClose: boolean };

/** Scores texts, which are as `textsOf` returns them, and the code of an agency. `idf` has a value for each group of the question. */
export function scorerOf(
  { groups }: Pick<SpelledQuestion, "groups">,
  idf: readonly number[],
): (texts: readonly string[], agencyCode?: string | null) => Score {
  const whole = idf.reduce((sum, each) => sum + each, 0);
  // In a short question every word matters; in a long one some may be missing.
  const power = Math.min(2, 3 / Math.max(1, groups.length));
  const sought = new SoughtWords();
  const allPhrases: Phrase[] = [];
  const numeric = groups.map(({ asked }) => /\d/.test(asked));
  const hasGuess = groups.map(({ near }) => near.some(({ isGuess }) => isGuess));
  groups.forEach(({ spellings, phrases, near }, group) => {
    for (const { word, weight } of spellings) sought.add(word, { group, weight, isNear: false });
    for (const { word, weight } of near.flatMap((each) => each.spellings)) sought.add(word, { group, weight, isNear: true });
    const addPhrase = (words: readonly string[], counting: { weight: number; isNear: boolean }) => {
      const phrase = { length: words.length, matched: 0, place: -2 };
      allPhrases.push(phrase);
      words.forEach((word, at) => {
        sought.add(word, { group, ...counting, at, phrase });
      });
    };
    for (const words of phrases) addPhrase(words, { weight: 1, isNear: false });
    for (const words of near.flatMap((each) => each.phrases)) addPhrase(words, { weight: SYNONYM_WEIGHT, isNear: true });
  });
  const [amounts, neighbors] = [new Float64Array(groups.length), new Float64Array(groups.length)];
  const has: boolean[] = groups.map(() => false);
  /** Where a group was last seen in the text; infinity for what is known of the record besides its text. */
  const places = new Float64Array(groups.length);
  return (texts, agencyCode = null) => {
    amounts.fill(0);
    neighbors.fill(0);
    has.fill(false);
    groups.forEach(({ agencies, numbers }, group) => {
      const isOfAgency = agencyCode !== null && agencies.some((agency) => isWithin(agencyCode, agency));
      places[group] = isOfAgency || numbers.length > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
      if (!isOfAgency) return;
      amounts[group] = textWeights.agency;
      has[group] = true;
    });
    let [length, isClose] = [0, false];
    textColumns.forEach((column, n) => {
      for (const phrase of allPhrases) phrase.matched = 0;
      let before = { group: -2, end: -2 };
      length += sought.scan((texts[n] ?? "").slice(0, CHARACTERS_MAX), ({ group, weight, isNear, at = 0, phrase }, place) => {
        if (phrase !== undefined && !completes(phrase, at, place)) return;
        amounts[group] = (amounts[group] ?? 0) + weight * (column === "number" && !numeric[group] ? textWeights.text : textWeights[column]);
        if (!isNear) {
          has[group] = true;
          places[group] = column === "text" ? Math.max(places[group] ?? 0, place) : Number.POSITIVE_INFINITY;
          isClose ||= column === "text" && places.every((each) => each >= place - CLOSE_WORDS);
        }
        if (group === before.group + 1 && place - at === before.end + 1)
          neighbors[group] = Math.max(neighbors[group] ?? 0, column === "title" ? NEIGHBORS.title : NEIGHBORS.text);
        before = { group, end: place };
      });
    });
    const norm = K1 * (1 - B + (B * length) / AVERAGE_WORDS);
    let [score, share] = [0, 0];
    idf.forEach((own, group) => {
      const amount = amounts[group] ?? 0;
      if (amount === 0) return;
      const part = has[group] === true || hasGuess[group] ? own : own * SYNONYM_WEIGHT;
      share += part;
      score += (part * amount * (K1 + 1)) / (amount + norm) + (neighbors[group] ?? 0) * Math.min(own, idf[group - 1] ?? 0);
    });
    return {
      score: whole === 0 ? 0 : score * (share / whole) ** power,
      has: [...has],
      isClose: isClose || places.every((each) => each === Number.POSITIVE_INFINITY),
      named: has.map((each, group) => !each && !hasGuess[group] && (amounts[group] ?? 0) > 0),
    };
  };
}

/** A phrase, and how many of its words were found at the last place. */
type Phrase = { length: number; matched: number; place: number };

/** Whether the word at its place is the last one of a phrase whose other words stand before it. */
function completes(phrase: Phrase, at: number, place: number): boolean {
  if (at > 0 && !(phrase.matched === at && phrase.place === place - 1)) return false;
  phrase.matched = at + 1;
  phrase.place = place;
  return phrase.matched === phrase.length;
}

/** `at` is the place of the word in its phrase. */
type Sought = { group: number; weight: number; isNear: boolean; at?: number; phrase?: Phrase };

/** The code of each ASCII letter and digit in lower case; 0 for others. */
const WORD_CODES = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code).toLowerCase();
  return /[a-z0-9]/.test(character) ? character.charCodeAt(0) : 0;
});

/** Characters beyond ASCII, but for those such as "’" that always separate words. */
const BEYOND_PLAIN = /[^\0-\xa9\u2010-\u205f]/;

/** Finds a few words in texts. It allocates no strings for other words of a plain text, because 150 texts are read for each question. */
class SoughtWords {
  readonly #byWord = new Map<string, Sought[]>();
  /** Whether the hash of a sought word ends in these bits. */
  readonly #endings = new Uint8Array(1 << 12);

  add(word: string, sought: Sought): void {
    this.#byWord.getOrInsert(word, []).push(sought);
    this.#endings[hashOf(word) & 4095] = 1;
  }

  /** Calls `visit` for each sought word, with its place among the words. Returns how many words the text has. */
  scan(text: string, visit: (sought: Sought, place: number) => void): number {
    if (!BEYOND_PLAIN.test(text)) return this.#scanPlain(text, visit);
    const words = wordsOf(text);
    words.forEach((word, place) => {
      this.#visit(word, place, visit);
    });
    return words.length;
  }

  #scanPlain(text: string, visit: (sought: Sought, place: number) => void): number {
    let place = 0;
    for (let at = 0; at < text.length; ) {
      const begin = at;
      let hash = 0;
      for (let code = codeAt(text, at); code !== 0; code = codeAt(text, ++at)) hash = (Math.imul(hash, 31) + code) | 0;
      if (at === begin) at++;
      else {
        if (this.#endings[hash & 4095] === 1) this.#visit(text.slice(begin, at).toLowerCase(), place, visit);
        place++;
      }
    }
    return place;
  }

  #visit(word: string, place: number, visit: (sought: Sought, place: number) => void): void {
    for (const sought of this.#byWord.get(word) ?? []) visit(sought, place);
  }
}

function codeAt(text: string, at: number): number {
  return at < text.length ? (WORD_CODES[text.charCodeAt(at)] ?? 0) : 0;
}

function hashOf(word: string): number {
  let hash = 0;
  for (let n = 0; n < word.length; n++) hash = (Math.imul(hash, 31) + word.charCodeAt(n)) | 0;
  return hash;
}
