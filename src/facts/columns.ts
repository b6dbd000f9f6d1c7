/** An opportunity as a flat row: the columns of CSV, SQL and Parquet, and where each value is. Each writer takes what it needs. */
import type { Due } from "../opportunities/due.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { type JsonObject, objectOf } from "../text/json-value.ts";
import { plainText } from "../text/plain-text.ts";

/** What a column holds. A `day` is the calendar date as published, in the upstream's own offset (D-28). */
export type ColumnType = "text" | "plain text" | "instant" | "day" | "decimal" | "integer" | "list";

export type Column = { path: string; type: ColumnType };

export type FlatOpportunity = WholeOpportunity & { due: Due };

const column = (path: string, type: ColumnType = "text"): Column => ({ path, type });

/** New columns are added at the end: docs/reference/filters.md promises that none moves or disappears. */
export const flatColumns = {
  id: column("id"),
  source: column("source.code"),
  upstream_id: column("source.opportunity_id"),
  solicitation_id: column("program.solicitation_id"),
  title: column("title"),
  status: column("status"),
  program_type: column("program.type"),
  agency: column("organization.agency"),
  sub_agency: column("organization.sub_agency"),
  issuing_office: column("organization.issuing_office"),
  posted_at: column("dates.posted_at", "instant"),
  opens_at: column("dates.opens_at", "instant"),
  closes_at: column("dates.closes_at", "instant"),
  response_at: column("dates.response_at", "instant"),
  amount_min: column("funding.amount_min", "decimal"),
  amount_max: column("funding.amount_max", "decimal"),
  funding: column("funding.display"),
  naics_codes: column("classifications.naics_codes", "list"),
  set_aside_types: column("classifications.set_aside_types", "list"),
  tech_taxonomy: column("classifications.tech_taxonomy", "list"),
  keywords: column("classifications.keywords", "list"),
  technology_areas: column("classifications.technology_areas", "list"),
  eligibility: column("eligibility.requirements"),
  geographic_scope: column("eligibility.geographic_scope"),
  summary: column("summary", "plain text"),
  url: column("source.url"),
  created_at: column("created_at", "instant"),
  updated_at: column("updated_at", "instant"),
  due_at: column("due.at", "instant"),
  due_kind: column("due.kind"),
  deadline_note: column("due.note"),
} satisfies Record<string, Column>;

export const furtherColumns = {
  status_display: column("status_display"),
  contract_class: column("program.contract_class"),
  posted_on: column("dates.posted_at", "day"),
  opens_on: column("dates.opens_at", "day"),
  closes_on: column("dates.closes_at", "day"),
  response_on: column("dates.response_at", "day"),
  due_on: column("due.at", "day"),
  parent_id: column("relationships.parent_id"),
  canonical_id: column("relationships.canonical_id"),
  description: column("description", "plain text"),
  agency_codes: column("sidecar.agency_codes", "list"),
  applicant_types: column("sidecar.applicant_types", "list"),
  expires_at: column("sidecar.expires_at", "instant"),
  place_city: column("sidecar.place.city"),
  place_state: column("sidecar.place.state"),
  place_country: column("sidecar.place.country"),
  award_number: column("sidecar.award.number"),
  award_date: column("sidecar.award.date"),
  award_amount: column("sidecar.award.amount", "decimal"),
  awardee: column("sidecar.award.awardee"),
} satisfies Record<string, Column>;

/** The value at the path of a column; `undefined` if the opportunity has none. */
export function valueIn(opportunity: JsonObject, { path }: Pick<Column, "path">): unknown {
  return path.split(".").reduce<unknown>((parent, name) => objectOf(parent)[name], opportunity);
}

/** The cells of a line of CSV, in the order of these columns. */
export function cellsOf(opportunity: FlatOpportunity, names: readonly (keyof typeof flatColumns)[]): (string | null)[] {
  return names.map((name) => {
    const value = valueIn(opportunity, flatColumns[name]);
    if (Array.isArray(value)) return inOneCell(value);
    return typeof value !== "string" ? null : name === "summary" ? plainText(value) : value;
  });
}

/** Items of a list are joined by a semicolon and a blank. A semicolon within an item becomes a comma. */
export function inOneCell(items: readonly string[]): string {
  return items.map((item) => item.replaceAll(";", ",")).join("; ");
}
