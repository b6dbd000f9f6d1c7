/** Suggests the known name that a mistyped one probably stands for. */

const DISTANCE_MAX = 2;

const PREFIX_LENGTH_MIN = 3;

/** The nearest known name, else the shortest that begins with `name`; undefined if none is close. Ignores case, and "[…]" at the end. */
export function closest(name: string, known: readonly string[]): string | undefined {
  const plain = name.slice(0, 64).toLowerCase().replace(/\[.*/s, "");
  const distances = mayBeClosest(plain, known).map((candidate) => ({ candidate, distance: editDistance(plain, candidate.toLowerCase()) }));
  distances.sort((left, right) => left.distance - right.distance);
  const [nearest] = distances;
  if (nearest !== undefined && nearest.distance <= Math.min(DISTANCE_MAX, nearest.candidate.length - 3)) return nearest.candidate;
  if (plain.length < PREFIX_LENGTH_MIN) return undefined;
  const completions = known.filter((candidate) => candidate.toLowerCase().startsWith(plain));
  return completions.toSorted((left, right) => left.length - right.length)[0];
}

/** The known names for which the costly distance is computed: those with about as many letters, and about the same ones. */
export function mayBeClosest(plain: string, known: readonly string[]): string[] {
  return known.filter((candidate) => mayBeNear(plain, candidate.toLowerCase()));
}

/** Whether few enough letters differ: each edit changes the length by at most one, and adds or takes at most one letter. */
function mayBeNear(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > DISTANCE_MAX) return false;
  const counts = new Int8Array(128);
  const add = (text: string, by: 1 | -1) => {
    for (let at = 0; at < text.length; at++) counts[text.charCodeAt(at) & 127] = (counts[text.charCodeAt(at) & 127] ?? 0) + by;
  };
  add(left, 1);
  add(right, -1);
  return counts.reduce((sum, each) => sum + Math.abs(each), 0) <= 2 * DISTANCE_MAX;
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
