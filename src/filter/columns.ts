/** What filters and sort orders compare: the values of an opportunity, and the columns of search.db that hold them. */
import { plainWords } from "../agencies/names.ts";
import { resolveAgency } from "../agencies/resolve.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { compareDecimals, decimalKey, isDecimal } from "../text/decimal.ts";
import { fold } from "../text/fold.ts";
import { parseStoredMs } from "../text/instant.ts";
import { applicantCodesOf } from "./applicants.ts";
import { placeCodes } from "./places.ts";

type Cell = string | number | null;

/**
 * The columns of `records` in search.db. Amounts are keys that sort as the decimals. Filters read all of `records`, so it is kept narrow: the
 * words of agencies, which repeat, are in the table `agency_names`, and `agency` has their row there.
 */
export const columns = {
  status: (opportunity) => opportunity.status,
  source: ({ source }) => source.code,
  agency: publishedWords,
  agency_code: agencyCodeOf,
  program_type: ({ program }) => program.type ?? "",
  naics: (opportunity) => codeCell(codesOf("naics", opportunity)),
  psc: (opportunity) => codeCell(codesOf("psc", opportunity)),
  listing: (opportunity) => codeCell(codesOf("listing", opportunity)),
  set_aside: (opportunity) => codeCell(codesOf("set_aside", opportunity)),
  applicant: (opportunity) => codeCell(codesOf("applicant", opportunity)),
  place: (opportunity) => codeCell(codesOf("place", opportunity)),
  posted_at: ({ dates }) => instantCell(dates.posted_at),
  opens_at: ({ dates }) => instantCell(dates.opens_at),
  amount_low: (opportunity) => amountCell(amountsOf(opportunity)[0]),
  amount_high: (opportunity) => amountCell(amountsOf(opportunity).at(-1)),
  updated_at: ({ updated_at }) => instantCell(updated_at),
} satisfies Record<string, (opportunity: WholeOpportunity) => Cell>;

/** What the table `eligibilities` in search.db has of a record: it is long, and other filters read all of `records`. Empty if there is none. */
export function requirementsCell({ eligibility }: WholeOpportunity): string {
  return fold(eligibility.requirements ?? "");
}

/** Our code of the agency that an opportunity is of; null if it is not in the table. */
export function agencyCodeOf({ organization, program, source, sidecar }: WholeOpportunity): string | null {
  return resolveAgency({ ...organization, codes: sidecar.agency_codes, numbers: [program.solicitation_id, source.opportunity_id] });
}

type PublishedNames = { organization: { agency: string | null; sub_agency: string | null } };

/** The words of the agency and the sub-agency as published, each with a blank in front: SAM.gov has the Navy as a sub-agency of DEPT OF DEFENSE. */
export function publishedWords({ organization: { agency, sub_agency } }: PublishedNames): string {
  return [agency, sub_agency].flatMap((name) => (name === null ? [] : [` ${plainWords(name)}`])).join("\n");
}

function amountsOf({ funding }: WholeOpportunity): string[] {
  const amounts = [funding?.amount_min, funding?.amount_max].flatMap((amount) => amount ?? []);
  return amounts.filter(isDecimal).sort(compareDecimals);
}

export type Scheme = "naics" | "psc" | "listing" | "set_aside" | "applicant" | "place";

const published: Readonly<Record<Scheme, (opportunity: WholeOpportunity) => readonly string[]>> = {
  naics: ({ classifications }) => classifications.naics_codes,
  psc: ({ classifications }) => withoutPrefix("PSC:", classifications.tech_taxonomy),
  listing: ({ classifications }) => withoutPrefix("ALN:", classifications.tech_taxonomy),
  set_aside: ({ classifications }) => classifications.set_aside_types,
  applicant: applicantCodesOf,
  place: ({ sidecar }) => placeCodes(sidecar.place),
};

/** The codes of one scheme, in upper case and without blanks. */
export function codesOf(scheme: Scheme, opportunity: WholeOpportunity): string[] {
  return published[scheme](opportunity).map((code) => code.toUpperCase().replace(/\s/g, ""));
}

function withoutPrefix(prefix: string, codes: readonly string[]): string[] {
  return codes.filter((code) => code.startsWith(prefix)).map((code) => code.slice(prefix.length));
}

/** Each code between line feeds, so that `instr` finds a whole code or its beginning. */
function codeCell(codes: readonly string[]): string {
  return codes.length === 0 ? "" : `\n${codes.join("\n")}\n`;
}

/** The instant of a stored timestamp, in milliseconds; null without one. */
export function instantCell(text: string | null): number | null {
  return parseStoredMs(text) ?? null;
}

function amountCell(amount: string | undefined): string | null {
  return amount === undefined ? null : decimalKey(amount);
}
