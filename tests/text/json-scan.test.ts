/** What is seen of a JSON text before a parser sees it. */
import { describe, expect, test } from "bun:test";
import { NESTING_MAX, parseBounded, shapeOfJson } from "../../clients/typescript/src/json-scan.ts";
import { parseJson } from "../../src/text/json-value.ts";

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

test.each(["[", "{", '[{"a":', " [ "])("a text of many %j is too deep", (bracket) => {
  const text = bracket.repeat(1_000_000);
  expect(shapeOfJson(text).isTooDeep).toBe(true);
  expect(() => parseBounded(text)).toThrow("it nests deeper than 120 levels");
  expect(parseJson(text)).toBeUndefined();
});

test("as many levels as are allowed are parsed, and one more is not", () => {
  expect(JSON.stringify(parseBounded(nested(NESTING_MAX)))).toBe(nested(NESTING_MAX));
  expect(() => parseBounded(nested(NESTING_MAX + 1))).toThrow(SyntaxError);
});

test("brackets in strings nest nothing, also after quotes with backslashes before them", () => {
  const brackets = "[".repeat(1000);
  for (const value of [brackets, `"${brackets}`, `\\${brackets}`, `\\"${brackets}`, `${brackets}\\`]) {
    const text = JSON.stringify({ [value]: [value, value] });
    expect(parseBounded(text)).toEqual({ [value]: [value, value] });
  }
});

describe("elements", () => {
  test.each([
    ["[]", 0],
    [" [ ] ", 0],
    ["{}", 0],
    ['{"a":[1,2,3]}', 0],
    ["1", 0],
    ["", 0],
    ["[1]", 1],
    ['["a,b"]', 1],
    ['[{"a":1,"b":[1,2]},{},[]]', 3],
    ["[[]]", 1],
    ["[null,", 2],
  ])("of %s are %i", (text, elements) => {
    expect(shapeOfJson(text)).toEqual({ isTooDeep: false, elements });
  });
});
