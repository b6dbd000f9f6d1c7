/** The known name that a mistyped one was probably meant to be. */

/** Edits that a typo takes at most. */
const DISTANCE_MAX = 2;

/** Letters that a beginning has at least. */
const BEGINNING_MIN = 3;

/** The nearest of the known names, or the shortest that begins so, letter case and brackets aside; `undefined` when none is near. */
export function closest(name: string, known: readonly string[]): string | undefined {
  const plain = name.toLowerCase().replace(/\[.*$/, "").slice(0, 64);
  const distances = known.map((candidate) => ({ candidate, distance: editDistance(plain, candidate.toLowerCase()) }));
  distances.sort((left, right) => left.distance - right.distance);
  const [nearest] = distances;
  if (nearest !== undefined && nearest.distance <= Math.min(DISTANCE_MAX, nearest.candidate.length - 3)) return nearest.candidate;
  if (plain.length < BEGINNING_MIN) return undefined;
  const begun = known.filter((candidate) => candidate.toLowerCase().startsWith(plain));
  return begun.toSorted((left, right) => left.length - right.length)[0];
}

/** For the end of a refusal: " (did you mean "X"?)", or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const meant = closest(name, known);
  return meant === undefined ? "" : ` (did you mean "${meant}"?)`;
}

/** Optimal string alignment: insertions, deletions, substitutions and neighbors that changed places, one row of the table at a time. */
function editDistance(left: string, right: string): number {
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let index = 0; index < left.length; index++) {
    const next = [index + 1];
    for (let column = 0; column < right.length; column++) {
      const substituted = (row[column] ?? 0) + (left[index] === right[column] ? 0 : 1);
      const swapped = index > 0 && column > 0 && left[index] === right[column - 1] && left[index - 1] === right[column];
      const transposed = swapped ? (before[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(substituted, transposed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
