/**
 * The records that answer a question best, and how the question was understood. A record that has only some of the words follows those that
 * have more of them. Filters stay strict. (E-65)
 */
import type { Database } from "bun:sqlite";
import type { CatalogDb } from "../../db/engine.ts";
import { agencyCodeOf } from "../filter/columns.ts";
import { conditionOf, type Filter } from "../filter/filter.ts";
import type { Condition } from "../filter/kinds.ts";
import { textsOf, titleAndText } from "../filter/texts.ts";
import { idsOfUpstreamId, readOpportunities } from "../opportunities/records.ts";
import { unendedStatuses } from "../opportunities/status.ts";
import type { EpochMs } from "../text/instant.ts";
import { ACCEPTING_FACTOR } from "./accepting.ts";
import type { Budget } from "./budget.ts";
import { type Candidate, candidatesFor } from "./candidates.ts";
import { numberKeyOf } from "./number.ts";
import { groupsByWord, type Question, readQuestion, withoutPhrases } from "./question.ts";
import { scorerOf } from "./score.ts";
import type { SearchFile } from "./search-file.ts";
import { snippetOf } from "./snippet.ts";
import type { Understood } from "./understood.ts";
import { vocabularyOf } from "./vocabulary.ts";

/** Candidates that are compared exactly at a time. The next ones follow them, so that a walk through the pages shows each record once. */
const BLOCK = 150;
/** Blocks that are ranked at all: who needs more results sorts by a date. */
const BLOCKS_MAX = 20;
/** All of them are needed for any page: nobody knows how many are twins of others and give no row. */
const CANDIDATES = BLOCK * BLOCKS_MAX;
/** Characters of a description that are read for the score. */
const DESCRIPTION_MAX = 12_000;
/** Records with the number that was asked for. */
const NUMBERED_MAX = 50;

/** A result. `missing`: the words of the question that it does not have. */
type BestMatch = { id: string; snippet: string | null; missing: string[] };

/** `isWhole` is false if the budget was spent before all were found and compared. */
type BestMatches = { found: BestMatch[]; hasMore: boolean; understood: Understood; rows: number[] | null; twins: number; isWhole: boolean };

type BestMatchRequest = {
  words: string;
  filter: Omit<Filter, "words">;
  offset: number;
  limit: number;
  allWords?: boolean;
  allSources?: boolean;
};

/** A page of the best matches: `limit` of them from `offset` on. `rows` of the index are all that match, null if they are too many to count. */
export async function bestMatches(
  catalog: CatalogDb,
  { sqlite }: SearchFile,
  { words, filter, offset, limit, allWords = false, allSources = false }: BestMatchRequest,
  now: EpochMs,
  budget: Budget,
): Promise<BestMatches> {
  const { sql, values } = conditionOf(filter, now);
  const condition = sql === "true" ? undefined : { sql, values };
  const numbered = await withNumber(catalog, sqlite, words, condition);
  const groups = groupsIn(sqlite, allSources ? null : condition);
  const ranked: Ranked[] = groups.first(numbered.ids.map((id) => ({ id, missing: [] })));
  if (numbered.isWhole && ranked.length > 0) {
    const records = ranked.length;
    const unchanged = { corrections: [], agencies: [], isPhraseLoosened: false };
    const understood = { words: [words], ...unchanged, every: records, any: records, isAll: true };
    const found = ranked.slice(offset, offset + limit).map(({ id }) => ({ id, missing: [], snippet: null }));
    return { found, hasMore: ranked.length > offset + limit, understood, rows: null, twins: 0, isWhole: true };
  }
  const vocabulary = vocabularyOf(sqlite);
  let question = readQuestion(words, vocabulary, { allWords });
  let candidates = candidatesFor(sqlite, question, condition, CANDIDATES, budget);
  let isPhraseLoosened = false;
  if (candidates.best.length === 0 && question.phrases.length > 0 && !allWords) {
    question = readQuestion(withoutPhrases(words), vocabulary);
    candidates = candidatesFor(sqlite, question, condition, CANDIDATES, budget);
    isPhraseLoosened = candidates.best.length > 0;
  }
  const { any, every, isAll, telling, bits } = candidates;
  const { corrections, agencies } = question;
  const understood = { words: question.groups.map(({ asked }) => asked), corrections, agencies, isPhraseLoosened, every, any, isAll };
  const score = scorerOf(question, telling);
  let { isWhole } = candidates;
  for (let block = 0; block < BLOCKS_MAX && ranked.length <= offset + limit; block++) {
    if (block > 0 && budget.isSpent()) {
      isWhole &&= block * BLOCK >= candidates.best.length;
      break;
    }
    const rows = idsOf(sqlite, candidates.best.slice(block * BLOCK, (block + 1) * BLOCK));
    ranked.push(...groups.first(await compared(catalog, rows, question, bits, score, now)));
  }
  const groupOf = groupsByWord(question);
  return {
    found: ranked.slice(offset, offset + limit).map(({ id, missing, texts }) => {
      return { id, missing, snippet: texts === undefined ? null : snippetOf(texts, groupOf) };
    }),
    hasMore: ranked.length > offset + limit,
    understood,
    rows: candidates.rows,
    isWhole,
    twins: allSources || candidates.rows === null ? 0 : countTwinsAmong(sqlite, candidates.rows),
  };
}

type Ranked = { id: string; missing: string[]; texts?: string[] };

/**
 * Takes the first record of each group, and no group twice; in its place stands the canonical record if it meets the filters, too. With null
 * for the condition, every record is a group of its own.
 */
function groupsIn(sqlite: Database, condition: Condition | undefined | null): { first: (ranked: readonly Ranked[]) => Ranked[] } {
  const taken = new Set<string>();
  return {
    first: (ranked) => {
      const shown = condition === null ? new Map<string, string>() : shownInstead(sqlite, ranked, condition);
      return ranked.flatMap((each) => {
        const id = shown.get(each.id) ?? each.id;
        if (taken.has(id)) return [];
        taken.add(id);
        return [{ ...each, id }];
      });
    },
  };
}

/** For each twin: the canonical record if it meets the filters, else the first twin among these. */
function shownInstead(sqlite: Database, ranked: readonly Ranked[], condition: Condition | undefined): Map<string, string> {
  const among = "select id, twin_of from records where id in (select value from json_each(?)) and twin_of is not null";
  const twins = new Map(sqlite.query<unknown, [string]>(among).values(JSON.stringify(ranked.map(({ id }) => id))) as [string, string][]);
  const canonical = meeting(sqlite, [...twins.values()], condition ?? { sql: "true", values: [] });
  const firstOf = new Map<string, string>();
  return new Map(
    ranked.flatMap(({ id }): [string, string][] => {
      const group = twins.get(id);
      if (group === undefined) return [];
      if (!firstOf.has(group)) firstOf.set(group, canonical.has(group) ? group : id);
      return [[id, firstOf.get(group) ?? id]];
    }),
  );
}

/** Those of the ids whose records meet a condition. */
function meeting(sqlite: Database, ids: readonly string[], { sql, values }: Condition): Set<string> {
  const statement = `select id from records where id in (select value from json_each(?)) and (${sql})`;
  const rows = sqlite.query<unknown, (string | number)[]>(statement).values(JSON.stringify(ids), ...values) as [string][];
  return new Set(rows.map(([id]) => id));
}

function countTwinsAmong(sqlite: Database, rows: readonly number[]): number {
  const sql = "select count(*) - count(distinct coalesce(twin_of, id)) as twins from records where seq in (select value from json_each(?))";
  return sqlite.query<{ twins: number }, [string]>(sql).get(JSON.stringify(rows))?.twins ?? 0;
}

type Row = { id: string; seq: number; mask: number };

/** The ids of candidates; those that have gone since are left out. */
function idsOf(sqlite: Database, candidates: readonly Candidate[]): Row[] {
  const sql = "select seq, id from records where seq in (select value from json_each(?))";
  const masks = new Map(candidates.map(({ seq, mask }) => [seq, mask]));
  const rows = sqlite.query<Omit<Row, "mask">, [string]>(sql).all(JSON.stringify([...masks.keys()]));
  return rows.map((row) => ({ ...row, mask: masks.get(row.seq) ?? 0 }));
}

/**
 * Candidates in the order of their scores, of equal ones the newest first. All of them match, also one that has its words after what is read
 * of its texts: it has no score, and comes last.
 */
async function compared(
  catalog: CatalogDb,
  rows: readonly Row[],
  { groups }: Question,
  bits: readonly number[],
  score: ReturnType<typeof scorerOf>,
  now: EpochMs,
): Promise<Ranked[]> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const opportunities = await readOpportunities(catalog, [...byId.keys()], now);
  const scored = opportunities.map((opportunity) => {
    const texts = textsOf(opportunity, DESCRIPTION_MAX);
    const { score: plain, has } = score(texts, agencyCodeOf(opportunity));
    const mask = byId.get(opportunity.id)?.mask ?? 0; // Also knows the words after what is read of a long text.
    const missing = groups.filter((_, n) => has[n] !== true && (mask & (bits[n] ?? 0)) === 0).map(({ asked }) => asked);
    const factor = unendedStatuses.includes(opportunity.status) ? ACCEPTING_FACTOR : 1;
    return { id: opportunity.id, missing, texts: titleAndText(texts), score: plain * factor };
  });
  return scored.sort((left, right) => right.score - left.score || (byId.get(right.id)?.seq ?? 0) - (byId.get(left.id)?.seq ?? 0));
}

/**
 * The ids of the records whose number was asked for, however it is written: with other dashes, as an address, or an earlier number. `isWhole`
 * is true if the question is nothing else.
 */
async function withNumber(
  catalog: CatalogDb,
  sqlite: Database,
  words: string,
  condition: Condition | undefined,
): Promise<{ ids: string[]; isWhole: boolean }> {
  const byKey = sqlite.query<{ id: string }, [string, number]>(
    "select id from records where number_key = ? and number_key <> '' order by seq desc limit ?", // The index has only these.
  );
  const idsOfKeys = (keys: readonly string[]) => keys.flatMap((key) => byKey.all(key, NUMBERED_MAX).map(({ id }) => id));
  const whole = idsOfKeys(wholeKeysIn(words));
  for (const id of [words.trim(), ...[...words.matchAll(UPSTREAM_IDS)].map(([id]) => id.toLowerCase())])
    whole.push(...(await idsOfUpstreamId(catalog, id)));
  const found = whole.length > 0 ? whole : idsOfKeys(keysIn(words));
  const ids = [...new Set(found)].slice(0, NUMBERED_MAX);
  if (ids.length === 0 || condition === undefined) return { ids, isWhole: whole.length > 0 };
  const kept = meeting(sqlite, ids, condition);
  return { ids: ids.filter((id) => kept.has(id)), isWhole: whole.length > 0 };
}

/** Ids within addresses of SAM.gov, Grants.gov and Simpler.Grants.gov. */
const UPSTREAM_IDS =
  /\b[0-9a-f]{32}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?<=(?:search-results-detail|opportunity|oppId)[/=])\d+\b/gi;

/** A shorter number is as likely a quantity. */
const KEY_LENGTH_MIN = 4;
const YEAR = /^(19|20)\d\d$/;

/** The whole question as a number, without its first word, which may be an agency, and numbers in an address of NSF. */
function wholeKeysIn(words: string): string[] {
  const plain = words.replace(/["“”]/g, " ").trim();
  const inAddress = /nsf\.gov\//i.test(plain) ? plain.match(/\b(nsf|pd)\d\d-?\w{3,5}\b/gi) : null;
  return keysAmong([plain, plain.split(/\s+/).slice(1).join(" "), ...(inAddress ?? [])]);
}

/** Each word of a short question that may be a number. */
function keysIn(words: string): string[] {
  const parts = words.replace(/["“”]/g, " ").trim().split(/\s+/);
  return parts.length > PARTS_MAX ? [] : keysAmong(parts);
}

const PARTS_MAX = 12;

function keysAmong(texts: readonly string[]): string[] {
  return [...new Set(texts.map(numberKeyOf).flatMap(withNsf))].filter(
    (key) => key.length >= KEY_LENGTH_MIN && /\d/.test(key) && !YEAR.test(key),
  );
}

/** NSF writes NSF 23-615, and Grants.gov 23-615 for the same number. */
function withNsf(key: string): string[] {
  const [, number] = /^(?:NSF)?(\d{5})$/.exec(key) ?? [];
  return number === undefined ? [key] : [key, key === number ? `NSF${number}` : number];
}
