/** Who may apply, by the codes of Grants.gov. The text on eligibility cannot be asked: "small" also stands in what excludes small businesses. */
import type { WholeOpportunity } from "../opportunities/opportunity.ts";

/** Grants.gov's codes by kind. Code 25, "others", stands for what only the text on eligibility says. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  university: ["06", "20"],
  "small-business": ["23"],
  "for-profit": ["22"],
  nonprofit: ["12", "13"],
  individual: ["21"],
  tribe: ["07", "11"],
  state: ["00"],
  county: ["01"],
  city: ["02"],
  "special-district": ["04"],
  "school-district": ["05"],
  "housing-authority": ["08"],
  other: ["25"],
  unrestricted: ["99"],
};

export const applicantKinds: readonly string[] = Object.keys(kinds);

/** The codes of a kind, and that of opportunities for all. A code stands for itself. */
export function codesOfKind(kind: string): string[] {
  return [...(kinds[kind] ?? [kind]), "99"];
}

/** Sources whose opportunities are for small businesses by law (15 U.S.C. 638), so that they do not publish it as a code. */
const OF_SMALL_BUSINESSES: readonly string[] = ["SBIR_GOV", "DSIP"];

export const IN_WORDS = "other";

const names: Readonly<Record<string, string>> = {
  university: "universities",
  "small-business": "small businesses",
  "for-profit": "for-profits",
  nonprofit: "nonprofits",
  individual: "individuals",
  tribe: "tribes",
  state: "states",
  county: "counties",
  city: "cities",
  "special-district": "special districts",
  "school-district": "school districts",
  "housing-authority": "housing authorities",
  other: "others in words",
  unrestricted: "anyone",
};

const SHOWN = 3;

/** Who may apply: each kind with the word that asks for it. Codes of no kind are named as they are. Nothing if no code says it. */
export function applicantsOf(opportunity: WholeOpportunity): { kind: string; text: string }[] {
  const codes = applicantCodesOf(opportunity);
  const found = applicantKinds.filter((kind) => (kinds[kind] ?? []).some((code) => codes.includes(code)));
  const shown = found.includes("unrestricted") ? ["unrestricted"] : found;
  const others = codes.filter((code) => !Object.values(kinds).flat().includes(code));
  return [...shown.map((kind) => ({ kind, text: names[kind] ?? kind })), ...others.map((code) => ({ kind: code, text: code }))];
}

/** "universities, nonprofits and 5 more kinds", "others in words", "anyone"; null if no code says it. */
export function applicantsInShort(opportunity: WholeOpportunity): string | null {
  const texts = applicantsOf(opportunity).map(({ text }) => text);
  const shown = texts.slice(0, SHOWN).join(", ");
  const more = texts.length - SHOWN;
  return more > 0 ? `${shown} and ${more} more ${more === 1 ? "kind" : "kinds"}` : shown || null;
}

/** The codes of those who may apply. */
export function applicantCodesOf({ source, sidecar: { applicant_types } }: WholeOpportunity): readonly string[] {
  return applicant_types.length === 0 && OF_SMALL_BUSINESSES.includes(source.code) ? ["23"] : applicant_types;
}
