/** The words of a text, as FTS5's tokenizer `unicode61 remove_diacritics 2` cuts them, and their English stems (Porter, 1980). */
import { stemmer } from "stemmer";

/** The words in lower case and without accents, in the order of the text. Ligatures become letters, which FTS5 leaves: "ﬁeld" is "field". */
export function wordsOf(text: string): string[] {
  if (!/[^\x00-\x7f]/.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const plain = text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  return plain.match(/[\p{L}\p{N}\p{Co}]+/gu) ?? [];
}

/** The stem of a word in lower case. A word with digits or other letters than English ones is its own stem. */
export function stemOf(word: string): string {
  return /^[a-z]{3,}$/.test(word) ? stemmer(word) : word;
}
