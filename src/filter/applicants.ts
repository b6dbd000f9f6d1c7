/** Who may apply, by the codes of Grants.gov. The text on eligibility cannot be asked: "small" also stands in what excludes small businesses. */
import type { WholeOpportunity } from "../opportunities/opportunity.ts";

/** The kinds of applicants: the plural name, and the codes. Code 25 means that only the text on eligibility says who may apply. */
const kinds: Readonly<Record<string, { several: string; codes: readonly string[] }>> = {
  university: { several: "universities", codes: ["06", "20"] },
  "small-business": { several: "small businesses", codes: ["23"] },
  "for-profit": { several: "for-profits", codes: ["22"] },
  nonprofit: { several: "nonprofits", codes: ["12", "13"] },
  individual: { several: "individuals", codes: ["21"] },
  tribe: { several: "tribes", codes: ["07", "11"] },
  state: { several: "states", codes: ["00"] },
  county: { several: "counties", codes: ["01"] },
  city: { several: "cities", codes: ["02"] },
  "special-district": { several: "special districts", codes: ["04"] },
  "school-district": { several: "school districts", codes: ["05"] },
  "housing-authority": { several: "housing authorities", codes: ["08"] },
  other: { several: "others in words", codes: ["25"] },
  unrestricted: { several: "anyone", codes: ["99"] },
};

export const applicantKinds: readonly string[] = Object.keys(kinds);

/** The codes of a kind, and that of opportunities for all. A code stands for itself. */
export function codesOfKind(kind: string): string[] {
  return [...(kinds[kind]?.codes ?? [kind]), "99"];
}

/** Sources whose opportunities are for small businesses by law (15 U.S.C. 638), so that they do not publish it as a code. */
const OF_SMALL_BUSINESSES: readonly string[] = ["SBIR_GOV", "DSIP"];

export const IN_WORDS = "other";

const SHOWN = 3;

/** Who may apply: each kind with the word that asks for it. Codes of no kind are named as they are. Nothing if no code says it. */
export function applicantsOf(opportunity: WholeOpportunity): { kind: string; text: string }[] {
  const codes = applicantCodesOf(opportunity);
  const found = Object.entries(kinds).filter(([, kind]) => kind.codes.some((code) => codes.includes(code)));
  const anyone = found.filter(([kind]) => kind === "unrestricted");
  const shown = (anyone.length > 0 ? anyone : found).map(([kind, { several }]) => ({ kind, text: several }));
  const known = new Set(Object.values(kinds).flatMap((kind) => kind.codes));
  return [...shown, ...codes.filter((code) => !known.has(code)).map((code) => ({ kind: code, text: code }))];
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
