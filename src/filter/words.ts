/** The words of a filter: which records match a question. One query of FTS5 says so, in the index and for a single record. (E-150) */
import { Database } from "bun:sqlite";
import { Type } from "@sinclair/typebox";
import { withParents } from "../agencies/table.ts";
import { numberKeyOf, numberOf, type WholeOpportunity } from "../opportunities/opportunity.ts";
import { memoizeLast } from "../text/memoize.ts";
import { BadValue } from "../text/read-value.ts";
import { stemOf } from "../text/words-of.ts";
import { agencyTag } from "./agency-words.ts";
import { agencyCodeOf } from "./columns.ts";
import type { Condition, Field } from "./kinds.ts";
import { type Group, numberTag, type Question, readQuestion } from "./question.ts";
import { CREATE_TEXTS, INSERT_TEXTS, indexedTexts } from "./texts.ts";

const [WORDS_MAX, LENGTH_MAX] = [64, 1000];
/** Each is looked up as all words that begin so. */
const PREFIXES_MAX = 8;
/** A single letter begins a large part of all words. */
const PREFIX_LENGTH_MIN = 2;

const HELP = 'what is sought: quantum sensing, "a phrase", +exactly, quant*, laser OR lidar, -mustnot';

/** A text, or in JSON a list: there, an item of several plain words is a phrase, as the shell removes the quotes of an argument. */
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
    const { groups, excluded } = readQuestion(text);
    const terms = [...groups, ...excluded].flatMap((group) => group.terms);
    const count = terms.reduce((sum, term) => sum + (term.kind === "word" ? 1 : term.words.length), 0);
    if (count > WORDS_MAX) throw new BadValue(`must have at most ${WORDS_MAX} words`);
    if (count === 0) throw new BadValue(`must have letters or digits; not "${text}"`);
    const beginnings = terms.flatMap((term) => (term.kind === "beginning" ? (term.words.at(-1) ?? "") : []));
    const short = beginnings.find((beginning) => [...beginning].length < PREFIX_LENGTH_MIN);
    if (short !== undefined) throw new BadValue(`must have at least two letters or digits before *; not "${short}*"`);
    if (beginnings.length > PREFIXES_MAX) throw new BadValue(`must have at most ${PREFIXES_MAX} words with *`);
    return text;
  },
  words: (text) => `words ${text}`,
  matches: (text, opportunity) => {
    const question = readLast(text);
    const record = recordInMemory(opportunity);
    addForms(record, [...question.groups, ...question.excluded]);
    const { included, excluded } = matchesOf(question);
    const isMatch = ({ sql, values }: Condition) =>
      record.sqlite.query<unknown, (string | number)[]>(`select 1 from texts where texts match ${sql}`).get(...values) !== null;
    return (included === undefined || isMatch(included)) && (excluded === undefined || !isMatch(excluded));
  },
  condition: (text) => {
    const { included, excluded } = matchesOf(readLast(text));
    const rows = ({ sql }: Condition) => `(select rowid from texts where texts match ${sql})`;
    const parts = [included && `seq in ${rows(included)}`, excluded && `seq not in ${rows(excluded)}`].filter((part) => part !== undefined);
    return { sql: parts.join(" and ") || "true", values: [...(included?.values ?? []), ...(excluded?.values ?? [])] };
  },
};

const readLast = memoizeLast(readQuestion);

/** Several words without any operator are a phrase, and every quote is closed. */
function asTyped(argument: string): string {
  if (/\S\s+\S/.test(argument) && !/["“”*]|(^|\s)([-+]|(AND|OR|NOT|not) )/.test(argument)) return `"${argument}"`;
  return (argument.match(/["“”]/g) ?? []).length % 2 === 0 ? argument : `${argument}"`;
}

// ---- The query of FTS5. All words of a stem are those of the table `words`, so SQL completes it.

/** Expressions of SQL that make the queries of what must and of what must not be there; undefined where there is none. */
export function matchesOf({ groups, excluded, numbers }: Question): { included: Condition | undefined; excluded: Condition | undefined } {
  const tags = numbers.map((key) => `OR "${numberTag(key)}"`);
  const [all, none] = [joined(groups.map(piecesOf), " AND "), joined(excluded.map(piecesOf), " OR ")];
  return {
    included: groups.length === 0 ? undefined : expressionOf(["(", ...all, ")", ...tags]),
    excluded: excluded.length === 0 ? undefined : expressionOf(none),
  };
}

/** An expression of SQL that makes the query of what must be there even in a record that has only some of the words; undefined if nothing must. */
export function demandOf({ groups }: Pick<Question, "groups">): Condition | undefined {
  const demanded = groups.filter(({ isDemanded }) => isDemanded);
  return demanded.length === 0 ? undefined : expressionOf(joined(demanded.map(piecesOf), " AND "));
}

/** A piece of a query for FTS5. A stem is expanded to its words, each after " OR ". */
type Piece = string | { stem: string };

function piecesOf({ terms, agencies, numbers }: Group): Piece[] {
  const each = terms.map((term): Piece[] => {
    if (term.kind === "word") return [`"${term.word}"`, { stem: term.stem }];
    return [`"${term.words.join(" ")}"${term.kind === "beginning" ? "*" : ""}`];
  });
  const tags = [...agencies.map(agencyTag), ...numbers.map(numberTag)].map((tag) => [`"${tag}"`]);
  return ["(", ...joined([...each, ...tags], " OR "), ")"];
}

function joined(parts: readonly Piece[][], operator: string): Piece[] {
  return parts.flatMap((part, n) => (n === 0 ? part : [operator, ...part]));
}

const FORMS = `coalesce((select group_concat(' OR "' || word || '"', '') from words where stem = ?), '')`;

function expressionOf(pieces: readonly Piece[]): Condition {
  return {
    sql: `(${pieces.map((piece) => (typeof piece === "string" ? "?" : FORMS)).join(" || ")})`,
    values: pieces.map((piece) => (typeof piece === "string" ? piece : piece.stem)),
  };
}

/** The query of FTS5 that an expression makes in an index. */
export function queryOf(sqlite: Database, { sql, values }: Condition): string {
  return sqlite.query<{ query: string }, (string | number)[]>(`select ${sql} as query`).get(...values)?.query ?? "";
}

// ---- An index of one record. Asking FTS5 itself is the only way to match exactly as search.db does.

type OneRecord = { sqlite: Database; stems: Set<string> };

const recordInMemory = memoizeLast((opportunity: WholeOpportunity): OneRecord => {
  if (memory === undefined) {
    memory = new Database(":memory:");
    memory.run(CREATE_TEXTS);
    memory.run("create virtual table vocabulary using fts5vocab (texts, row)");
    memory.run("create table words (word text primary key, stem text not null)");
    memory.run("create index words_by_stem on words (stem)");
  }
  memory.run("insert into texts (texts) values ('delete-all')");
  memory.run("delete from words");
  memory.query(INSERT_TEXTS).run(1, ...indexedTexts(opportunity), tagsOf(opportunity).join(" "));
  return { sqlite: memory, stems: new Set() };
});
let memory: Database | undefined;

/** The words of a stem differ from it only in at most this many of its last characters. */
const CHANGED_END = 2;

function addForms({ sqlite, stems }: OneRecord, groups: readonly Group[]): void {
  const beginning = sqlite.query<{ term: string }, [string, string]>("select term from vocabulary where term >= ? and term < ?");
  for (const term of groups.flatMap(({ terms }) => terms)) {
    if (term.kind !== "word" || stems.has(term.stem)) continue;
    stems.add(term.stem);
    const begin = term.stem.slice(0, Math.max(1, term.stem.length - CHANGED_END));
    for (const { term: word } of beginning.all(begin, `${begin}\u{10ffff}`))
      if (stemOf(word) === term.stem) sqlite.query("insert or ignore into words values (?, ?)").run(word, term.stem);
  }
}

/** What the index has of a record besides its texts: the agencies that it is of, and its number. */
export function tagsOf(opportunity: WholeOpportunity): string[] {
  const [agency, key] = [agencyCodeOf(opportunity), numberKeyOf(numberOf(opportunity) ?? "")];
  return [...(agency === null ? [] : withParents(agency).map(agencyTag)), ...(key === "" ? [] : [numberTag(key)])];
}
