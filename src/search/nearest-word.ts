/**
 * The word that a mistyped one probably stands for. At distance 1 every possible spelling is looked up, some 500 of them, so a wrong first
 * letter is found too. At distance 2, for long words, the words with the same two first letters are compared.
 */
import type { Database } from "bun:sqlite";
import { isWithinEdits } from "../text/closest.ts";

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];
/** A word that fewer records have may be mistyped itself. */
const RECORDS_MIN = 3;
/** In a shorter word, changing two letters usually gives a different word. */
const LONG = 8;

/** The most frequent of the nearest words; undefined if none is near. */
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
