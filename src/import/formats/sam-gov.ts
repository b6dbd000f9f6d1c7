/**
 * SAM.gov contract opportunities: the bulk CSV `ContractOpportunitiesFullCSV.csv`, its rows as JSON objects (daily extracts), responses of
 * Get Opportunities v2, and responses of the page backend (`sam-gov-page.ts`). All of them become `Notice`s, and a notice becomes a draft.
 */

import { easternDate, easternInstant, endOfEasternDate } from "../../text/eastern.ts";
import { isDate, parseInstantMs } from "../../text/instant.ts";
import { arrayOf, isObject, type JsonObject, objectOf, textOf } from "../../text/json-value.ts";
import { memoize } from "../../text/memoize.ts";
import { summaryOf } from "../../text/plain-text.ts";
import type { Draft, Format, FormatContext, Input, Item, RecordItem, UnreadVersion, Version } from "../format.ts";
import { programType } from "../program-type.ts";
import { csvRows, encodingOf } from "../readers/csv-rows.ts";
import { type Around, beginningOf, firstCharacter, jsonObjects } from "../readers/json-elements.ts";
import { isSameText } from "./grants-gov/same.ts";
import { columnTexts, distinct, elementsOf, type FoundElement, itemsOf, joined, orNull, type ReadItem, rejected } from "./items.ts";
import { contactOf, type Identity, isSetAside, type Notice, type Organization, placeNames, setAsidesOf } from "./sam-gov-notice.ts";
import { isPageNotice, noticeOfPage, pageLayoutOf, pageNotices, totalOfSearch } from "./sam-gov-page.ts";

const SOURCE = "SAM_GOV";

export const samGov: Format = {
  name: "sam-gov",
  source: SOURCE,
  about: "SAM.gov contract opportunities: the bulk CSV, daily rows as JSON, or responses of the v2 API or of the page backend",
  versions: { in: versionsIn, partOf, parentsOf, parentsAmong },
  read,
};

const IDENTITY_COLUMNS = {
  id: "NoticeId",
  title: "Title",
  number: "Sol#",
  officeCode: "AAC Code",
  posted: "PostedDate",
  type: "Type",
  baseType: "BaseType",
  awardNumber: "AwardNumber",
  deadline: "ResponseDeadLine",
} as const;

const TEXT_COLUMNS = {
  agencyCode: "FPDS Code",
  archiveDate: "ArchiveDate",
  active: "Active",
  setAsideLabel: "SetASide",
  productCode: "ClassificationCode",
  amount: "Award$",
  awardee: "Awardee",
  awardDate: "AwardDate",
  infoLink: "AdditionalInfoLink",
  description: "Description",
} as const;

const ORGANIZATION_COLUMNS = { agency: "Department/Ind.Agency", subAgency: "Sub-Tier", office: "Office" } as const;
const PLACE_COLUMNS = ["PopCity", "PopState", "PopCountry"] as const;
const CONTACTS = ["Primary", "Secondary"] as const;

const COLUMNS: readonly string[] = [
  ...[IDENTITY_COLUMNS, TEXT_COLUMNS, ORGANIZATION_COLUMNS, PLACE_COLUMNS].flatMap((each) => Object.values<string>(each)),
  ...CONTACTS.flatMap((which) => ["Title", "Fullname", "Email", "Phone"].map((field) => `${which}Contact${field}`)),
  "SetASideCode",
  "NaicsCode",
];

/** A kind of notice, by all spellings of its name, and those that may precede it in one acquisition, nearest first. */
type Kind = { name: string; words: RegExp; after?: readonly string[]; display?: true };

const AWARD = "Award Notice";

const KINDS: readonly Kind[] = [
  { name: "Sources Sought", words: /^sources sought/i, display: true },
  { name: "Presolicitation", words: /^pre-?solicitation/i, after: ["Sources Sought"] },
  { name: "Combined Synopsis/Solicitation", words: /^combined/i, after: ["Presolicitation", "Sources Sought"] },
  { name: "Solicitation", words: /^solicitation/i, after: ["Presolicitation", "Sources Sought"] },
  {
    name: AWARD,
    words: /^award/i,
    after: ["Solicitation", "Combined Synopsis/Solicitation", "Presolicitation", "Sources Sought", "Special Notice"],
  },
  { name: "Justification", words: /^justification/i, display: true },
  { name: "Special Notice", words: /^special notice/i, display: true },
  { name: "Modification/Amendment/Cancel", words: /^modification\/amendment/i, display: true },
  { name: "Sale of Surplus Property", words: /^sale of surplus/i, display: true },
  { name: "Consolidate/(Substantially) Bundle", words: /bundle/i, display: true },
];

async function* read(inputs: readonly Input[], context: FormatContext): AsyncIterable<Item> {
  let [count, total] = [0, 0];
  const around = (response: unknown) => {
    total = Math.max(total, Number(textOf(objectOf(response).totalRecords)), totalOfSearch(response));
  };
  const notices = elementsOf(inputs, (input) => noticesIn(input, around));
  for await (const item of itemsOf(notices, (raw, { text }) => itemOf(raw, text, context))) {
    count++;
    yield item;
  }
  if (total > count) context.incomplete(`the search found ${total} notices; these files contain ${count} of them`);
}

function itemOf(raw: JsonObject, text: string | undefined, context: FormatContext): ReadItem {
  const id = text === undefined ? "" : idOfRow(raw);
  if (id !== "") return { kind: "version", source: SOURCE, id, read: () => recordItem(noticeOfRow(raw), context) };
  const notice = noticeOf(raw);
  if (notice.id === "") return rejected("NoticeId must not be blank");
  if (notice.pageState?.isDraft) return rejected("the notice is a draft, which is not published");
  return recordItem(notice, context);
}

function recordItem(notice: Notice, context: FormatContext): RecordItem {
  const record = toDraft(notice, context);
  const reconcile = (stored: Draft) => reconciled(notice, record, stored);
  return { kind: "record", record, partial: "omits", reconcile, version: { source: SOURCE, id: notice.id } };
}

/* The layouts */

async function* noticesIn(input: Input, around?: Around): AsyncIterable<FoundElement> {
  const first = await firstCharacter(input);
  const page = first === "{" ? pageLayoutOf(await beginningOf(input.bytes())) : undefined;
  if (page !== undefined) yield* pageNotices(input, page, around);
  else if (first === "{") yield* jsonObjects(input.bytes(), "opportunitiesData", { around, faultOf: noticeFault });
  else if (first === "[") yield* jsonObjects(input.bytes(), "", { faultOf: noticeFault });
  else yield* csvRows(input.bytes(), COLUMNS, await encodingOf(input.bytes()));
}

function noticeFault(raw: JsonObject): string | undefined {
  return "NoticeId" in raw || "noticeId" in raw || isPageNotice(raw) ? undefined : "has neither noticeId nor NoticeId";
}

function noticeOf(raw: JsonObject): Notice {
  return isPageNotice(raw) ? noticeOfPage(raw) : "noticeId" in raw ? noticeOfResponse(raw) : noticeOfRow(raw);
}

/** Copies of responses say "Unknown" where they lack it. */
function knownType(type: unknown): string {
  const text = textOf(type);
  return /^unknown$/i.test(text) ? "" : text;
}

function identityOfRow(row: JsonObject): Identity {
  return columnTexts(IDENTITY_COLUMNS, (column) => textOf(row[column]));
}

function noticeOfRow(row: JsonObject): Notice {
  const text = (column: string) => textOf(row[column]);
  return {
    ...identityOfRow(row),
    ...columnTexts(TEXT_COLUMNS, text),
    organization: columnTexts(ORGANIZATION_COLUMNS, text),
    ...setAsidesOf(text("SetASideCode"), text("SetASide")),
    naics: [text("NaicsCode")],
    placeOfPerformance: PLACE_COLUMNS.map(text),
    contacts: CONTACTS.map((which) => ({
      name: text(`${which}ContactFullname`),
      email: text(`${which}ContactEmail`),
      phone: text(`${which}ContactPhone`),
      role: text(`${which}ContactTitle`) || which.toLowerCase(),
    })),
    statesNot: ["cancelled"],
  };
}

/** `description` is left out: in the API, it is only a link to the text. */
function noticeOfResponse(response: JsonObject): Notice {
  const award = objectOf(response.award);
  const codes = textOf(response.fullParentPathCode).split(".");
  return {
    id: textOf(response.noticeId),
    title: textOf(response.title),
    number: textOf(response.solicitationNumber),
    officeCode: response.organizationType === "OFFICE" ? (codes.at(-1) ?? "") : "", // Only of an office, it is the CSV's "AAC Code".
    posted: textOf(response.postedDate),
    type: knownType(response.type),
    baseType: knownType(response.baseType),
    awardNumber: textOf(award.number),
    deadline: textOf(response.responseDeadLine ?? response.reponseDeadLine), // The documentation has the second spelling.
    organization: organizationOf(response, codes),
    agencyCode: codes[1] ?? "",
    archiveDate: textOf(response.archiveDate),
    active: textOf(response.active),
    ...setAsidesOf(textOf(response.typeOfSetAside), textOf(response.typeOfSetAsideDescription)),
    naics: [response.naicsCode, ...arrayOf(response.naicsCodes)].map(textOf),
    productCode: textOf(response.classificationCode),
    amount: textOf(award.amount),
    awardee: textOf(objectOf(award.awardee).name),
    ...("date" in award && { awardDate: textOf(award.date) }),
    // The API has null for these two in some notices for which the CSV has values.
    ...(isObject(response.placeOfPerformance) && { placeOfPerformance: placeNames(response.placeOfPerformance) }),
    ...(Array.isArray(response.pointOfContact) && { contacts: response.pointOfContact.map(objectOf).map(contactOf) }),
    infoLink: textOf(response.additionalInfoLink),
    resourceLinks: arrayOf(response.resourceLinks).map(textOf).filter(Boolean),
    statesNot: ["cancelled"],
  };
}

/** Dots separate the names in a path. With a dot in a name, only the first is certain. An agency may have no office. */
function organizationOf(response: JsonObject, codes: readonly string[]): Organization {
  const names = textOf(response.fullParentPathName).split(".");
  const [agency = "", subAgency = ""] = names;
  if (names.length === codes.length && agency !== "") return { agency, subAgency, office: names.slice(2).at(-1) };
  return {
    agency: agency || textOf(response.department) || undefined,
    subAgency: textOf(response.subTier) || undefined,
    office: textOf(response.office) || undefined,
  };
}

/* Versions */

/**
 * A changed notice gets a new NoticeId (D-30). Its revisions share number, office and original type. An award is no revision: its number
 * distinguishes it from other awards of the solicitation.
 */
async function* versionsIn(inputs: readonly Input[]): AsyncIterable<Version | UnreadVersion | undefined> {
  for await (const found of elementsOf(inputs, noticesIn)) yield found.kind === "rejected" ? undefined : versionIn(found.raw, found.text);
}

function versionIn(raw: JsonObject, text: string | undefined): Version | UnreadVersion | undefined {
  if (text !== undefined) {
    const id = idOfRow(raw);
    return id === "" ? undefined : { source: SOURCE, id, digested: text, read: () => noticeVersion(identityOfRow(raw)) };
  }
  const notice = noticeOf(raw);
  return notice.id === "" || notice.pageState?.isDraft ? undefined : noticeVersion(notice);
}

function idOfRow(row: JsonObject): string {
  return textOf(row[IDENTITY_COLUMNS.id]);
}

function noticeVersion(notice: Identity): Version {
  const { id, title, others = [] } = notice;
  const named = others.length === 0 || isUnnumberedAward(notice) ? {} : { others };
  const instantIn = (text: string) => (isDate(text) ? text : (readInstant(text, "00:00:00") ?? null));
  const [posted, due] = [notice.posted, notice.deadline ?? ""].map(instantIn) as [string | null, string | null];
  return { source: SOURCE, id, facts: { ...keysOf(notice), title, posted, due }, ...named };
}

/** Without a usable number or office, the id of the first version is a provisional key. The series is the number. */
function keysOf(notice: Identity): { key: string; series: string } {
  const { id, firstId = id, officeCode, baseType, awardNumber = "" } = notice;
  const [number, office, award] = [notice.number, officeCode ?? "", awardNumber].map(
    (text) => text.toUpperCase().replace(/[^\p{L}\p{N}]+/gu, ""), // `SPE4A6-26-R-X631` is `SPE4A626RX631`.
  ) as [string, string, string];
  const series = OF_VETERANS_AFFAIRS.exec(number)?.[1] ?? number;
  const isNumbered = isAward(notice) && !PLACEHOLDER.test(award);
  if (isUnnumberedAward(notice)) return provisional(id);
  if (officeCode === undefined) return provisional(isNumbered ? `${firstId}|${AWARD}|${award}` : firstId);
  if (number === office || PLACEHOLDER.test(number))
    return isNumbered ? { key: `|${office}|${AWARD}|${award}`, series: `|${office}|${award}` } : provisional(firstId);
  const kind = isAward(notice) ? `${AWARD}|${award}` : (kindOf(baseType)?.name ?? baseType);
  return { key: `${number}|${office}|${kind}`, series };
}

function provisional(key: string): { key: string; series: string } {
  return { key, series: key };
}

function isAward({ type, baseType }: Identity): boolean {
  return [type, baseType].some((each) => kindOf(each)?.name === AWARD);
}

/** Without award numbers, it may be any award of the notices that it names. */
function isUnnumberedAward(notice: Identity): boolean {
  return isAward(notice) && notice.awardNumber === undefined;
}

/**
 * Veterans Affairs appends the number of an amendment, as in `36C25226Q0689_2`. Some are separate notices, so all stay records of their
 * own.
 */
const OF_VETERANS_AFFAIRS = /^(36C\d{5}[A-Z]\d{4})\d{1,4}$/;

const PLACEHOLDER = /^(VARIOUS|VARIES|MULTIPLE|TBD|NA|NONE|UNKNOWN)?$/;

function partOf(key: string): string {
  const [, award = ""] = key.split(`|${AWARD}|`);
  return PLACEHOLDER.test(award) ? "" : award;
}

/** Earlier kinds of notice with the same number and office, nearest first. */
function parentsOf(key: string): string[] {
  const { number, office, kind } = partsOf(key);
  return earlierKinds(kind).map((name) => `${number}|${office}|${name}`);
}

/** Offices of one department stand in for each other: what DLA solicits at SPE7M1 it awards at SPE7M5. */
function parentsAmong(key: string, others: readonly string[]): string[] {
  const { number, office, kind } = partsOf(key);
  if (number.length < 5 || !/\d/.test(number)) return [];
  const ofDepartment = others.filter((other) => departmentOf(partsOf(other).office) === departmentOf(office));
  return earlierKinds(kind).flatMap((name) => ofDepartment.filter((other) => partsOf(other).kind === name));
}

function partsOf(key: string): { number: string; office: string; kind: string } {
  const [number = "", office = "", kind = ""] = key.split("|");
  return { number, office, kind };
}

function earlierKinds(kind: string): readonly string[] {
  return KINDS.find(({ name }) => name === kind)?.after ?? [];
}

/** Codes of the Department of Defense's offices begin with a letter, others with the two digits of their department. */
function departmentOf(office: string): string {
  return /^\d\d/.exec(office)?.[0] ?? (office === "" ? "" : "DoD");
}

/* The draft */

const [DELETED, ARCHIVED] = ["Deleted", "Archived"];

function toDraft(notice: Notice, context: FormatContext): Draft {
  const { description, contacts, infoLink, resourceLinks, productCode, naics, others = [] } = notice;
  const { agency, subAgency, office } = notice.organization;
  const name = (text: string | undefined) => (text === "" ? null : text);
  const kind = kindOf(notice.type);
  if (kind === undefined && notice.type !== "") context.warn(`unknown notice type "${notice.type}"`);
  if (notice.archiveDate !== "" && !DATE.test(notice.archiveDate)) context.warn(`unreadable archive date "${notice.archiveDate}"`);
  const closes = notice.deadline === undefined ? undefined : instantOf(notice.deadline, "23:59:59", context);
  return {
    source: { code: SOURCE, opportunity_id: notice.id, url: `https://sam.gov/opp/${notice.id}/view` },
    title: notice.title || notice.number || "Untitled",
    summary: description === undefined ? undefined : summaryOf(description),
    description: name(description),
    ...limited(statedIn(notice), closes, archivesAt(notice)),
    organization: { agency: name(agency), sub_agency: name(subAgency), issuing_office: name(office) },
    program: {
      type: programType({ title: notice.title, number: notice.number, noticeType: kind?.name ?? notice.type }),
      solicitation_id: notice.number || null,
      solicitation_title: notice.title || null,
      contract_class: notice.type || null,
    },
    funding: notice.amount === undefined ? undefined : fundingOf(notice),
    award: notice.awardee === undefined ? undefined : awardOf(notice),
    dates: {
      posted_at: instantOf(notice.posted, "00:00:00", context),
      closes_at: closes,
      response_at: closes,
    },
    classifications: {
      tech_taxonomy: productCode === undefined ? undefined : distinct([productCode]).map((code) => `PSC:${code}`),
      naics_codes: naics && distinct(naics),
      set_aside_types: notice.setAsides,
    },
    eligibility: {
      requirements: notice.setAsides === undefined && notice.setAsideLabel === "" ? undefined : requirementsOf(notice),
      geographic_scope: notice.placeOfPerformance && joined(notice.placeOfPerformance.filter(isPlace), ", "),
    },
    contacts: contacts?.filter(({ name, email, phone }) => name + email + phone !== "").map(orNull),
    attachments:
      infoLink === undefined && resourceLinks === undefined
        ? undefined
        : [...(resourceLinks ?? []).map((url) => ({ name: null, url })), ...infoLinkOf(notice)],
    place: notice.placeOfPerformance && placeOf(notice.placeOfPerformance),
    agency_codes: notice.agencyCode ? [notice.agencyCode] : undefined,
    earlier_ids: others.length === 0 || isAward(notice) ? undefined : [...others], // Those of an award may be its solicitation's.
  };
}

function placeOf(names: readonly string[]): Draft["place"] {
  const [city = null, state = null, country = null] = names.map((name) => (isPlace(name) ? name : null));
  return city === null && state === null && country === null ? null : { city, state, country };
}

const INFO_LINK = "Additional information";

function infoLinkOf({ infoLink }: Notice): { name: string; url: string }[] {
  return infoLink === undefined || infoLink === "" ? [] : [{ name: INFO_LINK, url: infoLink }];
}

/**
 * Keeps stored values that are more complete: the CSV has one NAICS code and no resource links, the API no times and no places of awardees.
 */
function reconciled(notice: Notice, draft: Draft, stored: Draft): Draft {
  const { naics_codes = [] } = stored.classifications ?? {};
  const others = (stored.attachments ?? []).filter(({ name }) => name !== INFO_LINK);
  const isOnlyNamed = notice.amount === undefined && notice.awardee && stored.award?.awardee?.startsWith(notice.awardee);
  const withLists = {
    ...draft,
    ...(notice.naics?.length === 1 && naics_codes.includes(notice.naics[0] ?? "")
      ? { classifications: { ...draft.classifications, naics_codes } }
      : {}),
    ...(notice.resourceLinks === undefined && notice.infoLink !== undefined ? { attachments: [...others, ...infoLinkOf(notice)] } : {}),
    ...(isOnlyNamed ? { award: stored.award } : {}),
    ...(notice.type === "" && stored.program != null
      ? { program: { ...draft.program, type: stored.program.type ?? null, contract_class: stored.program.contract_class ?? null } }
      : {}),
  };
  const isSame = stored.source.opportunity_id === notice.id;
  const whole = isSame ? reconciledWithItself(notice, withLists, stored) : withLists;
  const closes_at = whole.dates?.closes_at === undefined ? stored.dates?.closes_at : whole.dates.closes_at;
  const own = statedIn(notice);
  const before = stored.stated ?? { status: stored.status ?? null, status_display: stored.status_display ?? null };
  const kept = isSame && isSilent(notice, own.status, before) ? before : own;
  return { ...whole, ...limited(kept, closes_at, archivesAt(notice) ?? (isSame ? stored.archives_at : null)) };
}

/** The stored values are of the same notice, from another layout. */
function reconciledWithItself(notice: Notice, draft: Draft, stored: Draft): Draft {
  const { summary = null, description, dates = {}, funding, award, classifications, eligibility } = stored;
  const { posted_at, closes_at, response_at } = draft.dates ?? {};
  const display = draft.funding?.display ?? "";
  const hasPlace = display !== "" && funding?.display?.startsWith(`${display} `) === true; // The awardee's place, if the display shows one.
  const hasWords = eligibility?.requirements !== requirementsOf({ ...notice, setAsideLabel: "" });
  const hasSameSetAsides = notice.setAsides?.join() === classifications?.set_aside_types?.join();
  return {
    ...draft,
    ...(isSameText(draft.description, description) ? { summary, description } : {}),
    // The page backend has only the codes of set-asides, and the other layouts have old or new words.
    ...(hasSameSetAsides && (notice.setAsideLabel === "" || hasWords) && eligibility?.requirements != null
      ? { eligibility: { ...draft.eligibility, requirements: eligibility.requirements } }
      : {}),
    dates: {
      posted_at: posted_at === undefined || notice.posted === "" ? dates.posted_at : moreExact(notice.posted, posted_at, dates.posted_at),
      closes_at: moreExact(notice.deadline, closes_at, dates.closes_at),
      response_at: moreExact(notice.deadline, response_at, dates.response_at),
    },
    ...(hasPlace ? { funding, award: { ...draft.award, awardee: award?.awardee ?? null } } : {}),
  };
}

/** Only the side that archived a notice, page backend or other layouts, can undo that. */
function isSilent({ pageState, type, statesNot = [] }: Notice, status: string | null, before: StatedStatus): boolean {
  if (type === "" && status === null) return true;
  if (before.status === null) return false;
  if (statesNot.includes(before.status)) return true;
  if (before.status !== "archived") return false;
  const isOfBackend = before.status_display === DELETED || before.status_display === ARCHIVED;
  return pageState === undefined ? isOfBackend : !isOfBackend && status !== "archived" && status !== "cancelled";
}

/** The stored instant, if the notice has only its day or lacks its fraction of a second. */
function moreExact(text: string | undefined, given: string | null = null, stored: string | null = null): string | null | undefined {
  if (text === undefined) return undefined;
  const at = parseInstantMs(stored);
  if (stored === null || at === undefined) return given;
  if (isDate(text)) return stored.startsWith(text) || easternDate(at) === text ? stored : given;
  const isSameSecond = Math.floor(at / 1000) === Math.floor((parseInstantMs(given) ?? 0) / 1000);
  return isSameSecond && !/\.\d/.test(text) ? stored : given;
}

type StatedStatus = { status: string | null; status_display: string | null };

function statedIn(notice: Notice): StatedStatus {
  const { pageState, type } = notice;
  const ofType = kindOf(type)?.display === true ? type : null;
  return { status: samStatus(notice), status_display: pageState?.isDeleted ? DELETED : pageState?.isArchived ? ARCHIVED : ofType };
}

function samStatus({ pageState, active, awardNumber = "", awardee = "", type }: Notice): string | null {
  const kind = kindOf(type)?.name;
  if (pageState?.isCancelled) return "cancelled";
  if (pageState?.isDeleted || pageState?.isArchived || active === "No") return "archived";
  if (kind === AWARD || awardNumber !== "" || awardee !== "") return "awarded";
  if (kind === "Justification") return "closed";
  return kind === "Presolicitation" ? "pre_release" : null;
}

/** A presolicitation is over at its deadline, and a cancelled notice stays so on its archive date. */
function limited(states: StatedStatus, closes_at: string | null | undefined, archives_at: string | null | undefined): Partial<Draft> {
  const isOver = states.status === "cancelled" || states.status === "archived";
  return { ...states, status_until: states.status === "pre_release" ? closes_at : undefined, archives_at: isOver ? null : archives_at };
}

/** Undefined if the layout states none: a stored one of the same notice stays. */
function archivesAt({ archiveDate }: Notice): string | undefined {
  return endOfEasternDate(archiveDate.slice(0, "2026-07-31".length));
}

const DATE = /^\d{4}-\d\d-\d\d(?!\d)/;

function fundingOf({ amount = "", awardee = "" }: Notice): NonNullable<Draft["funding"]> | null {
  const dollars = dollarsOf(amount);
  if (dollars === undefined && awardee === "") return null;
  const shown = dollars && `$${dollars.replace(/\B(?=(\d{3})+\.)/g, ",")}`;
  return { amount_min: dollars ?? null, amount_max: dollars ?? null, display: joined(["Awarded", shown, awardee && `to ${awardee}`], " ") };
}

function awardOf({ awardNumber = "", awardDate, amount = "", awardee = "" }: Notice): NonNullable<Draft["award"]> | null {
  if (awardNumber === "" && awardee === "") return null;
  return {
    number: awardNumber || null,
    amount: dollarsOf(amount) ?? null,
    awardee: awardee || null,
    date: awardDate === undefined ? undefined : awardDate || null,
  };
}

/** `800620.50` of `800620.5`. Zero means that none is stated. */
function dollarsOf(amount: string): string | undefined {
  const [, whole = "", cents = ""] = /^\$?([\d,]{1,80})(?:\.(\d*))?$/.exec(amount) ?? [];
  const digits = whole.replaceAll(",", "").replace(/^0+(?=\d)/, "");
  const dollars = `${digits || "0"}.${cents.slice(0, 2).padEnd(2, "0")}`;
  return /[1-9]/.test(dollars) ? dollars : undefined;
}

function requirementsOf({ setAsides = [], setAsideLabel }: Notice): string | null {
  if (setAsides.length === 0 && !isSetAside(setAsideLabel)) return null;
  return `Set-aside: ${setAsideLabel || setAsides.join(", ")}`;
}

function instantOf(text: string, timeOfDate: string, context: FormatContext): string | null {
  const instant = readInstant(text, timeOfDate);
  if (instant === undefined && text !== "") context.warn(`unreadable date "${text}"`);
  return instant ?? null;
}

/** Of `2026-04-24 23:24:04.649-04`, `2026-03-11T11:30:00-04:00`, either without offset (Eastern), or a date. */
function readInstant(text: string, timeOfDate: string): string | undefined {
  const [, date = "", time = timeOfDate, offset] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d(?::?\d\d)?)?)?$/.exec(text) ?? [];
  const full = time.length === 5 ? `${time}:00` : time;
  const zone = offset?.replace(/^(.\d\d):?(\d\d)?$/, (_, hours, minutes = "00") => `${hours}:${minutes}`);
  const instant = zone === undefined ? easternInstant(date, full) : `${date}T${full}${zone}`;
  return parseInstantMs(instant) === undefined ? undefined : instant;
}

const kindOf = memoize(100, (type) => KINDS.find(({ words }) => words.test(type)));

/** Codes such as `0` mean that no city is stated. */
function isPlace(text: string): boolean {
  return /\p{L}/u.test(text);
}
