/**
 * The most similar opportunities: the best matches of an opportunity's most distinctive words. Also the other rounds of the same call, as far
 * as titles, agencies and numbers show them. Nothing is stored, so there is no second index. Each result says why it was found.
 */
import type { Database } from "bun:sqlite";
import type { CatalogDb } from "../../db/engine.ts";
import { agencyCodeOf } from "../filter/columns.ts";
import { STOP_WORDS } from "../filter/question.ts";
import { textColumns, textsOf } from "../filter/texts.ts";
import { numberOf, type WholeOpportunity } from "../opportunities/opportunity.ts";
import { readOpportunities } from "../opportunities/records.ts";
import { readDuplicates } from "../opportunities/related.ts";
import { beganAt, GOODS, isNextNumber, ROUND_MS, titleWordsOf, yearOf } from "../opportunities/rounds.ts";
import type { EpochMs } from "../text/instant.ts";
import { stemOf, wordsOf } from "../text/words-of.ts";
import { bestMatches } from "./best-match.ts";
import type { Budget } from "./budget.ts";
import { groupsOf } from "./find.ts";
import type { SearchFile } from "./search-file.ts";
import { vocabularyOf } from "./vocabulary.ts";

/** An opportunity and its other records. */
type Other = { opportunity: WholeOpportunity; duplicates: readonly WholeOpportunity[] };

/** `shared`: the distinctive words that both have. */
type SimilarOne = Other & { shared: string[] };

/** Another round of the same call, and why it is considered one. */
export type Round = Other & { isEarlier: boolean; reason: string };

/**
 * `words`: the distinctive words of the opportunity, the most distinctive first. `isWhole` is false if the budget was spent before everything
 * was compared.
 */
export type Similar = { words: string[]; similar: SimilarOne[]; rounds: Round[]; isWhole: boolean };

export const relations = ["earlier_round", "later_round", "similar"] as const;
type Relation = Other & { relation: (typeof relations)[number]; why: string };

/** The results, rounds first, each with its relation to the opportunity and the reason. */
export function relationsIn({ similar, rounds }: Similar): Relation[] {
  return [
    ...rounds.map(({ isEarlier, reason: why, ...round }): Relation => {
      return { ...round, relation: isEarlier ? "earlier_round" : "later_round", why };
    }),
    ...similar.map(({ shared, ...other }): Relation => ({ ...other, relation: "similar", why: `shared words: ${shared.join(", ")}` })),
  ];
}

/** How many distinctive words are looked for, and how many characters of the description they are taken from. */
const [WORDS_MAX, CHARACTERS_MAX] = [10, 600];
/** How often a word in a title counts, and how often any word counts at most. */
const [IN_TITLE, TIMES_MAX] = [2, 4];
/** A similar opportunity has at least two of the distinctive words, and at least a third of them. */
const [SHARED_MIN, SHARED_SHARE_MIN] = [2, 1 / 3];
/** Matches among which rounds are looked for, and rounds at most. */
const [MATCHES, ROUNDS_MAX] = [60, 5];
/** The minimum share of words that the titles of two rounds have in common. */
const TITLE_SHARE = 0.8;

/** The opportunities most similar to one, at most `limit`, the most similar first, and its rounds, the latest first. */
export async function findSimilar(
  catalog: CatalogDb,
  index: SearchFile,
  opportunity: WholeOpportunity,
  limit: number,
  now: EpochMs,
  budget: Budget,
): Promise<Similar> {
  const words = tellingWords(index.sqlite, opportunity);
  if (words.length === 0) return { words, similar: [], rounds: [], isWhole: true };
  const request = { words: words.join(" "), filter: {}, offset: 0, limit: MATCHES };
  const { found, isWhole } = await bestMatches(catalog, index, request, now, budget);
  const groups = groupsOf(index, [opportunity.id, ...found.map(({ id }) => id)]);
  const others = found.filter(({ id }) => groups.get(id) !== groups.get(opportunity.id));
  const missing = new Map(others.map((each) => [each.id, each.missing]));
  const ids = others.map(({ id }) => id);
  const records = await readOpportunities(catalog, ids, now);
  const duplicates = await readDuplicates(catalog, ids, now);
  const duplicatesOf = ({ id }: WholeOpportunity) => duplicates.get(id) ?? [];
  const rounds = records.flatMap((record) => roundOf(opportunity, record, duplicatesOf(record)) ?? []);
  const isRound = new Set(rounds.map((round) => round.opportunity.id));
  const sharedMin = Math.max(Math.min(SHARED_MIN, words.length), words.length * SHARED_SHARE_MIN);
  const similar = records
    .map((record) => ({
      opportunity: record,
      duplicates: duplicatesOf(record),
      shared: words.filter((word) => missing.get(record.id)?.includes(word) === false),
    }))
    .filter((each) => each.shared.length >= sharedMin && !isRound.has(each.opportunity.id));
  return { words, similar: similar.slice(0, limit), rounds: rounds.sort(byYear).slice(0, ROUNDS_MAX), isWhole };
}

/** The latest first. */
function byYear({ opportunity: left }: Round, { opportunity: right }: Round): number {
  return yearOf(numberOf(right) ?? "") - yearOf(numberOf(left) ?? "") || beganAt(right) - beganAt(left);
}

/** The most distinctive words of the title, the keywords and the beginning of the description that other opportunities also have. */
function tellingWords(sqlite: Database, opportunity: WholeOpportunity): string[] {
  const texts = textsOf(opportunity, CHARACTERS_MAX);
  const byStem = new Map<string, { word: string; times: number }>();
  for (const column of ["title", "keywords", "text"] as const) {
    for (const word of wordsOf((texts[textColumns.indexOf(column)] ?? "").slice(0, CHARACTERS_MAX))) {
      if (!/^\p{L}{3,}$/u.test(word) || STOP_WORDS.has(word)) continue;
      const known = byStem.get(stemOf(word)) ?? { word, times: 0 };
      byStem.set(stemOf(word), { word: known.word, times: Math.min(TIMES_MAX, known.times + (column === "title" ? IN_TITLE : 1)) });
    }
  }
  const { withStem } = vocabularyOf(sqlite);
  const all = sqlite.query<{ records: number }, []>("select count(*) as records from records").get()?.records ?? 0;
  return [...byStem]
    .map(([stem, { word, times }]) => {
      const ofStem = withStem(stem).reduce((sum, each) => sum + each.records, 0);
      const records = Math.min(all, ofStem);
      return { word, weight: records < 2 ? 0 : times * Math.log(1 + (all - records + 0.5) / (records + 0.5)) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((left, right) => right.weight - left.weight)
    .slice(0, WORDS_MAX)
    .map(({ word }) => word);
}

/**
 * A record as another round of the same call; undefined if it is not one. Rounds have the same title and agency, and their numbers differ only
 * in digits: in a year or, some months apart, in a sequence number.
 */
function roundOf(opportunity: WholeOpportunity, other: WholeOpportunity, duplicates: readonly WholeOpportunity[]): Round | undefined {
  const [number, another] = [numberOf(opportunity) ?? "", numberOf(other) ?? ""];
  if (!isNextNumber(number, another) || GOODS.test(other.title)) return undefined;
  const agency = agencyCodeOf(opportunity);
  const share = shareOfTitles(opportunity.title, other.title);
  if (agency === null || agency !== agencyCodeOf(other) || share < TITLE_SHARE) return undefined;
  const years = yearOf(another) - yearOf(number); // The dates of old calls are often those of a later edition of their page.
  const later = beganAt(other) - beganAt(opportunity);
  const isApart = years > 0 || years < 0 || Math.abs(later) >= ROUND_MS;
  if (!isApart) return undefined;
  const title = share === 1 ? "same title" : "almost the same title";
  return {
    opportunity: other,
    duplicates,
    isEarlier: (years || later) < 0,
    reason: `${title} and agency, and the number differs only in digits`,
  };
}

/** The share of words that two titles have in common. Years and other numbers do not count. */
function shareOfTitles(one: string, other: string): number {
  const [words, others] = [titleWordsOf(one), titleWordsOf(other)];
  const either = words.union(others).size;
  return either === 0 ? 0 : words.intersection(others).size / either;
}
