/** Grants.gov's codes with their labels. A code that is missing here is kept as it is, with a warning. */
import { fundingActivities } from "../../../opportunities/taxonomy.ts";
import type { FormatContext } from "../../format.ts";

export const GRANTS_GOV = "GRANTS_GOV";

export type Codes = Readonly<Record<string, string>>;

export const opportunityCategories: Codes = { D: "Discretionary", M: "Mandatory", C: "Continuation", E: "Earmark", O: "Other" };

export const fundingInstruments: Codes = { CA: "Cooperative Agreement", G: "Grant", PC: "Procurement Contract", O: "Other" };

export const applicantCodes: Codes = {
  "00": "State governments",
  "01": "County governments",
  "02": "City or township governments",
  "04": "Special district governments",
  "05": "Independent school districts",
  "06": "Public and State controlled institutions of higher education",
  "07": "Native American tribal governments (Federally recognized)",
  "08": "Public housing authorities/Indian housing authorities",
  "11": "Native American tribal organizations (other than Federally recognized tribal governments)",
  "12": "Nonprofits having a 501(c)(3) status with the IRS, other than institutions of higher education",
  "13": "Nonprofits without 501(c)(3) status with the IRS, other than institutions of higher education",
  "20": "Private institutions of higher education",
  "21": "Individuals",
  "22": "For-profit organizations other than small businesses",
  "23": "Small businesses",
  "25": 'Others (see text field entitled "Additional Information on Eligibility" for clarification)',
  "99": "Unrestricted",
};

/** A code with its label. An unknown code is its own label. */
export type Coded = { code: string; label: string };

/** The codes in texts with one or several of them. Warns of unknown ones. */
export function readCodes(texts: readonly string[], codes: Codes, what: string, warn: FormatContext["warn"]): Coded[] {
  const found: Coded[] = [];
  for (const code of separated(texts)) {
    const label = labelOf(code, codes);
    if (label === undefined) warn(`Unknown ${what} "${code}" is kept as it is`);
    found.push({ code, label: label ?? code });
  }
  return found;
}

/** The label of a code; undefined if unknown. A code may be any text, `constructor` too. */
export function labelOf(code: string, codes: Codes): string | undefined {
  return Object.hasOwn(codes, code) ? codes[code] : undefined;
}

function separated(texts: readonly string[]): readonly string[] {
  return texts.some((text) => /[\s,;]/.test(text))
    ? texts
        .join(" ")
        .split(/[\s,;]+/)
        .filter((code) => code !== "")
    : texts;
}

export function pageUrlOf(id: string): string {
  return `https://www.grants.gov/search-results-detail/${id}`;
}

/** The assistance listing numbers in texts with one or several of them. Warns of unusual ones. */
export function readListings(texts: readonly string[], warn: FormatContext["warn"]): { number: string; title: string }[] {
  const found: { number: string; title: string }[] = [];
  for (const number of separated(texts)) {
    if (/^[0.]*$/.test(number)) continue; // Zeros mean none.
    if (!/^\d\d\.[A-Z0-9]{3}[A-Z]?$/i.test(number)) warn(`Unusual assistance listing number "${number}" is kept as it is`);
    found.push({ number, title: "" });
  }
  return found;
}

/* Simpler.Grants.gov has words in place of codes, such as `cooperative_agreement`. */

export type Words = ReadonlyMap<string, Coded>;

/** Grants.gov's codes and labels, so that both sites' records are alike. Warns of unknown words, and skips empty ones. */
export function codedWords(texts: readonly string[], known: Words, what: string, warn: FormatContext["warn"]): Coded[] {
  return texts.filter(Boolean).map((word) => {
    const coded = known.get(word);
    if (coded === undefined) warn(`Unknown ${what} "${word}" is kept as it is`);
    return coded ?? { code: word, label: word };
  });
}

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
