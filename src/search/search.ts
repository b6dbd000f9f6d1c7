/** A search as people and agents ask for it: the best matches of a question, or all strict matches in the order of a date or an amount. */
import type { CatalogDb } from "../../db/engine.ts";
import { type Filter, fieldNames } from "../filter/filter.ts";
import { textsOf, titleAndText } from "../filter/texts.ts";
import { queriesOf } from "../filter/words.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { readTwins } from "../opportunities/related.ts";
import type { EpochMs } from "../text/instant.ts";
import { bestMatches } from "./best-match.ts";
import { type Budget, searchBudget } from "./budget.ts";
import { type CursorKey, type CursorPlace, decodePlace, encodePlace } from "./cursor.ts";
import { find, type Order, orderNames } from "./find.ts";
import { groupsByWord, readQuestion } from "./question.ts";
import { countRows, filtersToDrop, type ResultCounts } from "./result-counts.ts";
import type { SearchFile } from "./search-file.ts";
import { snippetOf } from "./snippet.ts";
import type { Understood } from "./understood.ts";
import { vocabularyOf } from "./vocabulary.ts";

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
  /** Only what has every word, exactly as it is, also where the best matches come first. */
  allWords?: boolean | undefined;
  /** Show every record, also several of one opportunity. */
  allSources?: boolean | undefined;
  /** How long it may take; without it, as long as a page may. */
  budget?: Budget | undefined;
};

/**
 * A result. `snippet` shows where words matched, null if nowhere in a text; `missing` are the words that it does not have; `twins` are the
 * other records of the same opportunity.
 */
export type SearchResult = {
  opportunity: WholeOpportunity;
  snippet: string | null;
  missing: readonly string[];
  twins: readonly WholeOpportunity[];
};

/** A page: `total` opportunities match, with `twins` more records of the same ones, and `next` begins the next page. */
export type SearchPage<Next = string> = {
  total: number;
  twins: number;
  results: SearchResult[];
  next: Next | null;
  /** Null unless the best matches come first. */
  understood: Understood | null;
  /** Of all that match, on the first page; null if they are too many. */
  counts: ResultCounts;
  /** If nothing is found: filters without which something would be. */
  drop: ReturnType<typeof filtersToDrop>;
  /** False if time was over before all was found and counted. */
  isWhole: boolean;
};

/** How results are sorted unless a search says it: the best matches first if there are words that must occur. */
export function defaultSort({ words = "" }: Filter): Sort {
  return queriesOf(words).include === undefined ? "updated" : "relevance";
}

/** A page with cursors as texts. Throws a BadCursor if `after` is none of this search. */
export async function search(catalog: CatalogDb, index: SearchFile, request: SearchRequest, now: EpochMs): Promise<SearchPage> {
  const { after, filter, allWords = false, allSources = false, sort = defaultSort(filter) } = request;
  const same = [sort, allWords, allSources, ...fieldNames.map((name) => filter[name] ?? null)];
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
    allWords = false,
    allSources = false,
    budget = searchBudget(),
  }: Omit<SearchRequest, "after">,
  place: CursorPlace,
): Promise<SearchPage<CursorKey[]>> {
  const { words = "", ...others } = filter;
  if (sort === "relevance" && queriesOf(words).include !== undefined) {
    const offset = Number(place.keys[0] ?? 0);
    const request = { words, filter: others, offset, limit, allWords, allSources };
    const { found, hasMore, understood, rows, twins, isWhole } = await bestMatches(catalog, index, request, place.now, budget);
    const byId = new Map(found.map((each) => [each.id, each]));
    const results = await resultsOf(catalog, [...byId.keys()], place.now, ({ id }) => {
      const { snippet = null, missing = [] } = byId.get(id) ?? {};
      return { snippet, missing };
    });
    const total = Math.max(understood.any - twins, found.length);
    const next = hasMore ? [offset + limit] : null;
    const counts = offset > 0 ? null : countRows(index, rows);
    const drop = results.length === 0 && offset === 0 ? filtersToDrop(index, filter, place.now, !allWords, budget) : [];
    return { total, twins, results, next, understood, counts, drop, isWhole };
  }
  const order = sort === "relevance" ? "updated" : sort;
  const { total, twins, ids, next, rows, isWhole } = find(index, { filter, limit, order, countAtMost, allSources }, place, budget);
  const groupOf = groupsByWord(readQuestion(words, vocabularyOf(index.sqlite), { allWords: true }));
  const results = await resultsOf(catalog, ids, place.now, (opportunity) => {
    return { snippet: words === "" ? null : snippetOf(titleAndText(textsOf(opportunity)), groupOf), missing: [] };
  });
  const counts = place.keys.length > 0 ? null : countRows(index, rows);
  const drop = total === 0 ? filtersToDrop(index, filter, place.now, false, budget) : [];
  return { total, twins, results, next, understood: null, counts, drop, isWhole };
}

/** The opportunities with these ids, each with its twins and what `shown` says. */
async function resultsOf(
  catalog: CatalogDb,
  ids: readonly string[],
  now: EpochMs,
  shown: (opportunity: WholeOpportunity) => Pick<SearchResult, "snippet" | "missing">,
): Promise<SearchResult[]> {
  const [opportunities, twins] = [await readOpportunities(catalog, ids, now), await readTwins(catalog, ids, now)];
  return opportunities.map((opportunity) => ({ opportunity, ...shown(opportunity), twins: twins.get(opportunity.id) ?? [] }));
}
