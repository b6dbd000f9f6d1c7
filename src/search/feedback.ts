/**
 * Pseudo-relevance feedback (Croft and Harper, 1979): words that many titles of the best results have, although nobody asked for them,
 * probably belong to the subject. Titles that have them, too, come a little earlier. Nothing is found or left out by it.
 */
import { STOP_WORDS } from "../filter/question.ts";
import { stemOf, wordsOf } from "../text/words-of.ts";

/** How many results are taken for good, how many of their titles must have a word, and how many words count, the most distinctive ones. */
const [BEST, SHARED_MIN, WORDS_MAX] = [10, 3, 8];
/** With fewer results there is nothing to choose from. */
const RESULTS_MIN = 20;

/** For each title, in the order of the results, its share of the words that the best results have in common, from 0 to 1. */
export function feedbackOf(titles: readonly string[], isAsked: (word: string) => boolean): number[] {
  if (titles.length < RESULTS_MIN) return titles.map(() => 0);
  const stems = titles.map((title) => {
    const words = wordsOf(title).filter((word) => word.length > 2 && !STOP_WORDS.has(word) && !isAsked(word));
    return new Set(words.map(stemOf));
  });
  const [inAll, inBest] = [countsOf(stems), countsOf(stems.slice(0, BEST))];
  const shared = [...inBest]
    .filter(([, best]) => best >= SHARED_MIN)
    .map(([stem, best]) => ({ stem, weight: best * Math.log(1 + titles.length / (inAll.get(stem) ?? 1)) }))
    .sort((left, right) => right.weight - left.weight)
    .slice(0, WORDS_MAX);
  const whole = shared.reduce((sum, { weight }) => sum + weight, 0);
  return stems.map((own) => shared.reduce((sum, { stem, weight }) => (own.has(stem) ? sum + weight / whole : sum), 0));
}

function countsOf(sets: readonly ReadonlySet<string>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const set of sets) for (const each of set) counts.set(each, (counts.get(each) ?? 0) + 1);
  return counts;
}
