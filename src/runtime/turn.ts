/** Turns of the event loop. In each, it asks the system once for what has arrived, and then handles all of that. */

export type Turn = { isOver: boolean };

let current: Turn | undefined;

/** The turn of the event loop that is running. */
export function currentTurn(): Turn {
  if (current !== undefined) return current;
  const turn: Turn = { isOver: false };
  current = turn;
  setImmediate(() => {
    turn.isOver = true;
    current = undefined;
  });
  return turn;
}

/** Returns a function that calls `read` at most once in a turn, and returns the same value for the rest of the turn. */
export function oncePerTurn<T>(read: () => T): () => T {
  let last: { turn: Turn; value: T } | undefined;
  return () => {
    const turn = currentTurn();
    if (last?.turn !== turn) last = { turn, value: read() };
    return last.value;
  };
}
