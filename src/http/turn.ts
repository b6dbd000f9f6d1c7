/** Turns of the event loop: whether a response is made in the turn in which its request arrived. */

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
