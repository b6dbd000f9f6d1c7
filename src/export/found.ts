/** A page of search results as JSON: what `find --json` prints and `/find.json` serves. */
import { type Static, Type } from "@sinclair/typebox";
import { describeFilter, type Filter } from "../filter/filter.ts";
import { Due, dueOf } from "../opportunities/due.ts";
import { Opportunity, withoutSidecar } from "../opportunities/opportunity.ts";
import { AlsoAt, alsoAt } from "../opportunities/related.ts";
import type { SearchPage } from "../search/search.ts";
import { MATCH_BEGIN, MATCH_END } from "../search/snippet.ts";
import type { Understood } from "../search/understood.ts";
import type { EpochMs } from "../text/instant.ts";
import { nullable, object } from "../text/schema.ts";

const Found = Type.Composite(
  [
    Opportunity,
    object({
      due: Due,
      match: nullable(Type.String(), "The words around the match, which is in brackets."),
      missing_words: Type.Array(Type.String(), { description: "The words of the question that it does not have." }),
      also_at: Type.Array(AlsoAt, { description: "The records of the same opportunity at other sources." }),
    }),
  ],
  { additionalProperties: false },
);

const counts = (description: string) =>
  Type.Array(object({ value: Type.String(), records: Type.Integer({ minimum: 0 }) }), { description });

/** `filter` is the filter as it was given, and says so in words. */
export const FoundPage = object({
  data: Type.Array(Found),
  total: Type.Integer({ minimum: 0, description: "Opportunities that match." }),
  twins: Type.Integer({ minimum: 0, description: "Records left out because another one of their opportunity is shown." }),
  understood: nullable(
    object({
      words: Type.Array(Type.String(), { description: "The words that were looked for." }),
      corrections: Type.Array(object({ asked: Type.String(), instead: Type.String() }), { description: "Words that no record has." }),
      agencies: Type.Array(object({ asked: Type.String(), code: Type.String() }), { description: "Words that mean an agency." }),
      is_phrase_loosened: Type.Boolean({ description: "Whether the words of a phrase were looked for anywhere." }),
      every: Type.Integer({ description: "Records that have all words." }),
      any: Type.Integer({ description: "Records that have any of them." }),
      is_all: Type.Boolean({ description: "Whether these two are exact; else there are at least so many." }),
    }),
    "How the words were read. Null unless the best matches come first.",
  ),
  counts: nullable(
    object({
      status: counts("By status."),
      source: counts("By source."),
      agency: counts("By department."),
      program_type: counts("By type."),
    }),
    "How many results have each value, on the first page; null if they are too many.",
  ),
  drop: Type.Array(object({ name: Type.String(), records: Type.Integer() }), {
    description: "If nothing is found: filters without which something would be.",
  }),
  is_whole: Type.Boolean({
    description: "False if the time of a search was over before all was found and counted; a narrower search finds it.",
  }),
  next_cursor: nullable(Type.String(), "Where the next page begins; null on the last one."),
  filter: Type.Unsafe<Filter>({ type: "object", additionalProperties: true, description: "The filter that was applied, as it was given." }),
  filter_in_words: Type.Array(Type.String()),
});

/** The page as JSON. */
export function foundPage(
  { results, next, total, twins, understood, counts, drop, isWhole }: SearchPage,
  filter: Filter,
  now: EpochMs,
): Static<typeof FoundPage> {
  const data = results.map(({ opportunity, snippet, missing, twins }) => ({
    ...withoutSidecar(opportunity),
    due: dueOf(opportunity, now, twins),
    match: snippet?.replaceAll(MATCH_BEGIN, "[").replaceAll(MATCH_END, "]") ?? null,
    missing_words: [...missing],
    also_at: alsoAt(twins),
  }));
  const told = { filter, filter_in_words: describeFilter(filter, now) };
  return {
    data,
    total,
    twins,
    understood: understood && understoodOf(understood),
    counts,
    drop,
    is_whole: isWhole,
    next_cursor: next,
    ...told,
  };
}

function understoodOf({ isPhraseLoosened, isAll, ...understood }: Understood) {
  return { ...understood, is_phrase_loosened: isPhraseLoosened, is_all: isAll };
}
