/** Agencies in questions: NIH also finds what is of NIH and does not say so, by a tag of the index. "Energy" or "ice" stay words. */
import { codesMeant, codesNamed } from "../agencies/understand.ts";

/** They mean an agency without capitals, too. Others may be ordinary words. */
const IN_LOWER_CASE = new Set(
  `afosr afrl ahrq army arpa-e arpa-h barda blm cdc cms darpa dhs dod doe dhhs doj epa faa fda fema hhs hrsa hud imls nasa navy neh nifa nih nist
  noaa nsf onr samhsa usace usaid usda usgs`.split(/\s+/),
);
const WORDS_MAX = 10;

/** What the index has in the column `tags` of records of an agency and its parts. The characters are letters to FTS5, and no text has them. */
export function agencyTag(code: string): string {
  return `\ue001${code.toLowerCase().replace(/[^a-z0-9]/g, "\ue001")}`;
}

/** For each word as it was typed, or "": our code of the agency that it means, alone or with the next words, which then have "". */
export function agenciesIn(typed: readonly string[]): (string | undefined)[] {
  const found: (string | undefined)[] = typed.map(() => undefined);
  const isAllCaps = typed.length > 2 && !/[a-z]/.test(typed.join(""));
  const codeOf = (words: readonly string[]) => codeMeantBy(words, isAllCaps);
  for (let first = 0; first < typed.length; ) {
    let length = Math.min(WORDS_MAX, typed.length - first);
    let code = codeOf(typed.slice(first, first + length));
    while (code === undefined && length > 1) code = codeOf(typed.slice(first, first + --length));
    if (code !== undefined) found.fill("", first, first + length)[first] = code;
    first += length;
  }
  return found;
}

/** There are many abbreviations of two letters, and most mean something else. */
const ABBREVIATION = /^(VA|ED|(?=.{3})[A-Z][A-Za-z]*[A-Z][A-Za-z]*(-[A-Z])?)$/;

/** In a question that is shouted, capitals say nothing. */
function codeMeantBy(words: readonly string[], isAllCaps: boolean): string | undefined {
  const text = words.join(" ");
  if (/^the$/i.test(words[0] ?? "") || words.includes("")) return undefined;
  if (words.length === 1 && !IN_LOWER_CASE.has(text.toLowerCase()) && (isAllCaps || !ABBREVIATION.test(text))) return undefined;
  const codes = words.length === 1 ? codesMeant(text) : codesNamed(text);
  const [code] = codes;
  // Offices far down have names such as "Research Lab".
  return codes.length === 1 && code !== undefined && (words.length !== 2 || code.split(".").length <= 3) ? code : undefined;
}
