/** Simpler.Grants.gov's words for Grants.gov's codes, such as `cooperative_agreement`. */
import { fundingActivities } from "../../../opportunities/taxonomy.ts";
import type { FormatContext } from "../../format.ts";
import { applicantCodes, type Coded, type Codes, fundingInstruments, labelOf, opportunityCategories } from "./codes.ts";

export type Words = ReadonlyMap<string, Coded>;

/** Grants.gov's codes and labels, so that both sites' records are alike. Warns of unknown words, and skips empty ones. */
export function codedWords(texts: readonly string[], known: Words, what: string, warn: FormatContext["warn"]): Coded[] {
  return texts.filter(Boolean).map((word) => {
    const coded = known.get(word);
    if (coded === undefined) warn(`Unknown ${what} "${word}" is kept as it is`);
    return coded ?? { code: word, label: word };
  });
}

/** Codes of words that are not labels in snake case. */
const ALIASES: Readonly<Record<string, string>> = {
  county_governments: "01",
  city_or_township_governments: "02",
  federally_recognized_native_american_tribal_governments: "07",
  for_profit_organizations_other_than_small_businesses: "22",
  nonprofits_non_higher_education_with_501c3: "12",
  nonprofits_non_higher_education_without_501c3: "13",
  other_native_american_tribal_organizations: "11",
  public_and_indian_housing_authorities: "08",
  public_and_state_institutions_of_higher_education: "06",
  science_technology_and_other_research_and_development: "ST",
};

function byWord(codes: Codes): ReadonlyMap<string, Coded> {
  const labels = Object.entries(codes).map(([code, label]): [string, Coded] => [snakeCase(label), { code, label }]);
  const aliases = Object.entries(ALIASES).flatMap(([word, code]): [string, Coded][] => {
    const label = labelOf(code, codes);
    return label === undefined ? [] : [[word, { code, label }]];
  });
  return new Map([...labels, ...aliases]);
}

/** `employment_labor_and_training` of `Employment, Labor and Training`; `other` of "Others (see text …)". */
function snakeCase(label: string): string {
  return label.startsWith("Others (")
    ? "other"
    : label
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "_")
        .replace(/^_|_$/g, "");
}

export const wordLists = {
  categories: byWord(opportunityCategories),
  instruments: byWord(fundingInstruments),
  activities: byWord(fundingActivities),
  applicants: byWord(applicantCodes),
};
