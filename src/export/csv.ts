/** An opportunity as a line of CSV. */
import { type Due, dueOf } from "../opportunities/due.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { alsoAt } from "../opportunities/related.ts";
import { csvLine } from "../text/csv.ts";
import type { EpochMs } from "../text/instant.ts";
import { plainText } from "../text/plain-text.ts";

/** The columns, in this order. New ones are added at the end: docs/find.md promises that none moves or disappears. */
const columns: Readonly<Record<string, (opportunity: WholeOpportunity, due: Due) => string | null>> = {
  id: ({ id }) => id,
  source: ({ source }) => source.code,
  upstream_id: ({ source }) => source.opportunity_id,
  solicitation_id: ({ program }) => program.solicitation_id,
  title: ({ title }) => title,
  status: ({ status }) => status,
  program_type: ({ program }) => program.type,
  agency: ({ organization }) => organization.agency,
  sub_agency: ({ organization }) => organization.sub_agency,
  issuing_office: ({ organization }) => organization.issuing_office,
  posted_at: ({ dates }) => dates.posted_at,
  opens_at: ({ dates }) => dates.opens_at,
  closes_at: ({ dates }) => dates.closes_at,
  response_at: ({ dates }) => dates.response_at,
  amount_min: ({ funding }) => funding?.amount_min ?? null,
  amount_max: ({ funding }) => funding?.amount_max ?? null,
  funding: ({ funding }) => funding?.display ?? null,
  naics_codes: ({ classifications }) => joined(classifications.naics_codes),
  set_aside_types: ({ classifications }) => joined(classifications.set_aside_types),
  tech_taxonomy: ({ classifications }) => joined(classifications.tech_taxonomy),
  keywords: ({ classifications }) => joined(classifications.keywords),
  technology_areas: ({ classifications }) => joined(classifications.technology_areas),
  eligibility: ({ eligibility }) => eligibility.requirements,
  geographic_scope: ({ eligibility }) => eligibility.geographic_scope,
  summary: ({ summary }) => (summary === null ? null : plainText(summary)),
  url: ({ source }) => source.url,
  created_at: ({ created_at }) => created_at,
  updated_at: ({ updated_at }) => updated_at,
  due_at: (_, { at }) => at,
  due_kind: (_, { kind }) => kind,
  deadline_note: (_, { note }) => note,
};

export const csvHeader = csvLine(Object.keys(columns));

export function csvLineOf(opportunity: WholeOpportunity, now: EpochMs, twins: readonly WholeOpportunity[]): string {
  return csvLine(cellsOf(opportunity, now, twins));
}

/** The header of `find`, whose last column names the other records of the same opportunity. */
export const foundCsvHeader = csvLine([...Object.keys(columns), "also_at"]);

export function foundCsvLine(opportunity: WholeOpportunity, twins: readonly WholeOpportunity[], now: EpochMs): string {
  return csvLine([
    ...cellsOf(opportunity, now, twins),
    joined(alsoAt(twins).map(({ source, url }) => (url === null ? source : `${source} ${url}`))),
  ]);
}

function cellsOf(opportunity: WholeOpportunity, now: EpochMs, twins: readonly WholeOpportunity[]): (string | null)[] {
  const due = dueOf(opportunity, now, twins);
  return Object.values(columns).map((cell) => cell(opportunity, due));
}

/** Items of a list are joined by a semicolon and a blank. A semicolon within an item becomes a comma. */
function joined(items: readonly string[]): string {
  return items.map((item) => item.replaceAll(";", ",")).join("; ");
}
