/**
 * Grants.gov: the daily XML extract (`GrantsDBExtract<date>v2.zip`), its predecessor from before 2016, responses of its API (`api.ts`), and what
 * the API of its successor publishes (`simpler.ts`).
 * The content of a file decides which of them it is.
 */

import type { XML } from "bun";
import { fundingActivities } from "../../../opportunities/taxonomy.ts";
import { withoutC1Controls } from "../../../text/plain-text.ts";
import { UUID } from "../../../text/uuid.ts";
import type { Draft, Format, FormatContext, Input, Item } from "../../format.ts";
import { beginningOf, firstCharacter } from "../../readers/json-elements.ts";
import { localName, type XmlElement, type XmlTexts, xmlElements } from "../../readers/xml-elements.ts";
import { Rejection } from "../../validate.ts";
import { elementsOf, rejected } from "../items.ts";
import { type HitCounts, readResponses } from "./api.ts";
import { applicantCodes, fundingInstruments, GRANTS_GOV, opportunityCategories, pageUrlOf, readCodes, readListings } from "./codes.ts";
import { draftOfGrant, emptyGrant, type Grant } from "./grant.ts";
import { keepSame } from "./same.ts";
import { isOfSimpler, readSimpler } from "./simpler.ts";

export const grantsGov: Format = {
  name: "grants-gov",
  source: GRANTS_GOV,
  about: "Grants.gov: the XML extract, responses of search2 and fetchOpportunity, or those and the extract of Simpler.Grants.gov's API",
  entry: /\.(xml|json)$/i,
  read,
};

async function* read(inputs: readonly Input[], context: FormatContext): AsyncIterable<Item> {
  const search: HitCounts = { found: 0, hits: 0 };
  yield* elementsOf(inputs, (input) => readOne(input, search, context));
  const { found, hits } = search;
  if (hits < found) context.incomplete(`the search found ${found} opportunities; these files contain ${hits} of them`);
}

async function* readOne(input: Input, search: HitCounts, context: FormatContext): AsyncIterable<Item> {
  const first = await firstCharacter(input);
  if (first === "{" || first === "[") {
    const beginning = await beginningOf(input.bytes());
    yield* isOfSimpler(beginning) ? readSimpler(input, beginning, search, context) : readResponses(input, beginning, search, context);
  } else if (first === "<") yield* readExtract(input, context);
  else throw new Error("it is neither XML nor JSON");
}

/** An opportunity that is forecast and posted is posted, whichever comes last. */
async function* readExtract(input: Input, context: FormatContext): AsyncIterable<Item> {
  context.neverHas(({ lineage }) => UUID.test(lineage)); // Records that only the successor has.
  const postedIds = new Set<string>();
  let line = 0;
  for await (const { name, source, element } of recordsOf(input.bytes(), context)) {
    line++;
    const raw = () => ({ element: name, fields: element().fields });
    const legacy = isLegacy(name) ? grantOfElement(element(), context) : undefined;
    const id = legacy?.id ?? idOf(source) ?? element().fields.OpportunityID?.[0] ?? "";
    if (id === "") {
      yield { input, line, raw, ...rejected("OpportunityID must not be blank") };
      continue;
    }
    if (name !== FORECAST) postedIds.add(id);
    const read = () => {
      const { fault } = element();
      if (fault !== undefined) throw new Rejection(fault);
      return draftOfGrant(grantOfElement(element(), context), context);
    };
    // The extract has no titles of listings, and of attachments only a link.
    const reconcile = (record: Draft, stored: Draft) => keepSame(record, stored, { titles: [], hasFiles: false, hasCompetitions: false });
    const sourceLine = { input, line, raw, ...(name === FORECAST && postedIds.has(id) ? { isSuperseded: true as const } : {}) };
    if (legacy === undefined) yield { kind: "lazy", ...sourceLine, source: GRANTS_GOV, id, digested: source, read, reconcile };
    else if (element().fault === undefined) yield { kind: "record", ...sourceLine, record: draftOfGrant(legacy, context) };
    else yield { ...sourceLine, ...rejected(element().fault ?? ""), source: GRANTS_GOV, lineage: id };
  }
}

/* The present extract */

/** Parsed only when its content is asked for: a repeated import parses none. */
type FoundRecord = { name: string; source: string; element: () => Element };

type Element = {
  name: string;
  /** The texts of its child elements by local name; of their attributes by `Element@Attribute`. */
  fields: { [name: string]: string[] };
  fault: string | undefined;
};

function idOf(source: string): string | undefined {
  return /^<[^<>"']*>\s*<(?:\w+:)?OpportunityID>\s*(\d+)\s*</.exec(source)?.[1];
}

function isLegacy(name: string): boolean {
  return name.startsWith("FundingOpp");
}

/** Names the element of each value in the extract, and in that from before 2016, whose texts are partly Windows-1252. */
function grantOfElement({ name, fields }: Element, { warn }: FormatContext): Grant {
  const [forecast, legacy] = [name === FORECAST, isLegacy(name)];
  const all = (present: string, before = "") => fields[legacy ? before : present] ?? [];
  const text = (present: string, before = "") => {
    const first = all(present, before)[0] ?? "";
    return legacy ? withoutC1Controls(first).replace(/^(None|Not Available)$/, "") : first;
  };
  const [category] = readCodes(all("OpportunityCategory"), opportunityCategories, "opportunity category", warn);
  const activities = all("CategoryOfFundingActivity", "FundingActivityCategory");
  const applicants = all("EligibleApplicants", "EligibilityCategory");
  const costSharing = text("CostSharingOrMatchingRequirement", "CostSharing");
  const id = text("OpportunityID", "FundingOppNumber"); // Before 2016, the number was the only id.
  return {
    ...emptyGrant,
    source: GRANTS_GOV,
    id,
    url: legacy ? null : pageUrlOf(id),
    opportunityNumber: text("OpportunityNumber", "FundingOppNumber"),
    title: text("OpportunityTitle", "FundingOppTitle"),
    agency: text("AgencyName", "Agency"),
    subAgency: text("", "Office"),
    agencyCode: text("AgencyCode"),
    status: forecast ? "forecast" : "posted",
    category: category?.label ?? "",
    categoryNote: text("OpportunityCategoryExplanation"),
    instruments: readCodes(all("FundingInstrumentType", "FundingInstrumentType"), fundingInstruments, "funding instrument", warn),
    activities: readCodes(activities, fundingActivities, "category of funding activity", warn),
    activitiesNote: text("CategoryExplanation", "OtherCategoryExplanation"),
    assistanceListings: readListings(all("CFDANumbers", "CFDANumber"), warn),
    applicants: readCodes(applicants, applicantCodes, "applicant type", warn),
    eligibility: text("AdditionalInformationOnEligibility", "AdditionalEligibilityInfo"),
    costSharing: /^y/i.test(costSharing) ? "Yes" : /^n/i.test(costSharing) ? "No" : "",
    postDate: text("PostDate", "PostDate"),
    openDate: text(forecast ? "EstimatedSynopsisPostDate" : "PostDate", "PostDate"),
    closeDate: text(forecast ? "EstimatedSynopsisCloseDate" : "CloseDate", "ApplicationsDueDate"),
    closeDateExplanation: text(
      forecast ? "EstimatedSynopsisCloseDateExplanation" : "CloseDateExplanation",
      "ApplicationsDueDateExplanation",
    ),
    archiveDate: text("ArchiveDate", "ArchiveDate"),
    awardFloor: text("AwardFloor", "AwardFloor"),
    awardCeiling: text("AwardCeiling", "AwardCeiling"),
    totalFunding: text("EstimatedTotalProgramFunding", "EstimatedFunding"),
    expectedAwards: text("ExpectedNumberOfAwards", "NumberOfAwards"),
    awardDate: text("EstimatedAwardDate"),
    startDate: text("EstimatedProjectStartDate"),
    fiscalYear: text("FiscalYear"),
    description: text("Description", "FundingOppDescription"),
    contact: {
      name: text("GrantorContactName"),
      email: text("GrantorContactEmail", "AgencyContact@AgencyEmailAddress"),
      phone: text("GrantorContactPhoneNumber"),
      text: text("GrantorContactText", "AgencyContact"),
    },
    attachments: [
      {
        name: text("AdditionalInformationText", "ObtainFundingOppText"),
        url: text("AdditionalInformationURL", "ObtainFundingOppText@FundingOppURL"),
      },
    ],
  };
}

/* XML */

const ROOT = "Grants";
const FORECAST = "OpportunityForecastDetail_1_0";
const RECORDS = new Set([FORECAST, "OpportunitySynopsisDetail_1_0", "FundingOppSynopsis", "FundingOppModSynopsis"]);

const DEPTH_MAX = 100;

async function* recordsOf(bytes: AsyncIterable<Uint8Array>, { warn, incomplete }: FormatContext): AsyncIterable<FoundRecord> {
  for await (const found of xmlElements(bytes, ROOT)) {
    const name = localName(found.name);
    if (RECORDS.has(name)) {
      let element: Element | undefined;
      yield { name, source: found.source, element: () => (element ??= elementOf(name, found.source, found.parse())) };
    } else {
      const report = /^(Opportunity|FundingOpp)/.test(name) ? incomplete : warn;
      report(`Unknown element ${found.name} is left out`);
    }
  }
}

function elementOf(name: string, source: string, content: ReturnType<XmlElement["parse"]>): Element {
  const element: Element = { name, fields: Object.create(null), fault: undefined }; // A field may have any name, `__proto__` too.
  if ("texts" in content) addTexts(element, content.texts);
  else if ("element" in content) {
    for (const child of content.element.children) if (typeof child === "object" && "name" in child) addField(element, child);
  } else {
    element.fault = content.fault;
    addSimple(element, source);
  }
  return element;
}

function addTexts(element: Element, texts: XmlTexts): void {
  for (const field in texts) {
    const text = texts[field] ?? "";
    if (field.startsWith("@") || field === "#text") continue;
    if (typeof text === "string") add(element, localName(field), text);
    else for (const each of text) add(element, localName(field), each);
  }
}

/** What can be read without a parser, such as the id: elements that have only a text. */
function addSimple(element: Element, source: string): void {
  for (const [, name = "", text = ""] of source.matchAll(/<([^\s<>/]+)>([^<&]*)<\/\1>/g)) add(element, localName(name), text);
}

function addField(element: Element, field: XML.Node): void {
  const name = localName(field.name);
  for (const attribute in field.attributes) add(element, `${name}@${localName(attribute)}`, field.attributes[attribute] ?? "");
  add(element, name, textOf(element, field, 3));
}

function textOf(element: Element, { children }: XML.Node, depth: number): string {
  let content = "";
  for (const child of children) {
    if (typeof child === "string") content += child;
    else if ("name" in child && depth < DEPTH_MAX) content += textOf(element, child, depth + 1);
    else if ("name" in child) element.fault ??= `its elements must not be nested more than ${DEPTH_MAX} deep`;
  }
  return content;
}

function add(element: Element, name: string, content: string): void {
  const text = content.trim();
  if (text === "") return;
  const texts = element.fields[name];
  if (texts === undefined) element.fields[name] = [text];
  else texts.push(text);
}
