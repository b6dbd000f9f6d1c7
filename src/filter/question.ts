/** Reads the words of a search, the same everywhere: what must be there, and what must not. No text is wrong. (E-150) */
import { numberKeyOf } from "../opportunities/opportunity.ts";
import { stemOf, wordsOf } from "../text/words-of.ts";
import { agenciesIn } from "./agency-words.ts";
import { type Preference, preferencesIn } from "./preferences.ts";

/** A word in any of its forms, words exactly as they are, or the same with only the beginning of the last one. */
type Term = { kind: "word"; word: string; stem: string } | { kind: "phrase"; words: string[] } | { kind: "beginning"; words: string[] };

/** A record has it if it has one of the terms, is of one of the agencies, or has one of the numbers. */
export type Group = {
  asked: string;
  terms: Term[];
  agencies: string[];
  numbers: string[];
  /** In quotes or with a "+": what lacks it is not even shown among what has some of the words. */
  isDemanded: boolean;
  times: number;
};

export type Question = {
  groups: Group[];
  excluded: Group[];
  /** If all of it may be a number: that record matches, whatever its words are. */
  numbers: string[];
  /** They change the order of the best matches, and never what matches. */
  preferences: Preference[];
};

/** They count if there is nothing else. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about am an and any are as at available be been by can could do does find for from get have how i if in into is it its looking me my
  need not of on or our please show that the their them there these they this those to under us want was we were what when where which who
  whom why will with would you your`.split(/\s+/),
);

/** They count if there is nothing else but stop words. */
const ASKING_WORDS: ReadonlySet<string> = new Set(
  `apply available bid bids deadline deadlines during fund funded funding funds grant grants million money opportunities opportunity over people
  program programs proposal proposals solicitation solicitations`.split(/\s+/),
);

type Typed = { sign: string; isPhrase: boolean; text: string };

/** Reads a question. */
export function readQuestion(text: string): Question {
  const { preferences, texts } = preferencesIn(text);
  const numbers = wholeNumbersIn(text);
  for (const each of texts) {
    const read = readWords(each);
    if (read.groups.length > 0) return { ...read, numbers, preferences };
  }
  return { ...readWords(text), numbers, preferences };
}

function readWords(text: string): Pick<Question, "groups" | "excluded"> {
  const question: Pick<Question, "groups" | "excluded"> = { groups: [], excluded: [] };
  const typed = typedIn(text);
  const agencies = agenciesIn(typed.map(({ sign, isPhrase, text }) => (isPhrase || sign === "-" ? "" : text)));
  const found: Group[] = [];
  let [isAfterOr, isAfterNot] = [false, false];
  for (let n = 0; n < typed.length; n++) {
    const { sign, isPhrase, text } = typed[n] as Typed;
    if (!isPhrase && /^(AND|OR)$/.test(text)) {
      isAfterOr ||= text === "OR";
      continue;
    }
    if (isNegation(typed, n)) {
      isAfterNot = true;
      continue;
    }
    const code = agencies[n];
    const [first, isBeforeOr] = [n, (last: number) => typed[last + 1]?.isPhrase === false && typed[last + 1]?.text === "OR"];
    if (code !== undefined) while (agencies[n + 1] === "") n++;
    const asked = Array.from(typed.slice(first, n + 1), (each) => each.text).join(" ");
    const isWhole = isPhrase || sign !== "" || isAfterOr || isAfterNot || isBeforeOr(n);
    const groups = groupsOf(asked, { isPhrase: isPhrase || sign === "+", isWhole, agencies: code === undefined ? [] : [code] });
    const last = found.at(-1);
    if (sign === "-" || isAfterNot) question.excluded.push(...groups.map((group) => ({ ...group, isDemanded: false })));
    else if (isAfterOr && last !== undefined && groups[0] !== undefined) found.splice(-1, 1, either(last, groups[0]));
    else found.push(...groups);
    if (groups.length > 0) isAfterOr = isAfterNot = false;
  }
  question.groups = distinct(withoutWords(withoutWords(found, STOP_WORDS), ASKING_WORDS));
  return question;
}

/** The question with its phrases as words that may stand anywhere. */
export function withoutPhrases(text: string): string {
  return text.replace(/(^|[^-\S])["“”]([^"“”]*)["“”]?/g, "$1$2");
}

function typedIn(text: string): Typed[] {
  const typed = text
    .replace(/[“”]/g, '"')
    .replace(/[\0\p{Co}]/gu, " ")
    .matchAll(/(?<![^\s"])([-+]?)(?:"([^"]*)"?|([^\s"]+))/g);
  return [...typed].map(([, sign = "", phrase, word = ""]) => ({
    sign,
    isPhrase: phrase !== undefined,
    text: (phrase ?? word).replace(/['’]s\b/g, ""),
  }));
}

function isNegation(typed: readonly Typed[], n: number): boolean {
  const [{ sign, isPhrase, text } = { sign: "", isPhrase: true, text: "" }, next] = [typed[n], typed[n + 1]];
  if (isPhrase || sign !== "" || !/^not$/i.test(text) || next === undefined || next.sign !== "") return false;
  return next.isPhrase || !(STOP_WORDS.has(next.text.toLowerCase()) || wordsOf(next.text).length === 0);
}

type Reading = { isPhrase: boolean; isWhole: boolean; agencies: string[] };

/** One for each word, unless what was typed is a whole. */
function groupsOf(asked: string, { isPhrase, isWhole, agencies }: Reading): Group[] {
  const ids = isPhrase ? [] : idsIn(asked);
  const plain = ids[0] ?? asked;
  const words = wordsOf(plain);
  const group = (asked: string, term: Term): Group => ({ asked, terms: [term], agencies, numbers: [], isDemanded: isPhrase, times: 1 });
  if (words.length === 0) return [];
  if (isPhrase) return [group(asked, { kind: "phrase", words })];
  if (/[\p{L}\p{N}]\*$/u.test(asked)) return [group(asked, { kind: "beginning", words })];
  if (words.length > 1 && (ids.length > 0 || /\d/.test(asked)))
    return [{ ...group(asked, { kind: "phrase", words }), numbers: numbersAmong([plain]) }];
  if (words.length > 1 && (isWhole || agencies.length > 0)) return [group(asked, { kind: "phrase", words })];
  const numbers = words.length === 1 ? numbersAmong([plain]) : [];
  return words.map((word) => ({ ...group(words.length === 1 ? asked : word, { kind: "word", word, stem: stemOf(word) }), numbers }));
}

function either(one: Group, other: Group): Group {
  return {
    asked: `${one.asked} OR ${other.asked}`,
    terms: [...one.terms, ...other.terms],
    agencies: [...one.agencies, ...other.agencies],
    numbers: [...one.numbers, ...other.numbers],
    isDemanded: false,
    times: Math.max(one.times, other.times),
  };
}

function withoutWords(groups: Group[], words: ReadonlySet<string>): Group[] {
  const isAmong = ({ terms: [term, another], agencies }: Group) =>
    term?.kind === "word" && another === undefined && agencies.length === 0 && words.has(term.word);
  const others = groups.filter((group) => !isAmong(group));
  return others.length > 0 ? others : groups;
}

function distinct(groups: readonly Group[]): Group[] {
  const byTerms = new Map<string, Group>();
  for (const group of groups) {
    const key = JSON.stringify([group.terms.map((term) => (term.kind === "word" ? term.stem : term)), group.agencies]);
    const known = byTerms.get(key);
    if (known === undefined) byTerms.set(key, group);
    else known.times++;
  }
  return [...byTerms.values()];
}

/** Ids within addresses of SAM.gov, Grants.gov and Simpler.Grants.gov; or alone, if nothing else looks so. */
const UPSTREAM_IDS =
  /\b[0-9a-f]{32}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?<=(?:search-results-detail|opportunity|oppId)[/=])\d+\b/gi;

/** The ids of upstreams in a text. */
export function idsIn(text: string): string[] {
  return [...text.matchAll(UPSTREAM_IDS)].map(([id]) => id.toLowerCase());
}

/** A shorter number is as likely a quantity. */
const KEY_LENGTH_MIN = 4;
const YEAR = /^(19|20)\d\d$/;

/** The keys of a whole question: of all of it, without its first word, which may be an agency, and of an address of NSF. */
export function wholeNumbersIn(text: string): string[] {
  const plain = text.replace(/["“”]/g, " ").trim();
  const inAddress = /nsf\.gov\//i.test(plain) ? plain.match(/\b(nsf|pd)\d\d-?\w{3,5}\b/gi) : null;
  return numbersAmong([plain, plain.split(/\s+/).slice(1).join(" "), ...(inAddress ?? [])]);
}

/** The keys of those texts that may be numbers. */
export function numbersAmong(texts: readonly string[]): string[] {
  return [...new Set(texts.map(numberKeyOf).flatMap(withNsf))].filter(
    (key) => key.length >= KEY_LENGTH_MIN && /\d/.test(key) && !YEAR.test(key),
  );
}

/** NSF writes NSF 23-615, and Grants.gov 23-615 for the same number. */
function withNsf(key: string): string[] {
  const [, number] = /^(?:NSF)?(\d{5})$/.exec(key) ?? [];
  return number === undefined ? [key] : [key, key === number ? `NSF${number}` : number];
}

/** What the index has in the column `tags` for the number of a record. */
export function numberTag(key: string): string {
  return `\ue002${key.toLowerCase()}`;
}
