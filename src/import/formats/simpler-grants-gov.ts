/** Simpler.Grants.gov: the CSV of its search page. Files of its API, which `pull` gets, are of the format `grants-gov`. */
import type { Format, FormatContext } from "../format.ts";
import { type CsvRow, csvRows } from "../readers/csv-rows.ts";
import { codedWords, type Words, wordLists } from "./grants-gov/codes.ts";
import { agenciesOf, draftOfGrant, emptyGrant, type Grant } from "./grants-gov/grant.ts";
import { FORECAST_TEXTS, POSTED_TEXTS, SUMMARY_TEXTS } from "./grants-gov/simpler.ts";
import { columnTexts, distinct, elementsOf, itemsOf, rejected } from "./items.ts";

const SOURCE = "SIMPLER_GRANTS_GOV";

export const simplerGrantsGov: Format = {
  name: "simpler-grants-gov",
  source: SOURCE,
  about: "Simpler.Grants.gov: the CSV that its search page exports. Files of its API are of grants-gov",
  entry: /\.csv$/i,
  read: (inputs, context) =>
    itemsOf(
      elementsOf(inputs, ({ bytes }) => csvRows(bytes(), COLUMNS)),
      (row) => {
        const grant = grantOfRow(row, context);
        return grant.id === "" ? rejected("opportunity_id must not be blank") : { kind: "record", record: draftOfGrant(grant, context) };
      },
    ),
};

const TEXT_COLUMNS = {
  id: "opportunity_id",
  opportunityNumber: "opportunity_number",
  title: "opportunity_title",
  agencyCode: "agency_code",
  categoryNote: "category_explanation",
  awardDate: FORECAST_TEXTS.awardDate,
  startDate: FORECAST_TEXTS.startDate,
  ...SUMMARY_TEXTS,
} as const;

const OTHER_COLUMNS = [
  "opportunity_status",
  "category",
  "is_cost_sharing",
  "additional_info_url",
  "additional_info_url_description",
  "opportunity_assistance_listings",
  "funding_instruments",
  "funding_categories",
  "applicant_types",
  "agency_name",
  "top_level_agency_name",
  "agency_contact_description",
  "agency_email_address",
  "is_forecast",
  "url",
] as const;

const COLUMNS = distinct([TEXT_COLUMNS, POSTED_TEXTS, FORECAST_TEXTS, OTHER_COLUMNS].flatMap((each) => Object.values<string>(each)));

function grantOfRow(row: CsvRow, { warn }: FormatContext): Grant {
  const any = (column: string) => (row[column] ?? "").trim();
  const text: (column: (typeof OTHER_COLUMNS)[number]) => string = any;
  const coded = (column: (typeof OTHER_COLUMNS)[number], known: Words) => codedWords(text(column).split(";"), known, column, warn);
  const forecast = text("is_forecast") === "True";
  const costSharing = text("is_cost_sharing");
  return {
    ...emptyGrant,
    ...columnTexts(TEXT_COLUMNS, any),
    ...columnTexts<string>(forecast ? FORECAST_TEXTS : POSTED_TEXTS, any),
    source: SOURCE,
    url: text("url") || null,
    ...agenciesOf(text("top_level_agency_name"), text("agency_name")),
    status: tableStatus(text("opportunity_status"), forecast, warn),
    category: coded("category", wordLists.categories)[0]?.label ?? "",
    instruments: coded("funding_instruments", wordLists.instruments),
    activities: coded("funding_categories", wordLists.activities),
    assistanceListings: text("opportunity_assistance_listings")
      .split(/;(?=\s*\d\d\.)/)
      .filter(Boolean)
      .map((listing) => listing.split("|").map((part) => part.trim()))
      .map(([number = "", title = ""]) => ({ number, title })), // As in `12.420|Military Medical Research and Development`.
    applicants: coded("applicant_types", wordLists.applicants),
    costSharing: costSharing === "True" ? "Yes" : costSharing === "False" ? "No" : "",
    contact: { name: "", email: text("agency_email_address"), phone: "", text: text("agency_contact_description") },
    attachments: [{ name: text("additional_info_url_description"), url: text("additional_info_url") }],
  };
}

function tableStatus(status: string, forecast: boolean, warn: FormatContext["warn"]): Grant["status"] {
  if (status === "archived" || status === "closed") return status;
  if (status !== "posted" && status !== "forecasted") warn(`Unknown opportunity_status "${status}" is taken for posted`);
  return status === "forecasted" || forecast ? "forecast" : "posted";
}
