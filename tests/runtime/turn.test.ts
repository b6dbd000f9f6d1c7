import { expect, test } from "bun:test";
import { currentTurn, oncePerTurn } from "../../src/runtime/turn.ts";

test("oncePerTurn() reads once in a turn, whatever is awaited in it, and again in the next one", async () => {
  let reads = 0;
  const read = oncePerTurn(() => ++reads);
  const turn = currentTurn();
  expect([read(), read()]).toEqual([1, 1]);
  await Promise.resolve();
  expect([read(), turn.isOver]).toEqual([1, false]);
  await new Promise(setImmediate);
  expect([read(), read(), turn.isOver]).toEqual([2, 2, true]);
});
