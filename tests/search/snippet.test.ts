/** The part of a text that is shown with a result. */
import { expect, test } from "bun:test";
import { MATCH_BEGIN, MATCH_END, snippetOf } from "../../src/search/snippet.ts";

const groups = new Map([
  ["wildfire", 0],
  ["wildfires", 0],
  ["smoke", 1],
]);
const shown = (...texts: string[]) =>
  snippetOf(texts, (word) => groups.get(word.toLowerCase()))
    ?.replaceAll(MATCH_BEGIN, "[")
    .replaceAll(MATCH_END, "]");

const words = (count: number, word = "filler") => Array.from({ length: count }, () => word).join(" ");

test("marks what was sought, in any spelling of its group", () => {
  expect(shown("Smoke of wildfires, and health")).toBe("[Smoke] of [wildfires], and health");
});

test("null without a match", () => {
  expect(snippetOf(["Nothing here"], () => undefined)).toBeNull();
  expect(snippetOf([], () => undefined)).toBeNull();
});

test("shows the part and the text with the most of the groups", () => {
  const far = `wildfire ${words(40)} smoke of a wildfire ${words(40)}`;
  expect(shown("Only smoke", far)).toContain("[smoke] of a [wildfire]");
  expect(shown("Only smoke", far)).toMatch(/^….*…$/);
});

test("has at most 14 words, and no line feed", () => {
  const snippet = shown(`${words(30)}\n${words(3, "wildfire")}\n${words(30)}`) ?? "";
  expect(snippet.match(/\w+/g)).toHaveLength(14);
  expect(snippet).not.toContain("\n");
});
