/** Lists that come in any order. */
import { expect, test } from "bun:test";
import { hasSameItems } from "../../src/text/same-items.ts";

test.each<[unknown[], unknown[], boolean]>([
  [[], [], true],
  [["a", "b"], ["b", "a"], true],
  [[{ name: "a" }], [{ name: "a" }], true],
  [["a"], ["a", "a"], false],
  [["a", "a"], ["a", "b"], false],
  [["a", "b"], ["a", "a"], false],
])("%j and %j have the same items: %p", (one, other, same) => {
  expect(hasSameItems(one, other)).toBe(same);
});
