/** Which known name is suggested for a mistyped one, and that a name that resembles none is compared with none. */
import { expect, test } from "bun:test";
import { listAgencies } from "../../src/agencies/table.ts";
import { closest, isWithinEdits, mayBeClosest } from "../../src/text/closest.ts";
import { randomIntegers } from "../support/random-numbers.ts";

const names = listAgencies().map(({ name }) => name);

test("a name that is like none is compared with none", () => {
  for (const unknown of ["xqzw", "zzzz qqqq xxxx wwww", "q".repeat(5000), "no such agency of ours"])
    expect([mayBeClosest(unknown.slice(0, 64), names), closest(unknown, names)]).toEqual([[], undefined]);
});

test("every name that is two edits away is compared", () => {
  const below = randomIntegers(15);
  const letter = () => String.fromCharCode(97 + below(26));
  for (let n = 0; n < 30; n++) {
    const name = names[below(names.length)] ?? "";
    const letters = [...name.toLowerCase()];
    for (let edit = 0; edit < 2; edit++) letters.splice(below(letters.length + 1), below(2), ...(below(2) === 0 ? [] : [letter()]));
    const typed = letters.join("");
    const near = names.filter((each) => isWithinEdits(typed, each.toLowerCase(), 2));
    expect(mayBeClosest(typed, names)).toEqual(expect.arrayContaining(near));
    expect([typed, near.includes(name)]).toEqual([typed, true]);
  }
});
