/** The part of the page of an opportunity that names what is like it. */
import { expect, test } from "bun:test";
import { SimilarOnes } from "../../src/browse/opportunity-page.tsx";

test("it is left out if nothing is similar, and says so if time did not suffice to know", () => {
  const shown = (isWhole: boolean) => `${SimilarOnes({ similar: { words: [], similar: [], rounds: [], isWhole }, now: 0 })}`;
  expect(shown(true)).toBe("null");
  expect(shown(false)).toContain("What is similar was looked for until a second had passed, and there may be more of it.");
});
