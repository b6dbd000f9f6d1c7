/** Wraps a function so that it keeps its last result, and returns it as long as the argument stays the same. */
export function memoizeLast<Argument, Result>(compute: (argument: Argument) => Result): (argument: Argument) => Result {
  let last: { argument: Argument; result: Result } | undefined;
  return (argument) => {
    if (last?.argument !== argument) last = { argument, result: compute(argument) };
    return last.result;
  };
}

/** Longer arguments are not kept. They come from files, which must not decide how much memory the results take. */
const ARGUMENT_LENGTH_MAX = 40;

/** Wraps a function so that it keeps up to `sizeMax` results, then drops all of them and starts over. Does not keep `undefined`. */
export function memoize<Result>(
  sizeMax: number,
  compute: (argument: string) => Result | undefined,
): (argument: string) => Result | undefined {
  const results = new Map<string, Result>();
  return (argument) => {
    const known = results.get(argument);
    if (known !== undefined) return known;
    const result = compute(argument);
    if (result === undefined || argument.length > ARGUMENT_LENGTH_MAX) return result;
    if (results.size === sizeMax) results.clear();
    results.set(copyOf(argument), result);
    return result;
  };
}

/** The same text in its own memory. A substring keeps the whole string from which it was cut in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}
