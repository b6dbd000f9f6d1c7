/** A search: the best matches of a question first, or all matches sorted by a date or an amount. */
import type { CatalogDb } from "../../db/engine.ts";
import { type Filter, fieldNames } from "../filter/filter.ts";
import { readQuestion } from "../filter/question.ts";
import { textsOf, titleAndText } from "../filter/texts.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { readOnePage } from "../opportunities/records.ts";
import { readDuplicates } from "../opportunities/related.ts";
import { openStatuses } from "../opportunities/status.ts";
import type { EpochMs } from "../text/instant.ts";
import { agencyNotes } from "./agency-notes.ts";
import { bestMatches, countMatches } from "./best-match.ts";
import { type Budget, searchBudget } from "./budget.ts";
import { type CursorKey, type CursorPlace, decodePlace, encodePlace } from "./cursor.ts";
import { find, type Order, orderNames } from "./find.ts";
import { countHindered, type Hindered } from "./hindered.ts";
import { countInWords } from "./in-words.ts";
import { groupsByWord } from "./question.ts";
import { countRows, filtersToDrop, type ResultCounts } from "./result-counts.ts";
import type { SearchFile } from "./search-file.ts";
import { snippetOf } from "./snippet.ts";
import type { Matched, Understood } from "./understood.ts";

/** By how well it matches, or in an order. */
export type Sort = "relevance" | Order;

export const sorts: readonly Sort[] = ["relevance", ...orderNames];

/** `after` is the `next` of an earlier page of the same search. */
export type SearchRequest = {
  filter: Filter;
  limit: number;
  sort?: Sort | undefined;
  after?: string | null | undefined;
  countAtMost?: number | undefined;
  /** Leaves out records that have only some of the words. */
  onlyMatching?: boolean | undefined;
  /** Shows every record, even if several are of one opportunity. */
  allSources?: boolean | undefined;
  /** A page ends once the stored size of its opportunities reaches this limit, even if more were asked for. */
  bytesMax?: number | undefined;
  /** How long it may take; by default, as long as a page may. */
  budget?: Budget | undefined;
};

/**
 * A result. `snippet`: where words matched; null if no text has one. `missing`: the words that it lacks, if it does not match. `named`: the
 * words for which it has only a synonym. `isFar`: it matches, but the words are far apart. `duplicates`: the other records of the same
 * opportunity.
 */
export type SearchResult = {
  opportunity: WholeOpportunity;
  snippet: string | null;
  isMatch: boolean;
  isFar: boolean;
  missing: readonly string[];
  named: readonly string[];
  duplicates: readonly WholeOpportunity[];
};

/**
 * A page. All pages together have `total` opportunities, with `duplicates` further records of the same ones. `next` begins the next page. `matching`
 * and `partial` do not depend on the order, but only the best matches list partial matches.
 */
export type SearchPage<Next = string> = Matched & {
  total: number;
  duplicates: number;
  results: SearchResult[];
  next: Next | null;
  /** True if no result on the first page has most of the words. */
  isWeak: boolean;
  /** Null without words. */
  understood: Understood | null;
  /** Counts of all matches or, if there are none, of the partial matches. Only on the first page; null if there are too many. */
  counts: ResultCounts;
  /** Only on the first page, if open ones are asked for: how many that their sources call open cannot be applied for. */
  hindered: Hindered[];
  /** Only on the first page, if the search asks who may apply: how many more match that state this only in text. */
  inWords: number;
  /** Only on the first page: notes on the agencies of the filter, in sentences. */
  agencyNotes: string[];
  /** If nothing is found: the filters without which something would be. */
  drop: ReturnType<typeof filtersToDrop>;
  /** False if the budget was spent before everything was found and counted. */
  isWhole: boolean;
};

/** The default order: the best matches first if the search has words that must occur. */
export function defaultSort({ words = "" }: Filter): Sort {
  return readQuestion(words).groups.length === 0 ? "updated" : "relevance";
}

/** A page with cursors as texts. Throws a BadCursor if `after` is not a cursor of this search. */
export async function search(catalog: CatalogDb, index: SearchFile, request: SearchRequest, now: EpochMs): Promise<SearchPage> {
  const { after, filter, allSources = false, sort = defaultSort(filter) } = request;
  const same = [sort, allSources, ...fieldNames.map((name) => filter[name] ?? null)];
  const place = typeof after === "string" ? decodePlace(same, after) : { now: Math.trunc(now), keys: [] };
  const { next, ...page } = await searchFrom(catalog, index, request, place);
  return { ...page, next: next === null ? null : encodePlace(same, { now: place.now, keys: next }) };
}

/** A page from a place on. */
export async function searchFrom(
  catalog: CatalogDb,
  index: SearchFile,
  {
    filter,
    limit,
    sort = defaultSort(filter),
    countAtMost,
    onlyMatching = false,
    allSources = false,
    bytesMax = Number.POSITIVE_INFINITY,
    budget = searchBudget(),
  }: Omit<SearchRequest, "after">,
  place: CursorPlace,
): Promise<SearchPage<CursorKey[]>> {
  const { words = "", ...others } = filter;
  const hasGroups = readQuestion(words).groups.length > 0;
  if (sort === "relevance" && hasGroups) {
    const offset = Number(place.keys[0] ?? 0);
    const request = { words, filter: others, offset, limit, allSources, onlyMatching };
    const { found, hasMore, rows, meeting, ...page } = await bestMatches(catalog, index, request, place.now, budget);
    const byId = new Map(found.map((each) => [each.id, each]));
    const { results, read } = await resultsOf(catalog, [...byId.keys()], bytesMax, place.now, ({ id }) => {
      const { snippet = null, isMatch = true, isFar = false, missing = [], named = [] } = byId.get(id) ?? {};
      return { snippet, isMatch, isFar, missing, named };
    });
    const total = Math.max(page.matching + (onlyMatching ? 0 : page.partial), found.length);
    const next = read < found.length || hasMore ? [offset + read] : null;
    const counts = offset > 0 ? null : countRows(index, rows, allSources);
    const hindered = offset > 0 ? [] : hinderedIn(index, filter, rows);
    const inWords = offset > 0 ? 0 : countInWords(index, filter, place.now, allSources, budget);
    const drop =
      results.length === 0 && offset === 0
        ? filtersToDrop(index, filter, place.now, { isPartial: !onlyMatching, allSources, meeting }, budget)
        : [];
    const notes = offset > 0 ? [] : await agencyNotes(catalog, index, filter.agency ?? []);
    const isWeak = offset === 0 && isWeakAnswer(results, page.understood);
    return { ...page, total, results, next, isWeak, counts, hindered, agencyNotes: notes, inWords, drop };
  }
  const order = sort === "relevance" ? "updated" : sort;
  const { total, duplicates, ids, keys, rows, isWhole, ...found } = find(
    index,
    { filter, limit, order, countAtMost, allSources },
    place,
    budget,
  );
  const request = { words, filter: others, allSources };
  const looked = hasGroups ? await countMatches(catalog, index, request, place.now, budget) : undefined;
  const groupOf = looked && groupsByWord(looked.question);
  const { results, read } = await resultsOf(catalog, ids, bytesMax, place.now, (opportunity) => {
    const snippet = groupOf === undefined ? null : snippetOf(titleAndText(textsOf(opportunity)), groupOf);
    return { snippet, isMatch: true, isFar: false, missing: [], named: [] };
  });
  const next = read < ids.length ? (keys[read - 1] ?? null) : found.next;
  const counts = place.keys.length > 0 ? null : countRows(index, rows, allSources);
  const hindered = place.keys.length > 0 ? [] : hinderedIn(index, filter, rows);
  const notes = place.keys.length > 0 ? [] : await agencyNotes(catalog, index, filter.agency ?? []);
  const inWords = place.keys.length > 0 ? 0 : countInWords(index, filter, place.now, allSources, budget);
  const { understood = null, candidates: { isAll, meeting } = { isAll: true } } = looked ?? {};
  const drop = total === 0 ? filtersToDrop(index, filter, place.now, { isPartial: false, allSources, meeting }, budget) : [];
  const { partial } = looked?.counts ?? { partial: 0 };
  return {
    total,
    duplicates,
    results,
    next,
    matching: total,
    partial,
    isAll,
    isWeak: false,
    understood,
    counts,
    hindered,
    agencyNotes: notes,
    inWords,
    drop,
    isWhole,
  };
}

function hinderedIn(index: SearchFile, { status = [] }: Filter, rows: readonly number[] | null): Hindered[] {
  return status.some((each) => openStatuses.includes(each)) ? countHindered(index, rows) : [];
}

/** The index of the first partial match; undefined if there is none. The dividing line comes before it. */
export function firstPartial(results: readonly SearchResult[]): number | undefined {
  const first = results.findIndex(({ isMatch }) => !isMatch);
  return first === -1 ? undefined : first;
}

/** In a longer question, some words carry little meaning. */
const WEAK_WORDS_MAX = 5;

/** Whether none of the first results has most of the words of a short question. */
function isWeakAnswer(results: readonly SearchResult[], { words }: Understood): boolean {
  if (words.length < 2 || words.length > WEAK_WORDS_MAX || results.length === 0) return false;
  return results.every(({ isMatch, missing }) => !isMatch && missing.length * 2 >= words.length);
}

/** The opportunities with these ids, each with its linked records and its entry of `shown`, and how many of the ids were used. */
async function resultsOf(
  catalog: CatalogDb,
  ids: readonly string[],
  bytesMax: number,
  now: EpochMs,
  shown: (opportunity: WholeOpportunity) => Pick<SearchResult, "snippet" | "isMatch" | "isFar" | "missing" | "named">,
): Promise<{ results: SearchResult[]; read: number }> {
  const { opportunities, read } = await readOnePage(catalog, ids, now, bytesMax);
  const duplicates = await readDuplicates(catalog, ids.slice(0, read), now);
  return {
    results: opportunities.map((opportunity) => ({ opportunity, ...shown(opportunity), duplicates: duplicates.get(opportunity.id) ?? [] })),
    read,
  };
}
