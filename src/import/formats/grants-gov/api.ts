/**
 * Responses of Grants.gov's API: hits of `search2` (and of the search before it), and the details of one opportunity (`fetchOpportunity`).
 */

import { fundingActivities } from "../../../opportunities/taxonomy.ts";
import { startOfEasternDate, writtenDate } from "../../../text/eastern.ts";
import { arrayOf, type JsonObject, objectOf, objectsOf, textOf } from "../../../text/json-value.ts";
import type { Draft, FormatContext, Input, Item, Revision, SourceLine } from "../../format.ts";
import { jsonObjects, wholeDocument } from "../../readers/json-elements.ts";
import { rejected } from "../items.ts";
import { applicantCodes, type Coded, type Codes, fundingInstruments, GRANTS_GOV, labelOf, pageUrlOf, readListings } from "./codes.ts";
import { agenciesOf, draftOfGrant, emptyGrant, fileOfGrant, type Grant, isOver } from "./grant.ts";
import { sameOrganization } from "./same.ts";

const REVISIONS_MAX = 1000;

/** How many opportunities a search found, and how many hits were read. Each file may be a page of it. */
export type HitCounts = { found: number; hits: number };

/** Reads a response, with or without its envelope, or an array of responses. A hit that is not JSON is rejected alone. */
export async function* readResponses(input: Input, beginning: string, search: HitCounts, context: FormatContext): AsyncIterable<Item> {
  let line = 0;
  const isList = beginning.trimStart().startsWith("[");
  const path = isList ? undefined : pathOfHits(beginning);
  if (path !== undefined) {
    const around = (document: unknown) => count(search, contentOf(checked(objectOf(document))), line);
    for await (const found of jsonObjects(input.bytes(), path, { around })) {
      line++;
      yield found.kind === "rejected" ? { input, ...found } : itemOfHit({ input, line, raw: found.raw }, context);
    }
    return;
  }
  const responses = isList
    ? jsonObjects(input.bytes(), "", { faultOf: responseFault })
    : [{ kind: "object", line: 1, raw: checked(objectOf(await wholeDocument(input))) } as const];
  for await (const response of responses) {
    const content = response.kind === "rejected" ? {} : contentOf(response.raw);
    if (response.kind === "rejected") yield { input, ...response, line: ++line };
    else if (Array.isArray(content.oppHits)) {
      count(search, content, content.oppHits.length);
      for (const raw of content.oppHits) yield itemOfHit({ input, line: ++line, raw }, context);
    } else yield itemOfDetails({ input, line: ++line, raw: content }, content, context);
  }
}

function itemOfHit(line: SourceLine, context: FormatContext): Item {
  const grant = grantOfHit(objectOf(line.raw), context);
  if (grant.id === "") return { ...line, ...WITHOUT_ID };
  const record = partOf(grant, draftOfGrant(grant, context));
  // The agency of a hit may be a part of the one that is stored.
  const reconcile = (stored: Draft) => ({ ...record, organization: sameOrganization(record.organization ?? {}, stored.organization) });
  return { kind: "record", ...line, record, partial: "adds", reconcile };
}

function itemOfDetails(line: SourceLine, details: JsonObject, context: FormatContext): Item {
  const grant = grantOfDetails(details);
  if (grant.id === "") return { ...line, ...WITHOUT_ID };
  return { kind: "record", ...line, record: draftOfGrant(grant, context), ...revisionsOf(details, context) };
}

const WITHOUT_ID = rejected("id must not be blank");

/** The path of the hits, if they come early; undefined as in details. */
function pathOfHits(beginning: string): string | undefined {
  const [before] = /^.*?"oppHits"\s*:\s*\[/s.exec(beginning) ?? [];
  if (before === undefined) return undefined;
  return /"data"\s*:\s*\{/.test(before) ? "data.oppHits" : "oppHits";
}

/** Errors are in the body, whatever the HTTP status was. */
function responseFault(response: JsonObject): string | undefined {
  if (response.errorcode !== undefined && response.errorcode !== 0)
    return `is an error message of Grants.gov: ${textOf(response.errorcode)} ${textOf(response.msg)}`.trim();
  const content = contentOf(response);
  if (Array.isArray(content.oppHits) || "synopsis" in content || "forecast" in content) return undefined;
  const message = [content.errorMessages, content.errorMsgs, content.message].flat().map(textOf).find(Boolean);
  if (message !== undefined) return `is an error message of Grants.gov: ${message}`;
  return "has neither search hits (oppHits) nor details of an opportunity (synopsis or forecast)";
}

function checked(response: JsonObject): JsonObject {
  const fault = responseFault(response);
  if (fault !== undefined) throw new Error(`it ${fault}`);
  return response;
}

function contentOf(response: JsonObject): JsonObject {
  return "data" in response ? objectOf(response.data) : response;
}

function count(search: HitCounts, { hitCount }: JsonObject, hits: number): void {
  search.found = Math.max(search.found, typeof hitCount === "number" ? hitCount : 0);
  search.hits += hits;
}

/* Hits */

/** The fields that a hit has. Others keep the values of the extract or the details. */
function partOf(
  grant: Grant,
  { source, title, status, status_display = null, organization, program, dates, classifications, agency_codes }: Draft,
): Draft {
  const { type, solicitation_id = null, solicitation_title = null } = program ?? {};
  const { posted_at = null, opens_at = null, closes_at = null } = dates ?? {};
  const { tech_taxonomy = [] } = classifications ?? {};
  const forecast = grant.status === "forecast";
  return {
    source,
    title,
    status,
    status_display,
    organization: { agency: organization?.agency ?? null },
    program: { solicitation_id, solicitation_title, type: type ?? undefined },
    // A forecast's hit has only the date on which the forecast itself was posted.
    dates: { posted_at, opens_at: forecast ? undefined : opens_at, closes_at: forecast ? (closes_at ?? undefined) : closes_at },
    classifications: { tech_taxonomy: tech_taxonomy.length > 0 ? tech_taxonomy : undefined },
    agency_codes,
  };
}

function grantOfHit(hit: JsonObject, { warn }: FormatContext): Grant {
  const id = textOf(hit.id);
  return {
    ...emptyGrant,
    source: GRANTS_GOV,
    id,
    url: pageUrlOf(id),
    opportunityNumber: textOf(hit.number),
    title: textOf(hit.title),
    agency: textOf(hit.agency) || textOf(hit.agencyName),
    agencyCode: textOf(hit.agencyCode),
    status: noticeStatus(textOf(hit.oppStatus), textOf(hit.docType)),
    assistanceListings: readListings([hit.cfdaList, hit.alnist].flatMap(arrayOf).map(textOf), warn),
    postDate: textOf(hit.openDate),
    openDate: textOf(hit.openDate),
    closeDate: textOf(hit.closeDate),
  };
}

function noticeStatus(status: string, kind: string): Grant["status"] {
  if (status === "archived" || status === "closed") return status;
  return status === "forecasted" || kind === "forecast" ? "forecast" : "posted";
}

/* Details */

function grantOfDetails(details: JsonObject): Grant {
  const forecast = isForecast(details);
  const body = objectOf(forecast ? details.forecast : details.synopsis);
  const id = textOf(details.id);
  const agencyDetails = details.agencyDetails ?? body.agencyDetails;
  const [agency = "", topAgency = ""] = [agencyDetails, details.topAgencyDetails ?? body.topAgencyDetails].map((each) =>
    textOf(objectOf(each).agencyName),
  );
  const listings = [details.cfdas, details.alns].flatMap(arrayOf).map(objectOf);
  const date = (member: string) => dateIn(body, member);
  // Codes with the labels of the extract, so that both layouts give the same record.
  const coded = (member: string, codes: Codes): Coded[] =>
    objectsOf(body[member]).map(({ id, description }) => ({ code: textOf(id), label: labelOf(textOf(id), codes) ?? textOf(description) }));
  return {
    ...emptyGrant,
    source: GRANTS_GOV,
    id,
    url: pageUrlOf(id),
    opportunityNumber: textOf(details.opportunityNumber),
    title: textOf(details.opportunityTitle),
    // The body's own `agencyName` may be a person.
    ...agenciesOf(topAgency, agency),
    agencyCode: textOf(objectOf(agencyDetails).agencyCode),
    status: noticeStatus(textOf(details.ost).toLowerCase(), forecast ? "forecast" : "synopsis"),
    category: textOf(objectOf(details.opportunityCategory).description),
    categoryNote: textOf(details.opportunityCategoryExplanation),
    instruments: coded("fundingInstruments", fundingInstruments),
    activities: coded("fundingActivityCategories", fundingActivities),
    activitiesNote: textOf(body.fundingActivityCategoryDesc),
    assistanceListings: listings.map(({ cfdaNumber, alnNumber, programTitle }) => ({
      number: textOf(cfdaNumber) || textOf(alnNumber),
      title: textOf(programTitle),
    })),
    applicants: coded("applicantTypes", applicantCodes),
    eligibility: textOf(body.applicantEligibilityDesc),
    costSharing: body.costSharing === true ? "Yes" : body.costSharing === false ? "No" : "",
    postDate: date("postingDate"),
    openDate: date(forecast ? "estSynopsisPostingDate" : "postingDate"),
    closeDate: date(forecast ? "estApplicationResponseDate" : "responseDate"),
    closeDateExplanation: textOf(forecast ? body.estApplicationResponseDateDesc : body.responseDateDesc),
    archiveDate: date("archiveDate"),
    awardFloor: textOf(body.awardFloor),
    awardCeiling: textOf(body.awardCeiling),
    totalFunding: textOf(body.estimatedFunding),
    expectedAwards: textOf(body.numberOfAwards),
    awardDate: forecast ? date("estAwardDate") : "",
    startDate: forecast ? date("estProjectStartDate") : "",
    fiscalYear: forecast ? textOf(body.fiscalYear) : "",
    description: textOf(forecast ? body.forecastDesc : body.synopsisDesc),
    contact: {
      name: textOf(body.agencyContactName),
      email: textOf(body.agencyContactEmail),
      phone: textOf(body.agencyContactPhone),
      text: textOf(body.agencyContactDesc),
    },
    attachments: attachmentsOf(details, body),
  };
}

function isForecast({ docType, synopsis }: JsonObject): boolean {
  return docType === "forecast" || synopsis == null;
}

/* The upstream's own history */

const kinds = ["forecast", "synopsis"] as const;
type Kind = (typeof kinds)[number];

type Version = { kind: Kind; body: JsonObject; since: number };

type Superseded = { details: JsonObject; until: number };

/** The revisions that the upstream has shown; none if one of them is missing or undated. */
function revisionsOf({ opportunityHistoryDetails, ...present }: JsonObject, context: FormatContext): { revisions?: Revision[] } {
  const past = supersededIn(objectsOf(opportunityHistoryDetails));
  const [forecasts, synopses] = kinds.map((kind) => versionsOf(kind, past ?? [], present));
  if (past === undefined || forecasts === undefined || synopses === undefined) return {};
  const versions = [...forecasts, ...(isForecast(present) ? [] : synopses)]; // A synopsis hides the forecast.
  const instants = [...versions.map(({ since }) => since), ...past.map(({ until }) => until)].sort((one, other) => one - other);
  const revisions = [...new Set(instants)].flatMap((since) => {
    const version = versions.findLast((each) => each.since <= since);
    const details = past.find(({ until }) => until > since)?.details ?? present;
    return version === undefined ? [] : [{ record: draftOfRevision(version, details, present, since, context), since }];
  });
  return revisions.length < 2 ? {} : { revisions };
}

/** Superseded details, oldest first. Undefined if one is undated. */
function supersededIn(revisions: readonly JsonObject[]): Superseded[] | undefined {
  if (revisions.length > REVISIONS_MAX) return undefined;
  const dated = revisions.flatMap((details) => {
    const until = instantOf(objectOf(details.synopsis ?? details.forecast).actionDate);
    return until === undefined ? [] : [{ details, until }];
  });
  return dated.length < revisions.length ? undefined : dated.toSorted((one, other) => one.until - other.until);
}

function versionsOf(kind: Kind, past: readonly Superseded[], present: JsonObject): Version[] | undefined {
  const superseded = past.filter(({ details }) => details[kind] != null);
  const last = objectOf(present[kind]);
  if (typeof last.version === "number" && last.version !== superseded.length + 1) return undefined;
  const bodies = [...superseded.map(({ details }) => objectOf(details[kind])), ...(present[kind] == null ? [] : [last])];
  return bodies.flatMap((body, index) => {
    const written = index === 0 ? instantOf(body.createdDate) : superseded[index - 1]?.until;
    const since = written === undefined ? 0 : kind === "forecast" ? written : Math.max(written, postedAt(body));
    return since < (superseded[index]?.until ?? Number.POSITIVE_INFINITY) ? [{ kind, body, since }] : [];
  });
}

/** Before its posting date, a synopsis is not shown. */
function postedAt(body: JsonObject): number {
  return startOfEasternDate(writtenDate(dateIn(body, "postingDate"))) ?? Number.NEGATIVE_INFINITY;
}

/** A revision as it would have been imported then. The upstream keeps no former agencies or attachments: the present ones, or none. */
function draftOfRevision({ kind, body }: Version, details: JsonObject, present: JsonObject, now: number, context: FormatContext): Draft {
  const { id, ost, opportunityNumber, opportunityTitle, opportunityCategory, opportunityCategoryExplanation, cfdas, alns } = present;
  const today = objectOf(isForecast(present) ? present.forecast : present.synopsis);
  const { agencyDetails = today.agencyDetails, topAgencyDetails = today.topAgencyDetails } = present;
  const unlessStated = { opportunityNumber, opportunityTitle, opportunityCategory, opportunityCategoryExplanation, cfdas, alns };
  const own = { id, docType: kind, synopsis: undefined, forecast: undefined, agencyDetails, topAgencyDetails, ost: undefined };
  const grant = grantOfDetails({ ...unlessStated, ...details, ...own, [kind]: body });
  const isClosed = kind === "synopsis" && textOf(ost) !== "" && isOver(grant.closeDate, now);
  return draftOfGrant({ ...grant, status: isClosed ? "closed" : grant.status, attachments: [] }, context);
}

/** `2025-01-17-00-00-00`, or without it `Jan 17, 2025 12:00:00 AM EST`, whose time means nothing. */
function dateIn(body: JsonObject, member: string): string {
  return textOf(body[`${member}Str`]) || textOf(body[member]);
}

/** The instant of `Feb 03, 2025 09:44:28 AM EST`. Undefined for any other text. */
function instantOf(words: unknown): number | undefined {
  const text = textOf(words);
  return /^[A-Z][a-z]{2} \d\d?, \d{4} \d\d:\d\d:\d\d [AP]M E[SD]T$/.test(text) ? Date.parse(text) : undefined;
}

function attachmentsOf(details: JsonObject, body: JsonObject): Grant["attachments"] {
  const files = objectsOf(details.synopsisAttachmentFolders)
    .flatMap(({ folderType, synopsisAttachments }) => arrayOf(synopsisAttachments).map((file) => ({ folderType, ...objectOf(file) })))
    .map((file: JsonObject) => ({
      ...fileOfGrant(file.fileName, file.fileDescription, textOf(file.folderType) || textOf(file.mimeType), file.fileLobSize),
      url: `https://apply07.grants.gov/grantsws/rest/opportunity/att/download/${textOf(file.id)}`,
    }));
  const links = objectsOf(details.synopsisDocumentURLs);
  return [
    { name: textOf(body.fundingDescLinkDesc), url: textOf(body.fundingDescLinkUrl) },
    ...links.map(({ description, docUrl, url }) => ({ name: textOf(description), url: textOf(docUrl) || textOf(url) })),
    ...files,
  ];
}
