/** Turns of the event loop: whether an answer is given in the one in which its request came, or later. */

export type Turn = { isOver: boolean };

let present: Turn | undefined;

export function presentTurn(): Turn {
  if (present !== undefined) return present;
  const turn: Turn = { isOver: false };
  present = turn;
  setImmediate(() => {
    turn.isOver = true;
    present = undefined;
  });
  return turn;
}
