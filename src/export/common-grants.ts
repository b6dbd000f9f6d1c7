/** An opportunity in HHS's CommonGrants protocol, version 0.4.0 (https://commongrants.org). docs/reference/commongrants.md has the fields. */
import { datedAttachments } from "../events/attachments.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { applicantCodes } from "../import/formats/grants-gov/codes.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";

type Json = string | number | object;

/** The protocol's `OpportunityBase`, without members that the record has no value for. With `events`, they are a custom field. */
export function commonGrantsOf(opportunity: WholeOpportunity, events?: readonly OpportunityEvent[]): object {
  const { id, title, summary, description, source, created_at, updated_at } = opportunity;
  return present({
    id,
    title,
    status: commonGrantsStatus(opportunity),
    description: description ?? summary ?? "",
    funding: fundingOf(opportunity),
    keyDates: keyDatesOf(opportunity),
    acceptedApplicantTypes: applicantTypesOf(opportunity),
    source: uriOf(source.url ?? ""),
    customFields: { ...customFieldsOf(opportunity, events), ...(events && { history: customField("history", HISTORY, [...events]) }) },
    createdAt: created_at,
    lastModifiedAt: updated_at,
  });
}

const statuses: ReadonlyMap<string, string> = new Map([
  ["forecast", "forecasted"],
  ["pre_release", "forecasted"],
  ["open", "open"],
  ["closing_soon", "open"],
  ["closed", "closed"],
]);

function commonGrantsStatus({ status, status_display }: WholeOpportunity): object {
  const value = statuses.get(status);
  return present({ value: value ?? "custom", customValue: value === undefined ? status : null, description: status_display });
}

function fundingOf({ funding }: WholeOpportunity): object | undefined {
  if (funding === null) return undefined;
  const { display, amount_min, amount_max, currency } = funding;
  const money = (amount: string | null) => amount && { amount, currency };
  return filled({ details: display, minAwardAmount: money(amount_min), maxAwardAmount: money(amount_max) });
}

function keyDatesOf({ status, dates }: WholeOpportunity): object | undefined {
  const estimate = status === "forecast" ? " (estimate)" : "";
  return filled({
    postDate: eventOf("Opportunity posted", dates.posted_at),
    closeDate: eventOf(`Submissions close${estimate}`, dates.closes_at),
    otherDates: filled({
      openDate: eventOf(`Submissions open${estimate}`, dates.opens_at),
      responseDate: eventOf(`Responses due${estimate}`, dates.response_at),
    }),
  });
}

/** The protocol's dates have no offset: they are those of the upstream's own time zone, and the description names its offset. */
function eventOf(name: string, timestamp: string | null): object | undefined {
  if (timestamp === null) return undefined;
  const [date, time, offset = ""] = [timestamp.slice(0, 10), timestamp.slice(11, 19), /(?:[Zz]|[+-]\d\d:\d\d)$/.exec(timestamp)?.[0]];
  const zone = /z/i.test(offset) ? "UTC" : `UTC${offset}`;
  return { name, eventType: "singleDate", date, time: time.replace(/60$/, "59"), description: `The time is in ${zone}.` };
}

/** The protocol's words for Grants.gov's codes of who may apply. */
export const applicantTypes: ReadonlyMap<string, string> = new Map([
  ["00", "government_state"],
  ["01", "government_county"],
  ["02", "government_municipal"],
  ["04", "government_special_district"],
  ["05", "school_district_independent"],
  ["06", "higher_education_public"],
  ["07", "government_tribal"],
  ["08", "custom"],
  ["11", "organization_tribal_other"],
  ["12", "non_profit_with_501c3"],
  ["13", "nonprofit_without_501c3"],
  ["20", "higher_education_private"],
  ["21", "individual"],
  ["22", "for_profit_not_small_business"],
  ["23", "for_profit_small_business"],
  ["25", "custom"],
  ["99", "unrestricted"],
]);

function applicantTypesOf({ sidecar: { applicant_types } }: WholeOpportunity): object[] | undefined {
  const known = applicant_types.flatMap((code) => {
    const value = applicantTypes.get(code);
    return value === undefined ? [] : [{ value, ...(value === "custom" && { customValue: applicantCodes[code] ?? code }) }];
  });
  return known.length > 0 && known.length === applicant_types.length ? known : undefined;
}

/* Custom fields. Where the protocol's catalog has a field, it has that name. */

const HISTORY = "Every change that was detected, the oldest first.";

function customFieldsOf(opportunity: WholeOpportunity, events: readonly OpportunityEvent[] = []): Record<string, object> {
  const { source, summary, status, organization, program, classifications, eligibility, contacts, relationships } = opportunity;
  const [contact, ...otherContacts] = contacts.map(({ role, ...others }) => present({ ...others, description: role }));
  const listings = classifications.tech_taxonomy.filter((code) => code.startsWith("ALN:"));
  const values: readonly (readonly [name: string, description: string, value: Json | null | undefined])[] = [
    ["status", "Status, with the statuses that the protocol does not have.", status],
    ["summary", "A short plain text.", summary],
    ["upstream", "Where the record comes from.", { code: source.code, name: source.name, opportunityId: source.opportunity_id }],
    ["legacySerialId", "Number of the opportunity in Grants.gov.", legacySerialIdOf(opportunity)],
    ["federalOpportunityNumber", "Opportunity or solicitation number.", program.solicitation_id],
    ["solicitationTitle", "Title of the solicitation.", program.solicitation_title],
    ["programType", "Type of program: GRANT, SBIR, RFP, …", program.type],
    ["contractClass", "Kind of contract, notice or phase, in the upstream's words.", program.contract_class],
    ["agency", "Agency that publishes the opportunity.", agencyOf(opportunity)],
    ["issuingOffice", "Office that issued the opportunity.", organization.issuing_office],
    ["assistanceListings", "Assistance listings.", listings.map((code) => ({ identifier: code.slice(4) }))],
    ["taxonomy", "Codes with their scheme: ALN:93.242, FAC:ST, PSC:AC12.", classifications.tech_taxonomy],
    ["naicsCodes", "NAICS codes.", classifications.naics_codes],
    ["setAsideTypes", "Set-aside codes.", classifications.set_aside_types],
    ["keywords", "Keywords and category labels.", classifications.keywords],
    ["technologyAreas", "Technology areas.", classifications.technology_areas],
    ["eligibilityCriteria", "Who may apply.", eligibility.requirements === null ? null : { details: eligibility.requirements }],
    ["geographicScope", "Place of performance or geographic limits.", eligibility.geographic_scope],
    ["contactInfo", "Point of contact.", contact],
    ["otherContacts", "Further points of contact.", otherContacts],
    ["attachments", "Attached files and links.", attachmentsOf(opportunity, events)],
    ["parentId", "Id of the opportunity that this one follows from.", relationships.parent_id],
    ["canonicalId", "Id of the record that stands for the same opportunity across sources.", relationships.canonical_id],
  ];
  return Object.fromEntries(
    values.flatMap(([name, description, value]) => (isEmpty(value) ? [] : [[name, customField(name, description, value)]])),
  );
}

function customField(name: string, description: string, value: Json): object {
  const fieldType = Array.isArray(value) ? "array" : typeof value === "number" ? "integer" : typeof value;
  return { name, fieldType, value, description };
}

/** With the protocol's names, and the instant at which each appeared, if the events have it. */
function attachmentsOf({ sidecar }: WholeOpportunity, events: readonly OpportunityEvent[]): Json {
  return datedAttachments(sidecar.attachments, events).attachments.map(({ name, url, kind, size, since }) => {
    const mimeType = kind !== null && MIME_TYPE.test(kind) ? kind : null;
    return present({ name, downloadUrl: url, mimeType, kind: mimeType === null ? kind : null, sizeInBytes: size, createdAt: since });
  });
}

const MIME_TYPE = /^\w+\/[\w.+-]+$/;

/** Grants.gov's own numbers. They are no floats, and have less than 16 digits. */
function legacySerialIdOf({ source }: WholeOpportunity): number | undefined {
  return source.code === "GRANTS_GOV" && /^[1-9]\d{0,14}$/.test(source.opportunity_id) ? Number(source.opportunity_id) : undefined;
}

function agencyOf({ organization: { agency, sub_agency } }: WholeOpportunity): object | undefined {
  return filled(sub_agency === null ? { name: agency } : { name: sub_agency, parentName: agency });
}

function isEmpty(value: Json | null | undefined): value is null | undefined {
  return value === null || value === undefined || (typeof value === "object" && Object.keys(value).length === 0);
}

function present(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

function filled(members: Readonly<Record<string, unknown>>): object | undefined {
  const some = present(members);
  return Object.keys(some).length === 0 ? undefined : some;
}

/** A web address as RFC 3986 allows it: other characters are percent-encoded. `undefined` for anything but a web address. */
function uriOf(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  const fragment = url.hash === "" ? "" : `#${url.hash.slice(1).replaceAll("#", "%23")}`;
  return (
    url.origin + `${url.pathname}${url.search}${fragment}`.replace(/[^\w\-.~:/?#@!$&'()*+,;=%]|%(?![0-9A-Fa-f]{2})/g, encodeURIComponent)
  );
}
