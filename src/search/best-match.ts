/**
 * The records that answer a question best, and how the question was understood. Matches come first, then records with only some of the words,
 * those with the most words first. Filters stay strict. (E-65, E-150)
 */
import type { Database } from "bun:sqlite";
import type { CatalogDb } from "../../db/engine.ts";
import { agencyCodeOf } from "../filter/columns.ts";
import { conditionOf, type Filter } from "../filter/filter.ts";
import type { Condition } from "../filter/kinds.ts";
import { idsIn, numbersAmong, wholeNumbersIn, withoutPhrases } from "../filter/question.ts";
import { textsOf, titleAndText } from "../filter/texts.ts";
import { numberKeyOf } from "../opportunities/opportunity.ts";
import { idsOfUpstreamId, readOpportunities } from "../opportunities/records.ts";
import type { EpochMs } from "../text/instant.ts";
import { ACCEPTING_FACTOR, IS_ACCEPTING } from "./accepting.ts";
import type { Budget } from "./budget.ts";
import { type Candidate, COUNTED_MAX, candidatesFor } from "./candidates.ts";
import { feedbackOf } from "./feedback.ts";
import { countGroups, type GroupCounts } from "./group-counts.ts";
import { MATCH, MATCHING, PARTIAL } from "./masks.ts";
import { countPreferred, type Worth, wantedOf, worthIn } from "./preferred.ts";
import { groupsByWord, type SpelledQuestion, spellQuestion } from "./question.ts";
import { scorerOf } from "./score.ts";
import type { SearchFile } from "./search-file.ts";
import { snippetOf } from "./snippet.ts";
import { isSpanish } from "./spanish.ts";
import type { Understood } from "./understood.ts";
import { vocabularyOf } from "./vocabulary.ts";

/** Candidates are compared exactly in blocks of this size. Blocks keep their order, so paging shows each record once. */
const BLOCK = 150;
/** Blocks that are compared exactly. Later ones stay in the order of their weights. */
const BLOCKS_MAX = 20;
/** Candidates for the first pages. It is not known yet how many are linked records of others and add no row. */
const CANDIDATES = BLOCK * BLOCKS_MAX;
/** Characters of a description that are read for the score. */
const DESCRIPTION_MAX = 12_000;
/** What a title with all words that the best results share adds, as a share of the highest score. */
const FEEDBACK_WEIGHT = 0.1;
/** Records with the number that was asked for. */
const NUMBERED_MAX = 50;

/**
 * A result. `missing`: the words of the question that it lacks; empty if it matches. `named`: the words for which it has only a synonym.
 * `isFar`: it matches, but the words are far apart.
 */
type BestMatch = { id: string; snippet: string | null; isMatch: boolean; isFar: boolean; missing: string[]; named: string[] };

/**
 * `rows`: all rows of the index that match or, if none does, have some of the words; null if there are too many to count. `isAll` is false if
 * there may be more than were counted. `isWhole` is false if the budget was spent before all were found and compared.
 */
type BestMatches = GroupCounts & {
  found: BestMatch[];
  hasMore: boolean;
  understood: Understood;
  rows: number[] | null;
  isAll: boolean;
  /** The newest rows that meet the filters, whatever their words are. */
  meeting: number[] | undefined;
  isWhole: boolean;
};

type BestMatchRequest = {
  words: string;
  filter: Omit<Filter, "words">;
  offset: number;
  limit: number;
  allSources?: boolean;
  /** Leaves out records that have only some of the words. */
  onlyMatching?: boolean;
};

/** A page of the best matches: `limit` of them from `offset` on. */
export async function bestMatches(
  catalog: CatalogDb,
  { sqlite }: SearchFile,
  { words, filter, offset, limit, allSources = false, onlyMatching = false }: BestMatchRequest,
  now: EpochMs,
  budget: Budget,
): Promise<BestMatches> {
  const condition = conditionIn(filter, now);
  const most = offset + limit > CANDIDATES / 2 ? Number.POSITIVE_INFINITY : CANDIDATES;
  const looked = lookFor(sqlite, words, condition, most, budget);
  const { question, candidates } = looked;
  const wanted = wantedOf(question.preferences, filter, now);
  const numbered = await findNumbered(catalog, sqlite, words, condition, candidates.kinds);
  const counts = countFound(sqlite, candidates, numbered, allSources);
  const kept = onlyMatching || numbered.isWhole ? candidates.best.filter(({ isMatch }) => isMatch) : candidates.best;
  const rowsFound = keptRows(candidates);
  const rows = kept.map(({ seq }) => seq);
  const worthOf = wanted.length === 0 ? (weight: number) => weight : worthIn(sqlite, wanted, rows);
  const best = wanted.length === 0 ? kept : preferredFirst(kept, worthOf);
  const groups = groupsIn(sqlite, allSources ? null : { filters: condition, kinds: candidates.kinds });
  const ranked: Ranked[] = groups.first(numbered.rows.filter(({ isMatch }) => isMatch || !onlyMatching));
  const score = scorerOf(question, candidates.idf);
  const groupOf = groupsByWord(question);
  let { isWhole } = candidates;
  for (let block = 0; block * BLOCK < best.length && ranked.length <= offset + limit; block++) {
    if (block > 0 && budget.isSpent()) {
      isWhole = false;
      break;
    }
    const among = idsOf(sqlite, best.slice(block * BLOCK, (block + 1) * BLOCK));
    ranked.push(
      ...groups.first(
        block < BLOCKS_MAX ? await compared(catalog, among, looked, { score, worthOf, groupOf }, now) : among.map(uncompared),
      ),
    );
  }
  return {
    found: ranked.slice(offset, offset + limit).map(({ texts, ...each }) => {
      return { ...each, snippet: texts === undefined ? null : snippetOf(texts, groupOf) };
    }),
    hasMore: ranked.length > offset + limit,
    understood: {
      ...looked.understood,
      cutNumber: numbered.cutNumber,
      preferences: countPreferred(sqlite, wanted, rowsFound, allSources),
    },
    ...counts,
    rows: rowsFound,
    isAll: candidates.isAll,
    meeting: candidates.meeting,
    isWhole,
  };
}

/** How many opportunities match, and how many more have some of the words. The order does not matter. */
export async function countMatches(
  catalog: CatalogDb,
  { sqlite }: SearchFile,
  { words, filter, allSources = false }: Pick<BestMatchRequest, "words" | "filter" | "allSources">,
  now: EpochMs,
  budget: Budget,
): Promise<Looked & { understood: Understood; counts: GroupCounts }> {
  const condition = conditionIn(filter, now);
  const looked = lookFor(sqlite, words, condition, 0, budget);
  const numbered = await findNumbered(catalog, sqlite, words, condition, looked.candidates.kinds);
  const wanted = wantedOf(looked.question.preferences, filter, now);
  const preferences = countPreferred(sqlite, wanted, keptRows(looked.candidates), allSources);
  const counts = countFound(sqlite, looked.candidates, numbered, allSources);
  return { ...looked, understood: { ...looked.understood, cutNumber: null, preferences }, counts };
}

/** Counts what was found. If the question is only a number, partial matches are of no use and are not counted. */
function countFound(sqlite: Database, candidates: Looked["candidates"], { rows, isWhole }: Numbered, allSources: boolean): GroupCounts {
  const { matching, partial, duplicates } = allSources ? { ...candidates, duplicates: 0 } : countGroups(sqlite, candidates);
  const more = rows.filter(({ isMatch, isPartial }) => !isMatch && (isWhole || !isPartial)).length;
  return { matching, partial: isWhole ? more : partial + more, duplicates };
}

/** The condition of filters; undefined if there are none. */
function conditionIn(filter: BestMatchRequest["filter"], now: EpochMs): Condition | undefined {
  const { sql, values } = conditionOf(filter, now);
  return sql === "true" ? undefined : { sql, values };
}

type Looked = {
  question: SpelledQuestion;
  candidates: ReturnType<typeof candidatesFor>;
  understood: Omit<Understood, "preferences" | "cutNumber">;
};

/** Reads a question and finds the candidates. If no record has its phrases, their words may stand anywhere, and no record counts as a match. */
export function lookFor(sqlite: Database, words: string, condition: Condition | undefined, most: number, budget: Budget): Looked {
  const vocabulary = vocabularyOf(sqlite);
  let question = spellQuestion(words, vocabulary);
  let candidates = candidatesFor(sqlite, question, { condition, most }, budget);
  const loose = candidates.matching + candidates.partial === 0 ? withoutPhrases(words) : words;
  const isLoosened = loose !== words;
  const phrases = question.groups.filter(({ isDemanded }) => isDemanded).map(({ asked }) => asked);
  if (isLoosened) {
    question = spellQuestion(loose, vocabulary);
    candidates = candidatesFor(sqlite, question, { condition, most, isDemanding: false }, budget);
  }
  const { groups, excluded, corrections, synonyms, agencies } = question;
  const asked = (some: readonly { asked: string }[]) => some.map((each) => each.asked);
  const loosened = isLoosened ? { phrases, isFiltered: condition !== undefined } : null;
  const understood = {
    words: asked(groups),
    excluded: asked(excluded),
    corrections,
    synonyms,
    agencies,
    loosened,
    isSpanish: isSpanish(words),
  };
  return { question, candidates, understood };
}

/** By weight, which counts more for each preference that a record meets. What `MATCHING` adds is not multiplied: matches stay first. */
function preferredFirst(candidates: readonly Candidate[], worthOf: Worth): Candidate[] {
  const weighed = candidates.map((candidate) => {
    const matching = candidate.isMatch ? MATCHING : 0;
    return { candidate, worth: worthOf(candidate.weight - matching, candidate.seq) + matching };
  });
  return weighed
    .sort((left, right) => right.worth - left.worth || right.candidate.seq - left.candidate.seq)
    .map(({ candidate }) => candidate);
}

/** All rows that match or, if none does, have some of the words; null if there are too many to count. */
function keptRows({ isAll, kinds, matching }: Looked["candidates"]): number[] | null {
  return isAll ? rowsOf(kinds, matching > 0 ? MATCH : PARTIAL) : null;
}

/** Rows of a kind, null if they are too many to count by value. */
function rowsOf(kinds: Uint8Array, kind: number): number[] | null {
  const rows: number[] = [];
  for (let row = kinds.indexOf(kind); row !== -1; row = kinds.indexOf(kind, row + 1)) if (rows.push(row) > COUNTED_MAX) return null;
  return rows;
}

type Ranked = Omit<BestMatch, "snippet"> & { texts?: string[] };

/** The condition of the filters, and for each row of the index whether it matches them and the words. */
type Matching = { filters: Condition | undefined; kinds: Uint8Array };

/**
 * Takes one result for each group, at the place of its first match, or else of its first record. It shows, of the records that match, the canonical one, else the first by
 * id, as any other order does. If none matches, it shows the canonical record if that meets the filters. If `matching` is null, every
 * record is a group of its own.
 */
function groupsIn(sqlite: Database, matching: Matching | null): { first: (ranked: readonly Ranked[]) => Ranked[] } {
  const taken = new Set<string>();
  return {
    first: (ranked) => {
      const { groups, shown } = matching === null ? NO_GROUPS : shownInstead(sqlite, ranked, matching);
      const groupOf = ({ id }: Ranked) => groups.get(id) ?? id;
      const matched = new Set(ranked.filter(({ isMatch }) => isMatch).map(groupOf));
      return ranked.flatMap((each) => {
        const group = groupOf(each);
        if (taken.has(group) || (!each.isMatch && matched.has(group))) return [];
        taken.add(group);
        return [{ ...each, id: shown.get(group) ?? each.id }];
      });
    },
  };
}

/** The groups of linked records, and which record of a group is shown; if there is none for a group, the first one is shown. */
type Shown = { groups: Map<string, string>; shown: Map<string, string> };

const NO_GROUPS: Shown = { groups: new Map(), shown: new Map() };

function shownInstead(sqlite: Database, ranked: readonly Ranked[], { filters, kinds }: Matching): Shown {
  const among = "select id, duplicate_of from records where id in (select value from json_each(?)) and duplicate_of is not null";
  const groups = new Map(sqlite.query<unknown, [string]>(among).values(JSON.stringify(ranked.map(({ id }) => id))) as [string, string][]);
  const ofKind = (isMatch: boolean) => [
    ...new Set(ranked.flatMap((each) => (each.isMatch === isMatch ? (groups.get(each.id) ?? []) : []))),
  ];
  const matching = ofKind(true);
  const shown = new Map([...meeting(sqlite, ofKind(false), filters ?? { sql: "true", values: [] })].map((id) => [id, id]));
  if (matching.length === 0) return { groups, shown };
  const inGroups = `select id, coalesce(duplicate_of, id), seq from records where ${GROUP_AMONG} order by duplicate_of is not null desc, id desc`;
  const rows = sqlite.query<unknown, [string]>(inGroups).values(JSON.stringify(matching)) as [string, string, number][];
  // The first by id, or the canonical record, is the last one here.
  for (const [id, group, row] of rows) if (kinds[row] === MATCH) shown.set(group, id);
  return { groups, shown };
}

const GROUP_AMONG = "(id in (select value from json_each(?1)) or duplicate_of in (select value from json_each(?1)))";

/** The ids whose records meet a condition. */
function meeting(sqlite: Database, ids: readonly string[], { sql, values }: Condition): Set<string> {
  const statement = `select id from records where id in (select value from json_each(?)) and (${sql})`;
  const rows = sqlite.query<unknown, (string | number)[]>(statement).values(JSON.stringify(ids), ...values) as [string][];
  return new Set(rows.map(([id]) => id));
}

type CandidateRow = { id: string; seq: number; mask: number; isMatch: boolean; isAccepting: boolean };

/** The ids of candidates, in the same order. Records that were deleted meanwhile are left out. */
function idsOf(sqlite: Database, candidates: readonly Candidate[]): CandidateRow[] {
  const sql = `select seq, id, ${IS_ACCEPTING} as accepts from records where seq in (select value from json_each(?))`;
  const rows = sqlite
    .query<{ seq: number; id: string; accepts: number }, [string]>(sql)
    .all(JSON.stringify(candidates.map(({ seq }) => seq)));
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  return candidates.flatMap(({ seq, mask, isMatch }) => {
    const row = bySeq.get(seq);
    return row === undefined ? [] : [{ id: row.id, seq, mask, isMatch, isAccepting: row.accepts === 1 }];
  });
}

/**
 * Records with a number that was asked for. `isWhole`: the question is only that number. `cutNumber`: the beginning of their numbers, as it was
 * typed.
 */
type Numbered = { rows: (Ranked & { isPartial: boolean })[]; isWhole: boolean; cutNumber: string | null };

async function findNumbered(
  catalog: CatalogDb,
  sqlite: Database,
  words: string,
  condition: Condition | undefined,
  kinds: Uint8Array,
): Promise<Numbered> {
  const { ids, isWhole, cutNumber } = await withNumber(catalog, sqlite, words, condition);
  const rowOf = sqlite.query<{ seq: number }, [string]>("select seq from records where id = ?");
  const rows = ids.map((id) => {
    const kind = kinds[rowOf.get(id)?.seq ?? 0];
    return { id, isMatch: kind === MATCH, isFar: false, isPartial: kind === PARTIAL, missing: [], named: [] };
  });
  return { rows, isWhole: isWhole && rows.length > 0, cutNumber };
}

function uncompared({ id, isMatch }: CandidateRow): Ranked {
  return { id, isMatch, isFar: false, missing: [], named: [] };
}

/**
 * Candidates by score, the newest first among equal scores; matches come before the others. A record in which the words are far apart counts as
 * one of the others.
 */
async function compared(
  catalog: CatalogDb,
  rows: readonly CandidateRow[],
  { question: { groups, numbers }, candidates: { bits } }: Looked,
  { score, worthOf, groupOf }: { score: ReturnType<typeof scorerOf>; worthOf: Worth; groupOf: ReturnType<typeof groupsByWord> },
  now: EpochMs,
): Promise<Ranked[]> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const opportunities = await readOpportunities(catalog, [...byId.keys()], now);
  const scored = opportunities.map((opportunity) => {
    const texts = textsOf(opportunity, DESCRIPTION_MAX);
    const { score: plain, has, named, isClose } = score(texts, agencyCodeOf(opportunity));
    const { mask, isMatch, isAccepting, seq } = byId.get(opportunity.id) ?? { mask: 0, isMatch: false, isAccepting: false, seq: 0 };
    // The mask also covers the words after the scored part of a long text.
    const lacked = isMatch
      ? []
      : groups.flatMap(({ asked }, n) => (has[n] || (mask & (bits[n] ?? 0)) !== 0 ? [] : { asked, isNamed: named[n] }));
    const [others = [], missing = []] = [true, false].map((which) =>
      lacked.filter(({ isNamed }) => isNamed === which).map(({ asked }) => asked),
    );
    const isFar = isMatch && numbers.length === 0 && !isClose;
    const worth = worthOf(plain * (isAccepting ? ACCEPTING_FACTOR : 1), seq);
    return { id: opportunity.id, isMatch, isFar, missing, named: others, texts: titleAndText(texts), score: worth, seq };
  });
  const isFirst = ({ isMatch, isFar }: Ranked) => Number(isMatch && !isFar);
  const inOrder = (some: typeof scored) =>
    some.toSorted((left, right) => isFirst(right) - isFirst(left) || right.score - left.score || right.seq - left.seq);
  const ordered = inOrder(scored);
  const best = Math.max(0, ...scored.map(({ score }) => score));
  const feedback = feedbackOf(
    ordered.map(({ texts: [title = ""] }) => title),
    (word) => groupOf(word) !== undefined,
  );
  return inOrder(ordered.map((each, n) => ({ ...each, score: each.score + FEEDBACK_WEIGHT * best * (feedback[n] ?? 0) })));
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
): Promise<{ ids: string[]; isWhole: boolean; cutNumber: string | null }> {
  const byKey = sqlite.query<{ id: string }, [string, number]>(
    "select id from records where number_key = ? and number_key <> '' order by seq desc limit ?", // The index has only these.
  );
  const idsOfKeys = (keys: readonly string[]) => keys.flatMap((key) => byKey.all(key, NUMBERED_MAX).map(({ id }) => id));
  const whole = idsOfKeys(wholeNumbersIn(words));
  for (const id of [words.trim(), ...idsIn(words)]) whole.push(...(await idsOfUpstreamId(catalog, id)));
  const isWhole = whole.length > 0;
  const [cutNumber = null] = isWhole ? [] : cutNumbersIn(words).filter((number) => withBeginning(sqlite, number).length > 0);
  const found = isWhole ? whole : cutNumber === null ? idsOfKeys(keysIn(words)) : withBeginning(sqlite, cutNumber);
  const ids = [...new Set(found)].slice(0, NUMBERED_MAX);
  if (ids.length === 0 || condition === undefined) return { ids, isWhole, cutNumber };
  const kept = meeting(sqlite, ids, condition);
  return { ids: ids.filter((id) => kept.has(id)), isWhole, cutNumber: kept.size > 0 ? cutNumber : null };
}

/** A shorter beginning is of too many numbers. */
const BEGINNING_MIN = 6;

/** What may be a number without its last characters: the only word of a question, or the only one after an agency. */
function cutNumbersIn(words: string): string[] {
  const typed = words.replace(/["“”]/g, " ").trim().split(/\s+/);
  return typed.length > 2 ? [] : typed.slice(-1).filter((word) => numbersAmong([word]).some((key) => key.length >= BEGINNING_MIN));
}

/** The ids of the records whose numbers go on after this beginning, the newest first. */
function withBeginning(sqlite: Database, beginning: string): string[] {
  const sql =
    "select id from records where number_key > $key and number_key < $key || '~' and number_key <> '' order by seq desc limit $limit";
  const rows = sqlite.query<{ id: string }, { key: string; limit: number }>(sql).all({ key: numberKeyOf(beginning), limit: NUMBERED_MAX });
  return rows.map(({ id }) => id);
}

/** Each word of a short question that may be a number. */
function keysIn(words: string): string[] {
  const parts = words.replace(/["“”]/g, " ").trim().split(/\s+/);
  return parts.length > PARTS_MAX ? [] : numbersAmong(parts);
}

const PARTS_MAX = 12;
