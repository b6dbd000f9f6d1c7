/**
 * Which versions of one key are revisions of one opportunity: an office corrects, amends, retitles and awards it. Versions are compared
 * in pairs, so that nothing depends on which files they came in.
 */

/** What is known of one record under a key. */
export type Thread = {
  lineage: string;
  titles: Set<string>;
  /** The days on which its versions were posted, in the eastern time zone; "" where that is not known. */
  days: Set<string>;
  count: number;
};

/** With so many known versions, a key is taken for a placeholder: only a like title still tells that a version is a revision. */
export const VERSIONS_MAX = 100;

/**
 * The lineage of the record that a version belongs to: of the first thread with a like title, else of the one that is named after the
 * key. But what is posted on one day under unlike titles is two opportunities (calls under one announcement, lots of one number): the one
 * that comes later is named after its id. Over several days another title alone says nothing.
 */
export function lineageOf(version: { id: string; title: string; day: string }, key: string, threads: readonly Thread[]): string {
  const alike = threads.find(({ titles }) => titles.values().some((title) => areAlike(title, version.title)));
  if (alike !== undefined) return alike.lineage;
  if (!threads.some(({ lineage }) => lineage === key)) return key;
  const isOther = threads.some(({ days }) => days.has(version.day)) || threads.reduce((sum, { count }) => sum + count, 0) >= VERSIONS_MAX;
  return isOther ? version.id : key;
}

/** Whether the titles share more than half of the shorter one's words, as they do after a correction. */
export function areAlike(one: string, other: string): boolean {
  const [few = new Set(), many = new Set()] = [wordsOf(one), wordsOf(other)].toSorted((a, b) => a.size - b.size);
  return few.isSubsetOf(many) || few.intersection(many).size * 2 > few.size;
}

function wordsOf(title: string): Set<string> {
  return new Set(title.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}
