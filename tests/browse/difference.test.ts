/** The difference of two texts on a page depends on them alone. */
import { expect, spyOn, test } from "bun:test";
import { Difference } from "../../src/browse/history.tsx";

const html = (before: string, after: string) => `${Difference({ before, after })}`;
const words = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}${n}`).join(" ");

test("is marked word by word, however long the comparison takes", () => {
  let now = 0;
  using _ = spyOn(Date, "now").mockImplementation(() => (now += 60_000));
  expect(html("Sep 4, 2026", "Nov 6, 2026")).toContain("<ins>Nov 6,</ins> 2026");
});

test("is that of the whole texts if they have little in common", () => {
  const [few, many] = [100, 2000].map((count) => html(`${words("old", count)} end`, `${words("new", count)} end`));
  expect(few).toContain("</ins> end");
  expect(many).toContain("<dt>Before</dt>");
});
