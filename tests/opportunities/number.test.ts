import { expect, test } from "bun:test";
import { numberInWords, numberOf } from "../../src/opportunities/opportunity.ts";
import { aContent } from "../support/contents.ts";

test.each([
  ["PD-16-1271", null, "PD-16-1271"],
  [" PD-16-1271 ", "N00014", "PD-16-1271"],
  ["357492", "PAR-25-270", "PAR-25-270"],
  ["357492", null, null],
  ["357492", "  ", null],
  ["ad93118784c44410b6077c6431b0744e", "FA252126QB143", "FA252126QB143"],
  ["https://example.gov/a-prize", null, null],
])("numberOf() of the upstream id %j and the solicitation number %j is %j", (opportunity_id, solicitation_id, number) => {
  const { source, program } = aContent();
  const opportunity = { source: { ...source, opportunity_id }, program: { ...program, solicitation_id } };
  expect(numberOf(opportunity)).toBe(number);
  expect(numberInWords(opportunity)).toBe(number ?? "–");
});
