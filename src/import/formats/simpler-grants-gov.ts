/** Simpler.Grants.gov: the CSV that its search page exports. */

import type { Format, FormatContext, Input, Item } from "../format.ts";
import { csvRows } from "../readers/csv-rows.ts";
import { naming } from "../readers/input.ts";
import {
  applicantTypes,
  type Coded,
  type Codes,
  fundingActivities,
  fundingInstruments,
  labelOf,
  opportunityCategories,
} from "./grants-gov/codes.ts";
import { draftOfGrant, emptyGrant, type Grant } from "./grants-gov/grant.ts";

const SOURCE = "SIMPLER_GRANTS_GOV";

export const simplerGrantsGov: Format = {
  name: "simpler-grants-gov",
  source: SOURCE,
  about: "Simpler.Grants.gov: the CSV that its search page exports",
  entry: /\.csv$/i,
  read,
};

/** The columns that are read. A file without one of them is refused: every opportunity would seem to have lost that field. */
const COLUMNS = [
  "opportunity_id",
  "opportunity_number",
  "opportunity_title",
  "opportunity_status",
  "category",
  "category_explanation",
  "post_date",
  "close_date",
  "close_date_description",
  "archive_date",
  "is_cost_sharing",
  "expected_number_of_awards",
  "estimated_total_program_funding",
  "award_floor",
  "award_ceiling",
  "additional_info_url",
  "additional_info_url_description",
  "opportunity_assistance_listings",
  "funding_instruments",
  "funding_categories",
  "funding_category_description",
  "applicant_types",
  "applicant_eligibility_description",
  "agency_name",
  "top_level_agency_name",
  "agency_contact_description",
  "agency_email_address",
  "is_forecast",
  "forecasted_post_date",
  "forecasted_close_date",
  "forecasted_close_date_description",
  "forecasted_award_date",
  "forecasted_project_start_date",
  "fiscal_year",
  "url",
  "summary_description",
] as const;

type Row = { [column: string]: string };

async function* read(inputs: readonly Input[], context: FormatContext): AsyncIterable<Item> {
  for (const input of inputs) {
    for await (const { line, row } of naming(input, csvRows(input.bytes(), COLUMNS))) {
      const grant = grantOfRow(row, context);
      if (grant.id === "") yield { kind: "rejected", input, line, raw: row, source: SOURCE, reason: "opportunity_id must not be blank" };
      else yield { kind: "record", input, line, raw: row, record: draftOfGrant(grant, context) };
    }
  }
}

function grantOfRow(row: Row, { warn }: FormatContext): Grant {
  const text = (column: (typeof COLUMNS)[number]) => (row[column] ?? "").trim();
  const words = (column: (typeof COLUMNS)[number], known: ReadonlyMap<string, Coded>) => wordsOf(text(column), known, column, warn);
  const forecast = text("is_forecast") === "True";
  const [agency, topAgency] = [text("agency_name"), text("top_level_agency_name")];
  return {
    ...emptyGrant,
    source: SOURCE,
    id: text("opportunity_id"),
    url: text("url") || null,
    opportunityNumber: text("opportunity_number"),
    title: text("opportunity_title"),
    agency: topAgency || agency,
    subAgency: agency === topAgency || topAgency === "" ? "" : agency,
    status: statusOf(text("opportunity_status"), forecast, warn),
    category: words("category", CATEGORIES)[0]?.label ?? "",
    categoryNote: text("category_explanation"),
    instruments: words("funding_instruments", INSTRUMENTS),
    activities: words("funding_categories", ACTIVITIES),
    activitiesNote: text("funding_category_description"),
    assistanceListings: text("opportunity_assistance_listings")
      .split(/;(?=\s*\d\d\.)/)
      .filter(Boolean)
      .map(listingOf),
    applicants: words("applicant_types", APPLICANTS).map(({ label }) => label),
    eligibility: text("applicant_eligibility_description"),
    costSharing: text("is_cost_sharing") === "True" ? "Yes" : text("is_cost_sharing") === "False" ? "No" : "",
    postDate: text("post_date"),
    openDate: text(forecast ? "forecasted_post_date" : "post_date"),
    closeDate: text(forecast ? "forecasted_close_date" : "close_date"),
    closeDateExplanation: text(forecast ? "forecasted_close_date_description" : "close_date_description"),
    archiveDate: text("archive_date"),
    awardFloor: text("award_floor"),
    awardCeiling: text("award_ceiling"),
    totalFunding: text("estimated_total_program_funding"),
    expectedAwards: text("expected_number_of_awards"),
    awardDate: text("forecasted_award_date"),
    startDate: text("forecasted_project_start_date"),
    fiscalYear: forecast ? text("fiscal_year") : "",
    description: text("summary_description"),
    contact: { name: "", email: text("agency_email_address"), phone: "", text: text("agency_contact_description") },
    attachments: [{ name: text("additional_info_url_description"), url: text("additional_info_url") }],
  };
}

function statusOf(status: string, forecast: boolean, warn: FormatContext["warn"]): Grant["status"] {
  if (status === "archived" || status === "closed") return status;
  if (status !== "posted" && status !== "forecasted") warn(`Unknown opportunity_status "${status}" is taken for posted`);
  return status === "forecasted" || forecast ? "forecast" : "posted";
}

/** An assistance listing such as `12.420|Military Medical Research and Development`. */
function listingOf(text: string): { number: string; title: string } {
  const [number = "", title = ""] = text.split("|");
  return { number: number.trim(), title: title.trim() };
}

/** Grants.gov's codes of words that are not its labels in snake case. */
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

/** Grants.gov's codes and labels for words such as `cooperative_agreement;grant`, so that records of both sources are alike. */
function wordsOf(text: string, words: ReadonlyMap<string, Coded>, column: string, warn: FormatContext["warn"]): Coded[] {
  return text
    .split(";")
    .filter(Boolean)
    .map((word) => {
      const coded = words.get(word);
      if (coded === undefined) warn(`Unknown ${column} "${word}" is kept as it is`);
      return coded ?? { code: word, label: word };
    });
}

function byWord(codes: Codes): ReadonlyMap<string, Coded> {
  const labels = Object.entries(codes).map(([code, label]): [string, Coded] => [snakeCase(label), { code, label }]);
  const aliases = Object.entries(ALIASES).flatMap(([word, code]): [string, Coded][] => {
    const label = labelOf(code, codes);
    return label === undefined ? [] : [[word, { code, label }]];
  });
  return new Map([...labels, ...aliases]);
}

/** Turns `Employment, Labor and Training` into `employment_labor_and_training`, and "Others (see text …)" into `other`. */
function snakeCase(label: string): string {
  return label.startsWith("Others (")
    ? "other"
    : label
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "_")
        .replace(/^_|_$/g, "");
}

const [CATEGORIES, INSTRUMENTS, ACTIVITIES, APPLICANTS] = [
  byWord(opportunityCategories),
  byWord(fundingInstruments),
  byWord(fundingActivities),
  byWord(applicantTypes),
];
