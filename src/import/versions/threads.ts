/**
 * Decides which versions of one key are revisions of the same opportunity, which an office corrects, amends, retitles and awards. Versions
 * are compared in pairs, so the result does not depend on how they are spread over files.
 */

/** The known versions of one record under a key. */
export type Thread = {
  lineage: string;
  titles: Set<string>;
  /** The Eastern dates on which its versions were posted; "" for unknown ones. */
  days: Set<string>;
  count: number;
};

/** A key with this many versions is probably a placeholder. Then only a similar title makes a version a revision. */
const VERSIONS_MAX = 100;

/**
 * The lineage of the record that a version belongs to: that of the first thread with a similar title, otherwise the key. Versions posted on
 * one day under different titles are different opportunities (calls under one announcement, lots of one number); the later one's lineage
 * is its id. On different days a different title alone means nothing.
 */
export function lineageOf(version: { id: string; title: string; day: string }, key: string, threads: readonly Thread[]): string {
  const similar = threads.find(({ titles }) => titles.values().some((title) => areSimilar(title, version.title)));
  if (similar !== undefined) return similar.lineage;
  if (!threads.some(({ lineage }) => lineage === key)) return key;
  const isOther = threads.some(({ days }) => days.has(version.day)) || threads.reduce((sum, { count }) => sum + count, 0) >= VERSIONS_MAX;
  return isOther ? version.id : key;
}

/** Whether two titles share more than half of the shorter one's words, as after a correction. */
export function areSimilar(one: string, other: string): boolean {
  const [few = new Set(), many = new Set()] = [wordsOf(one), wordsOf(other)].toSorted((a, b) => a.size - b.size);
  return few.isSubsetOf(many) || few.intersection(many).size * 2 > few.size;
}

function wordsOf(title: string): Set<string> {
  return new Set(title.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}
