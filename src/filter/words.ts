/** The words of a filter: what a person types becomes a query of FTS5, whatever it is, without a syntax that could be wrong. (E-45) */
import { Database } from "bun:sqlite";
import { Type } from "@sinclair/typebox";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { BadValue } from "../text/bad-value.ts";
import { memoizeLast } from "../text/memoize.ts";
import type { Condition, Field } from "./kinds.ts";
import { CREATE_TEXTS, INSERT_TEXTS, textsOf } from "./texts.ts";

/** The most words and phrases of a filter, and the most characters. */
const [TERMS_MAX, LENGTH_MAX] = [64, 1000];
/** The most words with `*`: each is looked up as all words that begin so. */
const PREFIXES_MAX = 8;
/** At least two letters or digits, because a single letter begins a large part of all words. */
const PREFIX = /[\p{L}\p{N}]\p{M}*[\p{L}\p{N}]\*$/u;

const HELP = 'what is sought: quantum sensing, "a phrase", quant*, +must, -mustnot';

/**
 * All words must occur. In JSON a text such as `quantum "machine learning" -optical`, or a list of such texts. In a list, an item of several
 * plain words is a phrase, as the shell removes the quotes of an argument.
 */
export const words: Field<string> = {
  label: "Words",
  value: "<words>",
  help: HELP,
  schema: Type.String({ description: HELP }),
  read: (given) => {
    const texts = typeof given === "string" ? [given] : given;
    if (!Array.isArray(texts) || !texts.every((text) => typeof text === "string")) throw new BadValue("must be a text or a list of texts");
    const text = typeof given === "string" ? given : texts.map(asTyped).join(" ");
    if (text.length > LENGTH_MAX) throw new BadValue(`must have at most ${LENGTH_MAX} characters`);
    const terms = termsOf(text);
    if (terms.length > TERMS_MAX) throw new BadValue(`must have at most ${TERMS_MAX} words`);
    if (terms.length === 0) throw new BadValue(`must have letters or digits; not "${text}"`);
    const prefixes = terms.filter(({ isPrefix }) => isPrefix).map((term) => term.text);
    const short = prefixes.find((prefix) => !PREFIX.test(prefix));
    if (short !== undefined) throw new BadValue(`must have at least two letters or digits before *; not "${short}"`);
    if (prefixes.length > PREFIXES_MAX) throw new BadValue(`must have at most ${PREFIXES_MAX} words with *`);
    return text;
  },
  words: (text) => `words ${text}`,
  matches: (text, opportunity) => {
    const { include, exclude } = queriesOf(text);
    const isMatch = (query: string) => textsInMemory(opportunity).query("select 1 from texts where texts match ?").get(query) !== null;
    return (include === undefined || isMatch(include)) && (exclude === undefined || !isMatch(exclude));
  },
  condition: (text) => {
    const { include } = queriesOf(text);
    const exclusion = exclusionOf(text);
    return include === undefined ? exclusion : { sql: `seq in (${MATCHING}) and ${exclusion.sql}`, values: [include, ...exclusion.values] };
  },
};

const MATCHING = "select rowid from texts where texts match ?";

/** The condition that the words with a "-" do not occur. */
function exclusionOf(text: string): Condition {
  const { exclude } = queriesOf(text);
  return exclude === undefined ? { sql: "true", values: [] } : { sql: `seq not in (${MATCHING})`, values: [exclude] };
}

/** FTS5 queries: what must occur, and what must not. Undefined where there are no such words. */
export function queriesOf(text: string): { include: string | undefined; exclude: string | undefined } {
  const terms = termsOf(text);
  const [excluded, included] = [terms.filter(({ isExcluded }) => isExcluded), terms.filter(({ isExcluded }) => !isExcluded)];
  return { include: joined(included, " AND "), exclude: joined(excluded, " OR ") };
}

/** A full-text table with this opportunity alone. Asking FTS5 itself is the only way to match exactly as search.db does. */
const textsInMemory = memoizeLast((opportunity: WholeOpportunity): Database => {
  if (memory === undefined) {
    memory = new Database(":memory:");
    memory.run(CREATE_TEXTS);
  }
  memory.run("insert into texts (texts) values ('delete-all')");
  memory.query(INSERT_TEXTS).run(1, ...textsOf(opportunity), "");
  return memory;
});
let memory: Database | undefined;

/** `isOther` is true after OR: this one may occur in place of the one before. */
type Term = { text: string; isPrefix: boolean; isExcluded: boolean; isOther: boolean };

/** An argument as it stands in a text: several words without any operator are a phrase, and every quote is closed. */
function asTyped(argument: string): string {
  if (/\S\s+\S/.test(argument) && !/["“”*]|(^|\s)([-+]|AND |OR )/.test(argument)) return `"${argument}"`;
  return (argument.match(/["“”]/g) ?? []).length % 2 === 0 ? argument : `${argument}"`;
}

function termsOf(text: string): Term[] {
  const terms = [
    ...text
      .replace(/[“”]/g, '"')
      .replace(/[\0\p{Co}]/gu, " ")
      .matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g),
  ]
    .map(([, sign, phrase, word = ""]) => ({
      text: phrase ?? word,
      isPrefix: phrase === undefined && /[\p{L}\p{N}]\*$/u.test(word),
      isExcluded: sign === "-",
      isOther: false,
      isOperator: phrase === undefined && /^(AND|OR)$/.test(word),
    }))
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text)); // Of anything else, the index has nothing.
  return terms.flatMap(({ isOperator, ...term }, n) => {
    const before = terms[n - 1];
    const isOther = n > 1 && before?.isOperator === true && before.text === "OR" && terms[n - 2]?.isExcluded === false;
    return isOperator ? [] : [{ ...term, isOther }];
  });
}

function joined(terms: readonly Term[], operator: string): string | undefined {
  const groups: string[][] = [];
  for (const { text, isPrefix, isOther } of terms) {
    const query = `"${text}"${isPrefix ? "*" : ""}`;
    const last = groups.at(-1);
    if (isOther && last !== undefined) last.push(query);
    else groups.push([query]);
  }
  const queries = groups.map((group) => (group.length === 1 ? `${group[0]}` : `(${group.join(" OR ")})`));
  return queries.length === 0 ? undefined : queries.join(operator);
}
