/**
 * Grants.gov: the daily XML extract (`GrantsDBExtract<date>v2.zip`), its predecessor from before 2016, responses of its API (`api.ts`), and what
 * the API of its successor publishes (`simpler.ts`).
 * The content of a file decides which of them it is.
 */
import { withoutC1Controls } from "../../../text/plain-text.ts";
import { UUID } from "../../../text/uuid.ts";
import type { Format, FormatContext, Input, Item, LazyItem } from "../../format.ts";
import { utf8Text } from "../../readers/input.ts";
import { beginningOf, firstCharacter } from "../../readers/json-elements.ts";
import { SOURCE_MAX, type XmlHandlers, XmlReader } from "../../readers/xml.ts";
import type { Draft } from "../../record.ts";
import { elementsOf, rejected } from "../items.ts";
import { type HitCounts, readResponses, warnOfMissing } from "./api.ts";
import {
  applicantCodes,
  fundingActivities,
  fundingInstruments,
  GRANTS_GOV,
  opportunityCategories,
  pageUrlOf,
  readCodes,
  readListings,
} from "./codes.ts";
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
  warnOfMissing(search, context);
}

async function* readOne(input: Input, search: HitCounts, context: FormatContext): AsyncIterable<Item> {
  const first = await firstCharacter(input);
  if (first === "{" || first === "[") {
    const beginning = await beginningOf(input.bytes());
    yield* isOfSimpler(beginning) ? readSimpler(input, beginning, search, context) : readResponses(input, beginning, search, context);
  } else if (first === "<") yield* readExtract(input, context);
  else throw new Error("it is neither XML nor JSON");
}

/** If one extract has an opportunity as forecast and as posted, it is posted, whichever comes last. */
async function* readExtract(input: Input, context: FormatContext): AsyncIterable<Item> {
  context.neverHas(({ lineage }) => UUID.test(lineage)); // What the successor alone has.
  const postedIds = new Set<string>();
  let line = 0;
  for await (const element of xmlElementsOf(input.bytes(), context)) {
    line++;
    const { name, fields, fault } = element;
    const raw = { element: name, fields };
    const legacy = isLegacy(name) ? grantOfElement(element, context) : undefined;
    const id = legacy?.id ?? fields.OpportunityID?.[0] ?? "";
    if (id === "") {
      yield { input, line, raw, ...rejected("OpportunityID must not be blank") };
      continue;
    }
    if (name !== FORECAST) postedIds.add(id);
    const sourceLine = { input, line, raw, ...(name === FORECAST && postedIds.has(id) ? { isSuperseded: true as const } : {}) };
    if (fault !== undefined) yield { ...sourceLine, ...rejected(fault), source: GRANTS_GOV, lineage: id };
    else if (legacy === undefined) yield { ...sourceLine, ...lazyItem(element, id, context) };
    else yield { kind: "record", ...sourceLine, record: draftOfGrant(legacy, context) };
  }
}

/* The present extract */

type Element = {
  name: string;
  /** The texts of its child elements by local name, and of their attributes as `Element@Attribute`. */
  fields: { [name: string]: string[] };
  /** Its exact text in the file; "" if it is too long. */
  source: string;
  /** Why it cannot be imported. */
  fault: string | undefined;
};

function lazyItem(element: Element, id: string, context: FormatContext): LazyItem {
  const read = () => draftOfGrant(grantOfElement(element, context), context);
  return { kind: "lazy", source: GRANTS_GOV, id, digested: element.source, read, reconcile };
}

/** The extract has no titles of listings, and of attachments only a link. */
function reconcile(record: Draft, stored: Draft): Draft {
  return keepSame(record, stored, { titles: [], hasFiles: false });
}

function isLegacy(name: string): boolean {
  return name.startsWith("FundingOpp");
}

/** Each value is read from an element of the extract, or from one of the extract from before 2016, whose texts are partly Windows-1252. */
function grantOfElement({ name, fields }: Element, { warn }: FormatContext): Grant {
  const [forecast, legacy] = [name === FORECAST, isLegacy(name)];
  const all = (present: string, before = "") => fields[legacy ? before : present] ?? [];
  const text = (present: string, before = "") => {
    const first = all(present, before)[0] ?? "";
    return legacy ? withoutC1Controls(first).replace(/^(None|Not Available)$/, "") : first;
  };
  const date = (present: string, before = "") => isoDate(text(present, before));
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
    postDate: date("PostDate", "PostDate"),
    openDate: date(forecast ? "EstimatedSynopsisPostDate" : "PostDate", "PostDate"),
    closeDate: date(forecast ? "EstimatedSynopsisCloseDate" : "CloseDate", "ApplicationsDueDate"),
    closeDateExplanation: text(
      forecast ? "EstimatedSynopsisCloseDateExplanation" : "CloseDateExplanation",
      "ApplicationsDueDateExplanation",
    ),
    archiveDate: date("ArchiveDate", "ArchiveDate"),
    awardFloor: text("AwardFloor", "AwardFloor"),
    awardCeiling: text("AwardCeiling", "AwardCeiling"),
    totalFunding: text("EstimatedTotalProgramFunding", "EstimatedFunding"),
    expectedAwards: text("ExpectedNumberOfAwards", "NumberOfAwards"),
    awardDate: date("EstimatedAwardDate"),
    startDate: date("EstimatedProjectStartDate"),
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

/** Turns `07312026` into `2026-07-31`. Returns any other text unchanged; `draftOfGrant` warns of it. */
function isoDate(text: string): string {
  return /^\d{8}$/.test(text) ? `${text.slice(4)}-${text.slice(0, 2)}-${text.slice(2, 4)}` : text;
}

/* XML */

const ROOT = "Grants";
const FORECAST = "OpportunityForecastDetail_1_0";
/** Depths of the opportunities and of their fields; the root has depth 1. */
const [RECORD_DEPTH, FIELD_DEPTH] = [2, 3];
const RECORDS = new Set([FORECAST, "OpportunitySynopsisDetail_1_0", "FundingOppSynopsis", "FundingOppModSynopsis"]);

/** Most characters of one text, as in any record. The longest real description has some 100,000. */
const TEXT_MAX = 2_000_000;
const DEPTH_MAX = 100;
const TOO_LONG = `the element must have at most ${SOURCE_MAX} characters`;

/** The opportunities of an extract, one by one. Warns of other elements. */
async function* xmlElementsOf(bytes: AsyncIterable<Uint8Array>, { warn, incomplete }: FormatContext): AsyncIterable<Element> {
  let complete: Element[] = [];
  let record: Element = emptyElement("");
  let recordLength = 0;
  let content = "";
  let depth = 0;

  /** Whether the record has room for another text. If not, the text is dropped and the record gets a fault. */
  function hasRoomFor(text: string, lengthBefore: number): boolean {
    recordLength += text.length;
    if (lengthBefore + text.length > TEXT_MAX) record.fault ??= `a text must have at most ${TEXT_MAX} characters`;
    else if (recordLength > SOURCE_MAX) record.fault ??= TOO_LONG;
    else return true;
    return false;
  }

  /** By its name, an unknown element may be an opportunity of a new layout. */
  function reportUnknown(local: string, name: string): void {
    const report = /^(Opportunity|FundingOpp)/.test(local) ? incomplete : warn;
    report(`Unknown element ${name} is left out`);
  }

  const handlers: XmlHandlers = {
    open(name, attributes) {
      depth++;
      if (depth === 1 && localName(name) !== ROOT) throw new Error(`its root element is ${name}, not ${ROOT}`);
      if (depth === RECORD_DEPTH) {
        record = emptyElement(localName(name));
        recordLength = 0;
      }
      if (depth > DEPTH_MAX) record.fault ??= `its elements must not be nested more than ${DEPTH_MAX} deep`;
      if (depth !== FIELD_DEPTH) return;
      content = "";
      for (const attribute in attributes) {
        const value = attributes[attribute] ?? "";
        if (hasRoomFor(value, 0)) add(record, `${localName(name)}@${localName(attribute)}`, value);
      }
    },
    text(text) {
      if (depth >= FIELD_DEPTH && hasRoomFor(text, content.length)) content = content === "" ? text : content + text;
    },
    close(name, source) {
      if (depth === FIELD_DEPTH) add(record, localName(name), content);
      if (depth === RECORD_DEPTH) {
        if (source === undefined) record.fault ??= TOO_LONG;
        else record.source = source;
        if (RECORDS.has(record.name)) complete.push(record);
        else reportUnknown(record.name, name);
      }
      depth--;
    },
    fault(reason) {
      if (depth < RECORD_DEPTH) throw new Error(reason);
      record.fault ??= `the element has ${reason}`;
    },
  };

  const xml = new XmlReader(handlers, RECORD_DEPTH);
  for await (const text of utf8Text(bytes, ">")) {
    xml.write(text);
    yield* complete;
    complete = [];
  }
  xml.end();
  yield* complete;
}

function emptyElement(name: string): Element {
  return { name, fields: Object.create(null), source: "", fault: undefined }; // A field may have any name, `__proto__` too.
}

function add({ fields }: Element, name: string, content: string): void {
  const text = content.trim();
  if (text === "") return;
  const texts = fields[name];
  if (texts === undefined) fields[name] = [text];
  else texts.push(text);
}

function localName(name: string): string {
  const colon = name.indexOf(":");
  return colon === -1 ? name : name.slice(colon + 1);
}
