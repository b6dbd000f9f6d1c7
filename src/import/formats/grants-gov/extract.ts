/**
 * Grants.gov: the daily XML extract (`GrantsDBExtract<date>v2.zip`), its predecessor of before 2016, and the answers of its API
 * (`api.ts`), told apart by what is in the file.
 */
import type { Format, FormatContext, Input, Item, LazyItem } from "../../format.ts";
import { naming, utf8Text } from "../../input.ts";
import { firstCharacter } from "../../json-elements.ts";
import { createXmlReader, KEPT_MAX } from "../../xml.ts";
import { grantsGovAnswers } from "./api.ts";
import {
  applicantTypes,
  fundingActivities,
  fundingInstruments,
  GRANTS_GOV,
  opportunityCategories,
  pageOf,
  readCodes,
  readListings,
} from "./codes.ts";
import { draftOfGrant, emptyGrant, type Grant, isOver } from "./grant.ts";

export const grantsGov: Format = {
  name: "grants-gov",
  source: GRANTS_GOV,
  about: "Grants.gov: the XML extract, or answers of search2 and fetchOpportunity as JSON",
  entry: /\.xml$/i,
  read,
};

/** An opportunity that is forecast and posted in one extract is posted, whichever comes last. */
async function* read(inputs: readonly Input[], context: FormatContext): AsyncIterable<Item> {
  const posted = new Set<string>();
  for (const input of inputs) {
    for await (const item of naming(input, readOne(input, posted, context))) yield item;
  }
}

async function* readOne(input: Input, posted: Set<string>, context: FormatContext): AsyncIterable<Item> {
  const first = await firstCharacter(input.bytes());
  if (first === "{" || first === "[") yield* grantsGovAnswers(input, first, context);
  else if (first === "<") yield* readExtract(input, posted, context);
  else throw new Error("it is neither XML nor JSON");
}

async function* readExtract(input: Input, posted: Set<string>, context: FormatContext): AsyncIterable<Item> {
  let line = 0;
  for await (const { raw, source, fault } of extractElements(input.bytes(), context)) {
    line++;
    const { element, fields } = raw;
    const legacy = element.startsWith("FundingOpp") ? grantOfLegacyElement(raw, context) : undefined;
    const id = legacy === undefined ? textIn(fields, "OpportunityID") : legacy.id;
    if (id === "") {
      yield { kind: "rejected", input, line, raw, source: GRANTS_GOV, reason: "OpportunityID must not be blank" };
      continue;
    }
    if (element !== FORECAST) posted.add(id);
    const place = { input, line, raw, ...(element === FORECAST && posted.has(id) ? { isSuperseded: true as const } : {}) };
    if (fault !== undefined) {
      yield { kind: "rejected", ...place, source: GRANTS_GOV, lineage: id, reason: fault };
      continue;
    }
    if (legacy === undefined) yield { ...place, ...lazyItem(raw, source, id, context) };
    else yield { kind: "record", ...place, record: draftOfGrant(legacy, context) };
  }
}

/* The present extract */

/** One opportunity: its child elements by local name, each with all its texts; attributes as `Element@Attribute`. */
type Element = { element: string; fields: { [name: string]: string[] } };

function lazyItem(raw: Element, source: string, id: string, context: FormatContext): LazyItem {
  const isArchived = isOver(isoDate(textIn(raw.fields, "ArchiveDate")), context.now);
  const read = () => draftOfGrant(grantOfElement(raw, context), context);
  return { kind: "lazy", source: GRANTS_GOV, id, digested: `${isArchived} ${source}`, read };
}

function textIn(fields: Element["fields"], name: string): string {
  return fields[name]?.[0] ?? "";
}

function grantOfElement({ element, fields }: Element, { warn }: FormatContext): Grant {
  const text = (name: string) => textIn(fields, name);
  const all = (name: string) => fields[name] ?? [];
  const forecast = element === FORECAST;
  const id = text("OpportunityID");
  const [category] = readCodes(all("OpportunityCategory"), opportunityCategories, "opportunity category", warn);
  return {
    ...emptyGrant,
    source: GRANTS_GOV,
    id,
    url: pageOf(id),
    number: text("OpportunityNumber"),
    title: text("OpportunityTitle"),
    agency: text("AgencyName"),
    status: forecast ? "forecast" : "posted",
    category: category?.label ?? "",
    categoryNote: text("OpportunityCategoryExplanation"),
    instruments: readCodes(all("FundingInstrumentType"), fundingInstruments, "funding instrument", warn),
    activities: readCodes(all("CategoryOfFundingActivity"), fundingActivities, "category of funding activity", warn),
    activitiesNote: text("CategoryExplanation"),
    listings: readListings(all("CFDANumbers"), warn),
    applicants: readCodes(all("EligibleApplicants"), applicantTypes, "applicant type", warn).map(({ label }) => label),
    eligibility: text("AdditionalInformationOnEligibility"),
    costSharing: yesOrNo(text("CostSharingOrMatchingRequirement")),
    posted: isoDate(text("PostDate")),
    opens: isoDate(text(forecast ? "EstimatedSynopsisPostDate" : "PostDate")),
    closes: isoDate(text(forecast ? "EstimatedSynopsisCloseDate" : "CloseDate")),
    closesNote: text(forecast ? "EstimatedSynopsisCloseDateExplanation" : "CloseDateExplanation"),
    archives: isoDate(text("ArchiveDate")),
    awardFloor: text("AwardFloor"),
    awardCeiling: text("AwardCeiling"),
    totalFunding: text("EstimatedTotalProgramFunding"),
    awards: text("ExpectedNumberOfAwards"),
    awardDate: isoDate(text("EstimatedAwardDate")),
    startDate: isoDate(text("EstimatedProjectStartDate")),
    fiscalYear: text("FiscalYear"),
    description: text("Description"),
    contact: {
      name: text("GrantorContactName"),
      email: text("GrantorContactEmail"),
      phone: text("GrantorContactPhoneNumber"),
      text: text("GrantorContactText"),
    },
    attachments: [{ name: text("AdditionalInformationText"), url: text("AdditionalInformationURL") }],
  };
}

/** The extract of before 2016 has no opportunity ids: its opportunities are known by their numbers. */
function grantOfLegacyElement({ fields }: Element, { warn }: FormatContext): Grant {
  const text = (name: string) => (fields[name]?.[0] ?? "").replace(/^(None|Not Available)$/, "");
  const all = (name: string) => fields[name] ?? [];
  return {
    ...emptyGrant,
    source: GRANTS_GOV,
    id: text("FundingOppNumber"),
    number: text("FundingOppNumber"),
    title: text("FundingOppTitle"),
    agency: text("Agency"),
    subAgency: text("Office"),
    status: "posted",
    instruments: readCodes(all("FundingInstrumentType"), fundingInstruments, "funding instrument", warn),
    activities: readCodes(all("FundingActivityCategory"), fundingActivities, "category of funding activity", warn),
    activitiesNote: text("OtherCategoryExplanation"),
    listings: readListings(all("CFDANumber"), warn),
    applicants: readCodes(all("EligibilityCategory"), applicantTypes, "applicant type", warn).map(({ label }) => label),
    eligibility: text("AdditionalEligibilityInfo"),
    costSharing: yesOrNo(text("CostSharing")),
    posted: isoDate(text("PostDate")),
    opens: isoDate(text("PostDate")),
    closes: isoDate(text("ApplicationsDueDate")),
    closesNote: text("ApplicationsDueDateExplanation"),
    archives: isoDate(text("ArchiveDate")),
    awardFloor: text("AwardFloor"),
    awardCeiling: text("AwardCeiling"),
    totalFunding: text("EstimatedFunding"),
    awards: text("NumberOfAwards"),
    description: text("FundingOppDescription"),
    contact: { name: "", email: text("AgencyContact@AgencyEmailAddress"), phone: "", text: text("AgencyContact") },
    attachments: [{ name: text("ObtainFundingOppText"), url: text("ObtainFundingOppText@FundingOppURL") }],
  };
}

function yesOrNo(text: string): Grant["costSharing"] {
  return /^y/i.test(text) ? "Yes" : /^n/i.test(text) ? "No" : "";
}

/** `07312026` as `2026-07-31`; what is no such date comes back as it is, and is warned of where it is needed. */
function isoDate(text: string): string {
  return /^\d{8}$/.test(text) ? `${text.slice(4)}-${text.slice(0, 2)}-${text.slice(2, 4)}` : text;
}

/* XML */

const ROOT = "Grants";
const FORECAST = "OpportunityForecastDetail_1_0";
const RECORDS = new Set([FORECAST, "OpportunitySynopsisDetail_1_0", "FundingOppSynopsis", "FundingOppModSynopsis"]);

/** Most characters of one element: as many as a text of a record may have. The longest real description has some 100,000. */
const TEXT_MAX = 2_000_000;
const DEPTH_MAX = 100;
const TOO_LONG = `the element must have at most ${KEPT_MAX} characters`;

/** An element, the text in the file that it was read from, and why it cannot be imported, if so. */
type Found = { raw: Element; source: string; fault: string | undefined };

async function* extractElements(bytes: AsyncIterable<Uint8Array>, { warn }: FormatContext): AsyncIterable<Found> {
  let found: Found[] = [];
  let record: Element = { element: "", fields: {} };
  let recordFault: string | undefined;
  let recordLength = 0;
  let content = "";
  let depth = 0;

  /** Whether the record has room for a text: what is too much of one record is left out of what is kept of it. */
  function hasRoomFor(text: string, lengthBefore: number): boolean {
    recordLength += text.length;
    if (lengthBefore + text.length > TEXT_MAX) recordFault ??= `a text must have at most ${TEXT_MAX} characters`;
    else if (recordLength > KEPT_MAX) recordFault ??= TOO_LONG;
    else return true;
    return false;
  }

  const xml = createXmlReader({
    open(name, attributes) {
      depth++;
      if (depth === 1 && localName(name) !== ROOT) throw new Error(`its root element is ${name}, not ${ROOT}`);
      if (depth === 2) {
        record = { element: localName(name), fields: Object.create(null) }; // An element may be called anything.
        recordFault = undefined;
        recordLength = 0;
        xml.mark();
      }
      if (depth > DEPTH_MAX) recordFault ??= `its elements must not be nested more than ${DEPTH_MAX} deep`;
      if (depth !== 3) return;
      content = "";
      for (const attribute in attributes) {
        const value = attributes[attribute] ?? "";
        if (hasRoomFor(value, 0)) add(record, `${localName(name)}@${localName(attribute)}`, value);
      }
    },
    text(text) {
      if (depth > 2 && hasRoomFor(text, content.length)) content = content === "" ? text : content + text;
    },
    close(name) {
      if (depth === 3) add(record, localName(name), content);
      if (depth === 2) {
        const source = xml.sinceMark();
        if (source === undefined) recordFault ??= TOO_LONG;
        if (RECORDS.has(record.element)) found.push({ raw: record, source: source ?? "", fault: recordFault });
        else warn(`Unknown element ${name} is left out`);
      }
      depth--;
    },
    fault(reason) {
      if (depth < 2) throw new Error(reason);
      recordFault ??= `the element has ${reason}`;
    },
  });

  for await (const text of utf8Text(bytes, ">")) {
    xml.write(text);
    yield* found;
    found = [];
  }
  xml.end();
  yield* found;
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
