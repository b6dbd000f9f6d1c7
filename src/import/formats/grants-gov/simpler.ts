/**
 * Simpler.Grants.gov's API, the successor of Grants.gov's: responses of its search and of one opportunity, and its daily extract. A record
 * is the one of Grants.gov, by `legacy_opportunity_id`; its UUID is a second id, and the only one of what Grants.gov never had. (E-72)
 */
import { lastDueDate } from "../../../opportunities/clock.ts";
import { opensLater } from "../../../opportunities/contradictions.ts";
import { dateInstant } from "../../../text/eastern.ts";
import { arrayOf, type JsonObject, objectOf, objectsOf, textOf } from "../../../text/json-value.ts";
import { UUID } from "../../../text/uuid.ts";
import type { Draft, FormatContext, Input, Item, SourceLine } from "../../format.ts";
import { type FoundObject, jsonObjects, wholeDocument } from "../../readers/json-elements.ts";
import { columnTexts, distinct, faultWithout, rejected } from "../items.ts";
import type { HitCounts } from "./api.ts";
import { codedWords, GRANTS_GOV, pageUrlOf, type Words, wordLists } from "./codes.ts";
import { agenciesOf, draftOfGrant, emptyGrant, fileOfGrant, type Grant } from "./grant.ts";
import { keepSame } from "./same.ts";

/** Whether JSON is of this API, by members that Grants.gov's own responses lack. */
export function isOfSimpler(beginning: string): boolean {
  return /"(?:opportunity_id|status_code|file_generated_at)"\s*:/.test(beginning);
}

/** Reads the extract, a page of a search, the details of one opportunity, or an array of them. */
export async function* readSimpler(input: Input, beginning: string, search: HitCounts, context: FormatContext): AsyncIterable<Item> {
  for await (const found of objectsIn(input, beginning, search, context)) {
    const { line } = found;
    if (found.kind === "rejected") yield { input, ...found };
    else {
      const details = "data" in found.raw ? objectOf(found.raw.data) : found.raw;
      yield itemOf({ input, line, raw: details }, details, found.json, context);
    }
  }
}

async function* objectsIn(input: Input, beginning: string, search: HitCounts, context: FormatContext): AsyncIterable<FoundObject> {
  const faultOf = faultWithout("opportunity_id");
  if (/"opportunities"\s*:\s*\[/.test(beginning)) {
    // It lacks opportunities that are not posted yet, which the XML extract may have.
    context.neverHas(({ status }) => status === "pre_release");
    yield* jsonObjects(input.bytes(), "opportunities", { faultOf });
  } else if (beginning.trimStart().startsWith("[")) {
    yield* jsonObjects(input.bytes(), "", { faultOf: (response) => (isObjectWithId(response) ? undefined : responseFault(response)) });
  } else if (/"data"\s*:\s*\[/.test(beginning)) {
    const around = (document: unknown) => {
      search.found = Math.max(search.found, foundBy(objectOf(document)));
    };
    for await (const each of jsonObjects(input.bytes(), "data", { around, faultOf })) {
      search.hits++;
      yield each;
    }
  } else {
    const raw = objectOf(await wholeDocument(input));
    if (!isObjectWithId(raw)) throw new Error(`it ${responseFault(raw)}`);
    yield { kind: "object", line: 1, raw };
  }
}

function isObjectWithId(response: JsonObject): boolean {
  return "opportunity_id" in ("data" in response ? objectOf(response.data) : response);
}

function responseFault({ status_code, message }: JsonObject): string {
  const text = [status_code, message].map(textOf).filter(Boolean).join(" ");
  return text === "" ? "has no opportunity_id" : `is an error message of Simpler.Grants.gov: ${text}`;
}

/** The greatest total that a search reports. Beyond it, only the counts by status tell. */
export const TOTAL_MAX = 10_000;

function foundBy({ pagination_info, facet_counts }: JsonObject): number {
  const total = Number(objectOf(pagination_info).total_records ?? 0);
  if (total < TOTAL_MAX) return total;
  const byStatus = Object.values(objectOf(objectOf(facet_counts).opportunity_status));
  return byStatus.reduce((sum: number, count) => sum + (typeof count === "number" ? count : 0), 0);
}

/** An element of a longer list is read only if its text changed. */
function itemOf(line: SourceLine, raw: JsonObject, json: string | undefined, context: FormatContext): Item {
  const uuid = textOf(raw.opportunity_id).toLowerCase();
  const id = textOf(raw.legacy_opportunity_id) || uuid;
  if (id === "") return { ...line, ...rejected("opportunity_id must not be blank") };
  if (objectOf(raw.summary) !== raw.summary)
    return { ...line, ...rejected("summary must be an object: an opportunity without one is not posted"), source: GRANTS_GOV, lineage: id };
  const summary = raw.summary as JsonObject;
  const read = (): Draft => ({
    ...withCompetitions(draftOfGrant(grantOf(raw, summary, id, context), context), raw, context),
    ...(UUID.test(uuid) ? { earlier_ids: [uuid] } : {}),
  });
  const reconcile = (record: Draft, stored: Draft) => {
    const titles = distinct(listingsOf(raw).map(({ title }) => title));
    const [hasFiles, hasCompetitions] = [raw.attachments, raw.competitions].map(Array.isArray) as [boolean, boolean];
    return keepSame(record, stored, { titles, hasFiles, hasCompetitions });
  };
  if (json !== undefined) return { kind: "lazy", ...line, source: GRANTS_GOV, id, digested: json, read, reconcile };
  const record = read();
  return { kind: "record", ...line, record, reconcile: (stored) => reconcile(record, stored) };
}

/** Due dates are the closings of the competitions, and a different one of the summary. */
function withCompetitions(draft: Draft, { competitions }: JsonObject, { warn }: FormatContext): Draft {
  const closings = objectsOf(competitions).flatMap(({ competition_title, opening_date, closing_date, grace_period }) => {
    const [opens, closes] = [textOf(opening_date), textOf(closing_date)];
    const at = dateInstant(closes, "23:59:59", warn);
    const grace = Number(grace_period) > 0 ? `grace period of ${textOf(grace_period)} days` : "";
    const opening = closes < opens ? opensLater(opens) : "";
    return at === null ? [] : [{ at, words: [textOf(competition_title), grace, opening].filter(Boolean).join(", ") || null }];
  });
  if (closings.length === 0) return draft;
  const closes_at = draft.dates?.closes_at ?? null;
  const isListed = closings.some(({ at }) => at === closes_at);
  return {
    ...draft,
    dates: { ...draft.dates, closes_at: closes_at ?? lastDueDate(closings) },
    due_dates: [...closings, ...(closes_at === null || isListed ? [] : [{ at: closes_at, words: "closing date of the opportunity" }])],
  };
}

function listingsOf(raw: JsonObject): Grant["assistanceListings"] {
  return objectsOf(raw.opportunity_assistance_listings).map((listing) => ({
    number: textOf(listing.assistance_listing_number),
    title: textOf(listing.program_title),
  }));
}

/** The members of a summary, and columns of the search page's export, by a grant's texts. */
export const SUMMARY_TEXTS = {
  activitiesNote: "funding_category_description",
  eligibility: "applicant_eligibility_description",
  postDate: "post_date",
  archiveDate: "archive_date",
  awardFloor: "award_floor",
  awardCeiling: "award_ceiling",
  totalFunding: "estimated_total_program_funding",
  expectedAwards: "expected_number_of_awards",
  description: "summary_description",
} as const;

export const POSTED_TEXTS = { openDate: "post_date", closeDate: "close_date", closeDateExplanation: "close_date_description" } as const;
export const FORECAST_TEXTS = {
  openDate: "forecasted_post_date",
  closeDate: "forecasted_close_date",
  closeDateExplanation: "forecasted_close_date_description",
  awardDate: "forecasted_award_date",
  startDate: "forecasted_project_start_date",
  fiscalYear: "fiscal_year",
} as const;

function grantOf(raw: JsonObject, summary: JsonObject, id: string, { warn }: FormatContext): Grant {
  const text = (member: string) => textOf(summary[member]);
  const isForecast = summary.is_forecast === true;
  const texts = isForecast ? FORECAST_TEXTS : POSTED_TEXTS;
  const coded = (list: unknown, known: Words, what: string) =>
    codedWords(arrayOf(list).map(textOf), known, what, warn).sort((one, other) => (one.code < other.code ? -1 : 1)); // Lists have no order.
  const grant = {
    ...emptyGrant,
    ...columnTexts(SUMMARY_TEXTS, text),
    ...columnTexts<string>(texts, text),
    source: GRANTS_GOV,
    id,
    url: UUID.test(id) ? `https://simpler.grants.gov/opportunity/${id}` : pageUrlOf(id),
    opportunityNumber: textOf(raw.opportunity_number),
    title: textOf(raw.opportunity_title),
    ...agenciesOf(textOf(raw.top_level_agency_name), textOf(raw.agency_name)),
    agencyCode: textOf(raw.agency_code),
    category: coded([raw.category], wordLists.categories, "category")[0]?.label ?? "",
    categoryNote: textOf(raw.category_explanation),
    instruments: coded(summary.funding_instruments, wordLists.instruments, "funding instrument"),
    activities: coded(summary.funding_categories, wordLists.activities, "funding category"),
    assistanceListings: listingsOf(raw),
    applicants: coded(summary.applicant_types, wordLists.applicants, "applicant type"),
    costSharing: summary.is_cost_sharing === true ? ("Yes" as const) : summary.is_cost_sharing === false ? ("No" as const) : ("" as const),
    contact: contactOf(text, isForecast),
    attachments: [{ name: text("additional_info_url_description"), url: text("additional_info_url") }, ...filesOf(raw)],
  };
  if (raw.is_draft === true) warn(`Opportunity ${id} is called a draft (is_draft); it is imported as published`);
  return { ...grant, status: simplerStatus(textOf(raw.opportunity_status), grant, isForecast, warn) };
}

const STATUSES: readonly string[] = ["forecasted", "posted", "closed", "archived"];

function simplerStatus(
  status: string,
  { closeDate, archiveDate }: Omit<Grant, "status">,
  isForecast: boolean,
  warn: FormatContext["warn"],
): Grant["status"] {
  if (!STATUSES.includes(status)) warn(`unknown opportunity_status "${status}": the dates decide whether the opportunity is open`);
  if (status === "archived" && archiveDate === "") return status;
  if (status === "closed" && closeDate === "" && !isForecast) return status;
  return isForecast ? "forecast" : "posted";
}

/** For a forecast, one text has the name, and in its last line the number. */
function contactOf(text: (member: string) => string, isForecast: boolean): Grant["contact"] {
  const [email, all] = [text("agency_email_address"), text("agency_contact_description")];
  if (!isForecast) return { name: "", email, phone: "", text: all };
  const lines = all.trimEnd();
  const end = lines.lastIndexOf("\n");
  const last = lines.slice(end + 1).trim();
  if (!PHONE.test(last)) return { name: all, email, phone: "", text: "" };
  return { name: end === -1 ? all : lines.slice(0, end), email, phone: last, text: "" };
}

const PHONE = /^[+(]?\d[\d().\s-]{5,18}\d(?:\s*(?:x|ext\.?)\s*\d{1,6})?$/i;

function filesOf({ attachments }: JsonObject): Grant["attachments"] {
  return objectsOf(attachments)
    .map(({ file_name, file_description, mime_type, file_size_bytes, download_path }) => ({
      ...fileOfGrant(file_name, file_description, textOf(mime_type), file_size_bytes),
      url: textOf(download_path),
    }))
    .sort((one, other) => (`${one.name}\n${one.url}` < `${other.name}\n${other.url}` ? -1 : 1));
}
