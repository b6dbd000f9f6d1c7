/** The words of a text, as FTS5's tokenizer `unicode61 remove_diacritics 2` cuts them, and their English stems (Porter, 1980). */
import { stemmer } from "stemmer";

/** A text in lower case without accents and ligatures, "m²" as "m2", as FTS5 cuts it. A trademark sign is no part of a word. */
export function plainCharacters(text: string): string {
  if (!/[^\x00-\x7f]/.test(text)) return text.toLowerCase();
  return text
    .replace(/[™℠]/g, " ")
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
}

export function wordsOf(text: string): string[] {
  return plainCharacters(text).match(/[\p{L}\p{N}\p{Co}]+/gu) ?? [];
}

/** The stem of a word in lower case. A word with digits or other letters than English ones is its own stem. */
export function stemOf(word: string): string {
  return /^[a-z]{3,}$/.test(word) ? stemmer(word) : word;
}
