import { expect, test } from "bun:test";
import { addFacets, allowedFacets, createFacets } from "../../src/opportunities/facets.ts";

const facets = createFacets();
const FACETS = 40_000;
addFacets(
  facets,
  Array.from({ length: FACETS }, (_, index) => ({
    id: 2 * (index + 1), // With gaps, as PostgreSQL may leave them.
    status: index % 2 === 0 ? "open" : "closed",
    source: `S${index % 3}`,
    program_type: "",
    agency: index % 5 === 0 ? "" : `Agency ${index % 1000}`,
  })),
);

test("allowedFacets() returns the facets that meet all conditions, and no id without a facet", () => {
  const { flags, ids } = allowedFacets(facets, { status: ["open"], source: ["S1", "OTHER"], agency: "AGENCY 1" }, ["S0", "S1"]) ?? fail();
  const expected = Array.from({ length: FACETS }, (_, index) => index)
    .filter((index) => index % 2 === 0 && index % 3 !== 0 && index % 5 !== 0 && `${index % 1000}`.startsWith("1"))
    .map((index) => 2 * (index + 1));
  expect([...ids]).toEqual(expected);
  expect(flags.reduce((sum, flag) => sum + flag, 0)).toBe(expected.length);
  expect(allowedFacets(facets, {}, undefined)).toBeNull();
});

test("allowedFacets() keeps results for the next request, in bounded memory", () => {
  const first = allowedFacets(facets, { agency: "1" }, undefined);
  expect(allowedFacets(facets, { agency: "1" }, undefined)).toBe(first);
  for (let n = 0; n < 500; n++) {
    allowedFacets(facets, { agency: `${n}` }, undefined);
    const bytes = [...facets.kept.values()].reduce((sum, { flags, ids }) => sum + flags.byteLength + ids.byteLength, 0);
    expect(bytes).toBeLessThan(16_777_216);
  }
});

function fail(): never {
  throw new Error("The filter allows all facets");
}
