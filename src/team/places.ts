/**
 * Places limit how many requests outside the API are in progress, for each key and in total. A request takes a place or is refused immediately.
 * It then waits in the queue of its key for its turn at the reader. Queues take turns, so a client with many requests delays only itself.
 * (E-170)
 */

export const PLACES = {
  /** Places for requests of one key: more than a browser with some tabs and an agent need at once. */
  each: 8,
  /** Requests without a key have a queue for each client address, which may be that of a proxy. */
  keyless: 32,
  all: 64,
  /** How many requests of one queue, and of all queues, are at the reader, whose single thread they share. */
  runningEach: 1,
  runningAll: 3,
};

/** Leave a place exactly once, after its turn if that began. */
export type Place = {
  run: <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T | undefined>;
  leave: () => void;
};

/** `waiting` has what begins each turn. */
type Line = { places: number; running: number; waiting: (() => void)[] };

/** The prefix of the names of queues without a key. */
export const KEYLESS = "~";

/** Returns a function that returns a place in a queue, which is named after its key, or undefined if all places are taken. */
export function createPlaces(limits: Partial<typeof PLACES> = {}): (line: string) => Place | undefined {
  const { each, keyless, all, runningEach, runningAll } = { ...PLACES, ...limits };
  /** In the order in which they have their next turn. */
  const lines = new Map<string, Line>();
  let [places, running] = [0, 0];

  const next = () => {
    for (const line of lines.values()) {
      if (running >= runningAll) return;
      if (line.running >= runningEach) continue;
      const begin = line.waiting.shift();
      if (begin === undefined) continue;
      line.running++;
      running++;
      begin();
    }
  };

  const turnIn = (line: Line, signal: AbortSignal): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = () => {
      line.waiting = line.waiting.filter((each) => each !== begin);
      resolve(false);
    };
    const begin = () => {
      signal.removeEventListener("abort", giveUp);
      resolve(true);
    };
    signal.addEventListener("abort", giveUp);
    line.waiting.push(begin);
    next();
    return promise;
  };

  return (name) => {
    const line = lines.get(name) ?? { places: 0, running: 0, waiting: [] };
    if (places >= all || line.places >= (name.startsWith(KEYLESS) ? keyless : each)) return undefined;
    lines.set(name, line);
    line.places++;
    places++;
    return {
      run: async (signal, work) => {
        if (signal.aborted || !(await turnIn(line, signal))) return undefined;
        try {
          return signal.aborted ? undefined : await work();
        } finally {
          line.running--;
          running--;
          lines.delete(name);
          lines.set(name, line); // The other queues go first now.
          next();
        }
      },
      leave: () => {
        places--;
        if (--line.places === 0) lines.delete(name);
      },
    };
  };
}
