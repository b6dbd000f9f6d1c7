/** Synonyms of what a question asks for, such as GNSS for GPS. They raise the score but never make a record match. */
import { type Group, STOP_WORDS } from "../filter/question.ts";
import { wordsOf } from "../text/words-of.ts";
import text from "./synonyms.tsv" with { type: "text" };

/** What was asked, the indexes of its groups in the question, and its synonyms. */
type Synonyms = { asked: string; groups: number[]; names: string[] };

/** A name with its words in lower case. `others` are its synonyms that are looked for. */
type Name = { name: string; words: string[]; isInCapitals: boolean; others: string[] };

let read: Map<string, Name[]> | undefined;

/** The synonyms of a question. If several names begin with the same word, the longest counts. */
export function synonymsIn(groups: readonly Group[]): Synonyms[] {
  read ??= readNames(text);
  const asked = groups.flatMap(wordsAsked);
  const isAllCaps = groups.length > 1 && !groups.some((group) => /[a-z]/.test(group.asked));
  const found: Synonyms[] = [];
  for (let at = 0; at < asked.length; ) {
    const name = read.get(singularOf(asked[at]?.word ?? ""))?.find((each) => isAsked(each, asked, at, isAllCaps));
    if (name === undefined) at++;
    else {
      const places = [...new Set(asked.slice(at, at + name.words.length).map(({ group }) => group))];
      const words = places.map((place) => groups[place]?.asked ?? "").join(" ");
      found.push({ asked: words, groups: places, names: name.others });
      at += name.words.length;
    }
  }
  return found;
}

/** A word of a question. `word` is "" if it must match exactly or names an agency. */
type Asked = { word: string; typed: string; group: number; isFirst: boolean; isLast: boolean };

function wordsAsked({ asked, terms, agencies, isDemanded }: Group, group: number): Asked[] {
  const [term, another] = terms;
  if (term === undefined || another !== undefined || agencies.length > 0 || isDemanded || term.kind === "beginning")
    return [{ word: "", typed: asked, group, isFirst: true, isLast: true }];
  const words = term.kind === "word" ? [term.word] : term.words;
  return words.map((word, n) => ({ word, typed: asked, group, isFirst: n === 0, isLast: n === words.length - 1 }));
}

function isAsked({ name, words, isInCapitals }: Name, asked: readonly Asked[], at: number, isAllCaps: boolean): boolean {
  const [first, last] = [asked[at], asked[at + words.length - 1]];
  if (first?.isFirst !== true || last?.isLast !== true || !words.every((word, n) => isForm(asked[at + n]?.word ?? "", word, name)))
    return false;
  return !isInCapitals || (!isAllCaps && first.typed === first.typed.toUpperCase());
}

/**
 * Whether a word is that word of a name, or its plural or singular. Other words of its stem are not: "custody" is not "custodial". An
 * abbreviation has no singular: "AL" is not "ALS".
 */
export function isForm(word: string, ofName: string, name: string): boolean {
  if (isAbbreviation(name)) return word === ofName || word === `${ofName}s`;
  return singularOf(word) === singularOf(ofName);
}

function isAbbreviation(name: string): boolean {
  return /^[A-Z&-]+$/.test(name);
}

function singularOf(word: string): string {
  return word
    .replace(/([^aeiou])ies$/, "$1y")
    .replace(/(x|ch|sh|ss|gas|virus)es$/, "$1")
    .replace(/([^isu])s$/, "$1");
}

/** The names by the singular of their first word, the longest first. */
function readNames(lines: string): Map<string, Name[]> {
  const names = new Map<string, Name[]>();
  for (const line of lines.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, ...all] = line.split("\t");
    for (const typed of all) {
      const name = typed.replace("^", "");
      const words = wordsOf(name).filter((word) => !STOP_WORDS.has(word));
      const others = all.filter((other) => other !== typed && !other.startsWith("^"));
      const first = singularOf(words[0] ?? "");
      const isInCapitals = typed !== name && isAbbreviation(name);
      names.getOrInsert(first, []).push({ name, words, isInCapitals, others });
    }
  }
  for (const some of names.values()) some.sort((left, right) => right.words.length - left.words.length);
  return names;
}
