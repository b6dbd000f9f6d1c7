/** Opportunities of Simpler.Grants.gov's API in each layout, and as Grants.gov's XML extract has the same values. */
import { realFile, realJson } from "./real-data.ts";

export type SimplerRecord = {
  opportunity_id: string;
  legacy_opportunity_id: number | null;
  opportunity_number: string;
  opportunity_title: string;
  agency_name: string | null;
  agency_code: string;
  category: string | null;
  category_explanation: string | null;
  opportunity_status: string;
  opportunity_assistance_listings: { assistance_listing_number: string; program_title: string }[];
  summary: { [member: string]: unknown };
  attachments?: object[];
};

/** Real values of 24 opportunities, in an envelope that was written for them. */
export const simplerRecords = (): SimplerRecord[] =>
  realJson<{ data: SimplerRecord[] }>("simpler-api/derived/search-response-20260617.json").data;

/** The same records as a page of a search. */
export function searchText(data: readonly SimplerRecord[], { page = 1, size = 1000, total = data.length } = {}): string {
  const opportunity_status = Object.fromEntries(
    [...Map.groupBy(data, (each) => each.opportunity_status)].map(([status, each]) => [status, each.length]),
  );
  const pagination_info = {
    page_offset: page,
    page_size: size,
    total_records: total,
    total_pages: Math.ceil(total / size),
    sort_order: [],
  };
  return JSON.stringify({ data, facet_counts: { opportunity_status }, message: "Success", pagination_info, status_code: 200 });
}

/** The same records as the daily extract, with its indentation and escapes. */
export function extractText(opportunities: readonly SimplerRecord[], file_generated_at = "2026-06-17_05-00-12"): string {
  const text = JSON.stringify({ metadata: { file_generated_at }, opportunities }, null, 4);
  return text.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The response for one opportunity. */
export function detailText(data: SimplerRecord): string {
  return JSON.stringify({ data: { attachments: [], ...data }, message: "Success", status_code: 200 });
}

type Rows = { [kind: string]: { rows?: { slug: string; code: string }[] } };

const codes = new Map(
  Object.entries(realJson<Rows>("simpler-api/codes.json")).map(([kind, { rows = [] }]) => [
    kind,
    new Map(rows.map(({ slug, code }) => [slug, code])),
  ]),
);

const codesOf = (kind: string, slugs: unknown) => [slugs].flat().map((slug) => codes.get(kind)?.get(String(slug)) ?? `?${slug}`);

/** `07312026` of `2026-07-31`. */
const usDate = (date: unknown) => (typeof date === "string" ? date.replace(/(\d+)-(\d+)-(\d+)/, "$2$3$1") : null);

/** The XML extract with the same values. */
export function legacyXml(records: readonly SimplerRecord[]): string {
  return `<Grants>\n${records.map(elementOf).join("\n")}\n</Grants>`;
}

function elementOf({ summary, ...record }: SimplerRecord): string {
  const forecast = summary.is_forecast === true;
  const contact = String(summary.agency_contact_description ?? "");
  const fields: [string, unknown][] = [
    ["OpportunityID", record.legacy_opportunity_id],
    ["OpportunityTitle", record.opportunity_title],
    ["OpportunityNumber", record.opportunity_number],
    ["OpportunityCategory", record.category && codesOf("category", record.category)],
    ["OpportunityCategoryExplanation", record.category_explanation],
    ["FundingInstrumentType", codesOf("funding_instruments", summary.funding_instruments).toReversed()],
    ["CategoryOfFundingActivity", codesOf("funding_categories", summary.funding_categories).toReversed()],
    ["CategoryExplanation", summary.funding_category_description],
    ["CFDANumbers", record.opportunity_assistance_listings.map((listing) => listing.assistance_listing_number).toReversed()],
    ["EligibleApplicants", codesOf("applicant_types", summary.applicant_types).toReversed()],
    ["AdditionalInformationOnEligibility", summary.applicant_eligibility_description],
    ["AgencyCode", record.agency_code],
    ["AgencyName", record.agency_name],
    ["PostDate", usDate(summary.post_date)],
    ["CloseDate", usDate(summary.close_date)],
    ["CloseDateExplanation", summary.close_date_description],
    ["EstimatedSynopsisPostDate", usDate(summary.forecasted_post_date)],
    ["EstimatedSynopsisCloseDate", usDate(summary.forecasted_close_date)],
    ["EstimatedSynopsisCloseDateExplanation", summary.forecasted_close_date_description],
    ["EstimatedAwardDate", usDate(summary.forecasted_award_date)],
    ["EstimatedProjectStartDate", usDate(summary.forecasted_project_start_date)],
    ["FiscalYear", summary.fiscal_year],
    ["AwardCeiling", summary.award_ceiling ?? "none"],
    ["AwardFloor", summary.award_floor ?? (summary.award_ceiling === null ? "none" : "0")],
    ["EstimatedTotalProgramFunding", summary.estimated_total_program_funding],
    ["ExpectedNumberOfAwards", summary.expected_number_of_awards],
    ["Description", summary.summary_description],
    ["CostSharingOrMatchingRequirement", summary.is_cost_sharing === null ? null : summary.is_cost_sharing ? "Yes" : "No"],
    ["ArchiveDate", usDate(summary.archive_date)],
    ["GrantorContactEmail", summary.agency_email_address],
    ["AdditionalInformationURL", summary.additional_info_url],
    ["AdditionalInformationText", summary.additional_info_url_description],
    ...(forecast
      ? [
          ["GrantorContactName", contact.split("\n").slice(0, -1).join("\n")] as [string, unknown],
          ["GrantorContactPhoneNumber", contact.split("\n").at(-1)] as [string, unknown],
        ]
      : [["GrantorContactText", contact.replaceAll("\n", "<br/>")] as [string, unknown]]),
  ];
  const children = fields.flatMap(([name, value]) =>
    [value]
      .flat()
      .filter((each) => each !== null && each !== undefined && each !== "")
      .map((each) => `<${name}>${Bun.escapeHTML(String(each))}</${name}>`),
  );
  const name = forecast ? "OpportunityForecastDetail_1_0" : "OpportunitySynopsisDetail_1_0";
  return `<${name}>${children.join("")}</${name}>`;
}

/** A real file of the extract, with the elements of these opportunities alone. */
export function realXml(name: string, ids: ReadonlySet<string>): string {
  return realFile(name)
    .toString()
    .replace(/<(Opportunity\w+_1_0)>\s*<OpportunityID>(\d+)<.*?<\/\1>\s*/gs, (all, _, id: string) => (ids.has(id) ? all : ""));
}
