/**
 * The words that the index has, with their stems: a word of a question stands for all words of its stem, so stems need no index of their
 * own and quoted words stay exact. How many records have a word is counted when the index is built; later words are only added. (E-65)
 */
import type { Database } from "bun:sqlite";
import { isWithinEdits } from "../text/closest.ts";
import { stemOf } from "../text/words-of.ts";
import { recordsOfAgency } from "./agencies.ts";

export const WORD_TABLES = "create table words (word text primary key, stem text not null, records integer not null) without rowid";

/** A word and the number of records that have it. */
export type KnownWord = { word: string; records: number };

/** What the index knows about words, for reading a question. */
export type Vocabulary = {
  /** All words of a stem, the most frequent first. A stem has only a few. */
  withStem: (stem: string) => KnownWord[];
  /** How many records have, or had, the word. */
  records: (word: string) => number;
  /** The most frequent words with this beginning. */
  startingWith: (beginning: string) => KnownWord[];
  /** How many records are of an agency or its parts. */
  recordsOf: (agency: string) => number;
  /** The most frequent word that differs by one letter, or by two if it is long; undefined if there is none. */
  nearest: (word: string) => string | undefined;
};

/** The most words with the same beginning that are scored. */
const COMPLETIONS_MAX = 64;

export function vocabularyOf(sqlite: Database): Vocabulary {
  const byStem = sqlite.query<KnownWord, [string]>("select word, records from words where stem = ? order by records desc");
  const byWord = sqlite.query<{ records: number }, [string]>("select records from words where word = ?");
  const byRange = sqlite.query<KnownWord, [string, string, number]>(
    "select word, records from words where word >= ? and word < ? order by records desc limit ?",
  );
  return {
    withStem: (stem) => byStem.all(stem),
    records: (word) => byWord.get(word)?.records ?? 0,
    startingWith: (beginning) => byRange.all(beginning, `${beginning}\u{10ffff}`, COMPLETIONS_MAX),
    recordsOf: (agency) => recordsOfAgency(sqlite, agency),
    nearest: (word) => nearestWord(sqlite, word),
  };
}

/**
 * Counts all words of the table `texts`, without tags. Numbers that only one record has are left out, because they are not corrected and make
 * up most of all words.
 */
export function countWords(sqlite: Database): void {
  sqlite.run("delete from words");
  sqlite.run("create virtual table temp.counted using fts5vocab (main, texts, row)");
  const insert = sqlite.query("insert into words values (?, ?, ?)");
  const counted = sqlite.query<{ term: string; doc: number }, []>("select term, doc from temp.counted");
  for (const { term, doc } of counted.iterate()) if ((doc > 1 || !/^\d+$/.test(term)) && !isTag(term)) insert.run(term, stemOf(term), doc);
  sqlite.run("drop table temp.counted");
  sqlite.run("create index if not exists words_by_stem on words (stem, records, word)");
}

/**
 * Adds words of new texts. Known words keep their count, which is an estimate until the index is built again. A new word of a common stem is
 * included in ranges that get bytes from now on; earlier rows do not have it.
 */
export function addWords(sqlite: Database, words: ReadonlySet<string>): void {
  const insert = sqlite.query("insert into words values (?, ?, 1) on conflict (word) do nothing");
  const extend = sqlite.query(`update common_stems set query = query || ' OR "' || ? || '"' where stem = ?`);
  for (const word of words) {
    if (isTag(word)) continue;
    const stem = stemOf(word);
    if (insert.run(word, stem).changes > 0) extend.run(word, stem);
  }
}

/** Tags begin with a character for private use. */
function isTag(word: string): boolean {
  return /\p{Co}/u.test(word);
}

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];
/** A word that fewer records have may be mistyped itself. */
const RECORDS_MIN = 3;
/** In a shorter word, changing two letters usually gives a different word. */
const LONG = 8;

/**
 * The word of the index that is nearest to a mistyped one; undefined if none is near. All spellings at distance 1, some 500, are looked up, so
 * that a wrong first letter is found, too. At distance 2, a long word is compared with the words that begin with the same two letters.
 */
export function nearestWord(sqlite: Database, word: string): string | undefined {
  const known = "select word from words where word in (select value from json_each(?)) and records >= ? order by records desc limit 1";
  const near = sqlite.query<{ word: string }, [string, number]>(known).get(JSON.stringify(spellingsNear(word)), RECORDS_MIN);
  if (near !== null || word.length < LONG) return near?.word;
  const similar =
    "select word from words where word between ? and ? and length(word) between ? and ? and records >= ? order by records desc";
  const beginning = word.slice(0, 2);
  const rows = sqlite
    .query<{ word: string }, [string, string, number, number, number]>(similar)
    .iterate(beginning, `${beginning}\u{10ffff}`, word.length - 2, word.length + 2, RECORDS_MIN);
  for (const row of rows) if (isWithinEdits(word, row.word, 2)) return row.word;
  return undefined;
}

/** All texts at distance 1: a letter left out, swapped with the next one, replaced or added. */
function spellingsNear(word: string): string[] {
  const found = new Set<string>();
  for (let at = 0; at <= word.length; at++) {
    const [head, first, second, rest] = [word.slice(0, at), word.charAt(at), word.charAt(at + 1), word.slice(at + 2)];
    if (second !== "") found.add(head + second + first + rest);
    if (first !== "") found.add(head + second + rest);
    for (const letter of LETTERS) {
      found.add(head + letter + first + second + rest);
      if (first !== "") found.add(head + letter + second + rest);
    }
  }
  found.delete(word);
  return [...found];
}
