/** A page of search results as JSON: what `find --json` prints and `/find.json` serves. */
import { type Static, Type } from "@sinclair/typebox";
import { applicantsInShort } from "../filter/applicants.ts";
import { describeFilter, type Filter } from "../filter/filter.ts";
import { Due, dueOf } from "../opportunities/due.ts";
import { Opportunity, withoutSidecar } from "../opportunities/opportunity.ts";
import { AlsoAt, alsoAt } from "../opportunities/related.ts";
import type { SearchPage } from "../search/search.ts";
import { MATCH_BEGIN, MATCH_END } from "../search/snippet.ts";
import { preferenceInWords, type Understood } from "../search/understood.ts";
import type { EpochMs } from "../text/instant.ts";
import { nullable, object } from "../text/schema.ts";

const Found = Type.Composite(
  [
    Opportunity,
    object({
      due: Due,
      open_to: nullable(Type.String(), "Who may apply, in short; null if no code says it."),
      match: nullable(Type.String(), "The words around the match, which is in brackets."),
      missing_words: Type.Array(Type.String(), { description: "If it does not match: the words of the question that it does not have." }),
      named_words: Type.Array(Type.String(), { description: "Those of which it has only another name." }),
      is_match: Type.Boolean({ description: "Whether it has all words." }),
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
  total: Type.Integer({ minimum: 0, description: "Opportunities on all pages of this search." }),
  matching: Type.Integer({ minimum: 0, description: "Opportunities that match: the same in any order." }),
  partial: Type.Integer({
    minimum: 0,
    description: "More that have only some of the words. They follow the best matches, and are not listed in another order.",
  }),
  is_all: Type.Boolean({ description: "False if these numbers are the least there are: of too many, only the newest are counted." }),
  duplicates: Type.Integer({ minimum: 0, description: "Records left out because another one of their opportunity is shown." }),
  understood: nullable(
    object({
      words: Type.Array(Type.String(), { description: "The words that were looked for." }),
      excluded: Type.Array(Type.String(), { description: "The words that must not be there." }),
      corrections: Type.Array(object({ asked: Type.String(), also: Type.String(), records: Type.Integer() }), {
        description: "Words that so few records have, and what was looked for, too.",
      }),
      agencies: Type.Array(object({ asked: Type.String(), code: Type.String() }), { description: "Words that mean an agency." }),
      synonyms: Type.Array(object({ asked: Type.String(), also: Type.Array(Type.String()) }), {
        description: "Other names that were looked for, too. They do not make a record match.",
      }),
      preferences: Type.Array(
        object({
          asked: Type.String(),
          filter: Type.Unsafe<Filter>({ type: "object", additionalProperties: true, description: "The filter that finds nothing else." }),
          in_words: Type.String(),
          opportunities: nullable(Type.Integer({ minimum: 0 }), "How many of these meet the filter; null if these are too many."),
        }),
        { description: "What the question says in words that are none to find. What meets it comes before what answers as well." },
      ),
      cut_number: nullable(Type.String(), "What was typed of a number, if numbers that go on were found, too."),
      is_phrase_loosened: Type.Boolean({ description: "Whether the words of a phrase were looked for anywhere." }),
      is_spanish: Type.Boolean({ description: "Whether the question is in Spanish. The texts are in English." }),
    }),
    "How the words were read. Null without words.",
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
  agency_notes: Type.Array(Type.String(), {
    description: "On the first page: agencies of the filter that have no records, and texts that stand in names of agencies.",
  }),
  hindered: Type.Array(object({ obstacle: Type.String(), opportunities: Type.Integer({ minimum: 0 }) }), {
    description:
      "If open ones are asked for: how many that their sources call open cannot be applied for, by reason, on the first page: `letter`, `test`, `cancelled` by title, `over`, `unseen` for long.",
  }),
  in_words: Type.Integer({
    minimum: 0,
    description: "If it was asked who may apply: how many more match that say it only in words, on the first page.",
  }),
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

export function foundPage(page: SearchPage, filter: Filter, now: EpochMs): Static<typeof FoundPage> {
  const { results, next, total, matching, partial, duplicates, understood, counts, hindered, drop } = page;
  const data = results.map(({ opportunity, snippet, isMatch, missing, named, duplicates }) => ({
    ...withoutSidecar(opportunity),
    due: dueOf(opportunity, now, duplicates),
    open_to: applicantsInShort(opportunity),
    match: snippet?.replaceAll(MATCH_BEGIN, "[").replaceAll(MATCH_END, "]") ?? null,
    missing_words: [...missing],
    named_words: [...named],
    is_match: isMatch,
    also_at: alsoAt(duplicates),
  }));
  return {
    data,
    total,
    matching,
    partial,
    is_all: page.isAll,
    duplicates,
    understood: understood && understoodOf(understood, now),
    counts,
    agency_notes: page.agencyNotes,
    hindered,
    in_words: page.inWords,
    drop,
    is_whole: page.isWhole,
    next_cursor: next,
    filter,
    filter_in_words: describeFilter(filter, now),
  };
}

function understoodOf({ loosened, cutNumber, isSpanish, preferences, ...understood }: Understood, now: EpochMs) {
  const inWords = preferences.map((each) => ({ ...each, in_words: preferenceInWords(each, now) }));
  return { ...understood, preferences: inWords, cut_number: cutNumber, is_phrase_loosened: loosened !== null, is_spanish: isSpanish };
}
