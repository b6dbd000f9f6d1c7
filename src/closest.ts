/** The known name that a mistyped one was probably meant to be. */

/** Edits that a typo takes at most. */
const DISTANCE_MAX = 2;

/** The nearest of the known names, letter case and brackets aside, or `undefined` when none is near. */
export function closest(name: string, known: readonly string[]): string | undefined {
  const plain = name.toLowerCase().replace(/\[.*$/, "").slice(0, 64);
  const distances = known.map((candidate) => ({ candidate, distance: editDistance(plain, candidate.toLowerCase()) }));
  distances.sort((left, right) => left.distance - right.distance);
  const [nearest] = distances;
  return nearest !== undefined && nearest.distance <= Math.min(DISTANCE_MAX, nearest.candidate.length - 3) ? nearest.candidate : undefined;
}

/** For the end of a refusal: " (did you mean "X"?)", or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const meant = closest(name, known);
  return meant === undefined ? "" : ` (did you mean "${meant}"?)`;
}

/** Levenshtein's: insertions, deletions and substitutions, one row of the table at a time. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...right].entries()) {
      const substituted = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(substituted, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
