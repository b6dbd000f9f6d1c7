/** Suggests the known name that a mistyped one probably stands for. */

const [DISTANCE_MAX, PREFIX_LENGTH_MIN] = [2, 3];

/** The nearest known name, else the shortest that begins with `name`; undefined if none is close. Ignores case, and "[…]" at the end. */
export function closest(name: string, known: readonly string[]): string | undefined {
  const plain = name.slice(0, 64).toLowerCase().replace(/\[.*/s, "");
  const [nearest] = known
    .filter((candidate) => Math.abs(plain.length - candidate.length) <= DISTANCE_MAX) // Each edit changes the length by at most one.
    .map((candidate) => ({ candidate, distance: editDistance(plain, candidate.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance);
  if (nearest !== undefined && nearest.distance <= Math.min(DISTANCE_MAX, nearest.candidate.length - 3)) return nearest.candidate;
  if (plain.length < PREFIX_LENGTH_MIN) return undefined;
  const completions = known.filter((candidate) => candidate.toLowerCase().startsWith(plain));
  return completions.toSorted((left, right) => left.length - right.length)[0];
}

/** The end of an error message: ` (did you mean "X"?)`, or "" if no known name is close. */
export function didYouMean(name: string, known: readonly string[]): string {
  const suggestion = closest(name, known);
  return suggestion === undefined ? "" : ` (did you mean "${suggestion}"?)`;
}

/** Whether two words are at most this many edits apart. */
export function isWithinEdits(left: string, right: string, most: number): boolean {
  return Math.abs(left.length - right.length) <= most && editDistance(left, right) <= most;
}

/** Optimal string alignment distance: insertions, deletions, substitutions and swapped neighbors. Keeps three rows of the table. */
function editDistance(left: string, right: string): number {
  let previous: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let index = 0; index < left.length; index++) {
    const next = [index + 1];
    for (let column = 0; column < right.length; column++) {
      const substituted = (row[column] ?? 0) + (left[index] === right[column] ? 0 : 1);
      const swapped = index > 0 && column > 0 && left[index] === right[column - 1] && left[index - 1] === right[column];
      const transposed = swapped ? (previous[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(substituted, transposed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    [previous, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
