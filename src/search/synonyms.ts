/** Synonyms of what a question asks for, such as GNSS for GPS. They raise the score but never make a record match. (E-241) */
import { type Group, STOP_WORDS } from "../filter/question.ts";
import { stemOf, wordsOf } from "../text/words-of.ts";
import text from "./synonyms.tsv" with { type: "text" };

/** What was asked, the indexes of its groups in the question, and its synonyms. */
type Synonyms = { asked: string; groups: number[]; names: string[] };

/** A name by the stems of its words. `others` are its synonyms that are looked for. */
type Name = { stems: string[]; isInCapitals: boolean; others: string[] };

let read: Map<string, Name[]> | undefined;

/** The synonyms of a question. If several names begin with the same word, the longest counts. */
export function synonymsIn(groups: readonly Group[]): Synonyms[] {
  read ??= readNames(text);
  const asked = groups.flatMap(wordsAsked);
  const isAllCaps = groups.length > 1 && !groups.some((group) => /[a-z]/.test(group.asked));
  const found: Synonyms[] = [];
  for (let at = 0; at < asked.length; ) {
    const name = read.get(asked[at]?.stem ?? "")?.find((each) => isAsked(each, asked, at, isAllCaps));
    if (name === undefined) at++;
    else {
      const places = [...new Set(asked.slice(at, at + name.stems.length).map(({ group }) => group))];
      const words = places.map((place) => groups[place]?.asked ?? "").join(" ");
      found.push({ asked: words, groups: places, names: name.others });
      at += name.stems.length;
    }
  }
  return found;
}

/** A word of a question. `stem` is "" if the word must match exactly or names an agency. */
type Asked = { stem: string; typed: string; group: number; isFirst: boolean; isLast: boolean };

function wordsAsked({ asked, terms, agencies, isDemanded }: Group, group: number): Asked[] {
  const [term, another] = terms;
  if (term === undefined || another !== undefined || agencies.length > 0 || isDemanded || term.kind === "beginning")
    return [{ stem: "", typed: asked, group, isFirst: true, isLast: true }];
  const words = term.kind === "word" ? [term.word] : term.words;
  return words.map((word, n) => ({ stem: stemOf(word), typed: asked, group, isFirst: n === 0, isLast: n === words.length - 1 }));
}

function isAsked({ stems, isInCapitals }: Name, asked: readonly Asked[], at: number, isAllCaps: boolean): boolean {
  const [first, last] = [asked[at], asked[at + stems.length - 1]];
  if (first?.isFirst !== true || last?.isLast !== true || !stems.every((stem, n) => asked[at + n]?.stem === stem)) return false;
  return !isInCapitals || (!isAllCaps && first.typed === first.typed.toUpperCase());
}

/** The names by the stem of their first word, the longest first. */
function readNames(lines: string): Map<string, Name[]> {
  const names = new Map<string, Name[]>();
  for (const line of lines.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, ...all] = line.split("\t");
    for (const name of all) {
      const stems = wordsOf(name)
        .filter((word) => !STOP_WORDS.has(word))
        .map(stemOf);
      const others = all.filter((other) => other !== name && !other.startsWith("^"));
      const [first = ""] = stems;
      names.set(first, [...(names.get(first) ?? []), { stems, isInCapitals: name.startsWith("^"), others }]);
    }
  }
  for (const some of names.values()) some.sort((left, right) => right.stems.length - left.stems.length);
  return names;
}
