/** Turns of the event loop: whether a response is made in the turn in which its request arrived. */

export type Turn = { isOver: boolean };

let current: Turn | undefined;

/** The turn that is running: one callback of the event loop, such as a request, and all promises that settle before the next callback. */
export function currentTurn(): Turn {
  if (current !== undefined) return current;
  const turn: Turn = { isOver: false };
  current = turn;
  const end = () => {
    turn.isOver = true;
    current = undefined;
  };
  queueMicrotask(() => process.nextTick(end)); // After all promises. A busy Bun handles many more requests before it comes to an immediate.
  return turn;
}
