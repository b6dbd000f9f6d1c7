/** Which known name is suggested for a mistyped one. */
import { expect, test } from "bun:test";
import { listAgencies } from "../../src/agencies/table.ts";
import { closest } from "../../src/text/closest.ts";

const names = listAgencies().map(({ name }) => name);

test("a name that is like none suggests none", () => {
  for (const unknown of ["xqzw", "zzzz qqqq xxxx wwww", "q".repeat(5000), "no such agency of ours"])
    expect([unknown, closest(unknown, names)]).toEqual([unknown, undefined]);
});
