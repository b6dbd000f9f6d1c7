/** Words that the titles of the best results share. */
import { expect, test } from "bun:test";
import { feedbackOf } from "../../src/search/feedback.ts";

const others = (count: number) => Array.from({ length: count }, (_, n) => `Subject${n}`);
const isAsked = (word: string) => word === "garbage";

test("bring forward other titles that have them in any form", () => {
  const best = ["Recycling and garbage", "Garbage, recycling", "Recycled garbage", ...others(17)];
  const [first, , , fourth, ...rest] = feedbackOf([...best, "Recycle it", "Sensors"], isAsked);
  expect([first, fourth, rest.at(-2), rest.at(-1)]).toEqual([1, 0, 1, 0]);
});

test("do not count if they were asked for, say nothing, or only two of the best have them", () => {
  const titles = ["Garbage for the fort", "Garbage for the port", "Garbage for the fort", ...others(20)];
  expect(new Set(feedbackOf(titles, isAsked))).toEqual(new Set([0]));
});

test("do not count among a few results", () => {
  expect(feedbackOf(["Recycling", "Recycling", "Recycling"], isAsked)).toEqual([0, 0, 0]);
});
