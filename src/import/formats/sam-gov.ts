/**
 * SAM.gov contract opportunities: the bulk CSV `ContractOpportunitiesFullCSV.csv`, its rows as JSON objects (daily extracts),
 * and answers of Get Opportunities v2. All three become `Notice`s, and a notice becomes a draft.
 */
import { parseInstantMs } from "../../text/instant.ts";
import { arrayOf, type JsonObject, objectOf, textOf } from "../../text/json-value.ts";
import { summaryOf } from "../../text/plain-text.ts";
import { csvRows, encodingOf } from "../csv-rows.ts";
import { easternDate, easternInstant } from "../eastern.ts";
import type { Format, FormatContext, Input, Item, Version } from "../format.ts";
import { naming } from "../input.ts";
import { type Around, type FoundObject, firstCharacter, jsonObjects } from "../json-elements.ts";
import { programType } from "../program-type.ts";
import type { Draft } from "../record.ts";

const SOURCE = "SAM_GOV";

export const samGov: Format = {
  name: "sam-gov",
  source: SOURCE,
  about: "SAM.gov contract opportunities: the bulk CSV, daily rows as JSON, or answers of the v2 API",
  versions: { in: versionsIn, parentsOf },
  read,
};

/** The columns that are read. A file that lacks one is refused: it would look as if every notice had lost that field. */
const COLUMNS = [
  "NoticeId",
  "Title",
  "Sol#",
  "Department/Ind.Agency",
  "Sub-Tier",
  "Office",
  "AAC Code",
  "PostedDate",
  "Type",
  "BaseType",
  "ArchiveDate",
  "SetASideCode",
  "SetASide",
  "ResponseDeadLine",
  "NaicsCode",
  "ClassificationCode",
  "PopCity",
  "PopState",
  "PopCountry",
  "Active",
  "AwardNumber",
  "Award$",
  "Awardee",
  "PrimaryContactTitle",
  "PrimaryContactFullname",
  "PrimaryContactEmail",
  "PrimaryContactPhone",
  "SecondaryContactTitle",
  "SecondaryContactFullname",
  "SecondaryContactEmail",
  "SecondaryContactPhone",
  "AdditionalInfoLink",
  "Description",
] as const;

/** A kind of notice, however the file words it, and the kinds that may precede it in one acquisition, the nearest first. */
type Kind = { name: string; words: RegExp; after?: readonly string[]; display?: true };

const KINDS: readonly Kind[] = [
  { name: "Sources Sought", words: /^sources sought/i, display: true },
  { name: "Presolicitation", words: /^pre-?solicitation/i, after: ["Sources Sought"] },
  { name: "Combined Synopsis/Solicitation", words: /^combined/i, after: ["Presolicitation", "Sources Sought"] },
  { name: "Solicitation", words: /^solicitation/i, after: ["Presolicitation", "Sources Sought"] },
  {
    name: "Award Notice",
    words: /^award/i,
    after: ["Solicitation", "Combined Synopsis/Solicitation", "Presolicitation", "Sources Sought"],
  },
  { name: "Justification", words: /^justification/i, display: true },
  { name: "Special Notice", words: /^special notice/i, display: true },
  { name: "Sale of Surplus Property", words: /^sale of surplus/i, display: true },
  { name: "Consolidate/(Substantially) Bundle", words: /bundle/i, display: true },
];

/** By what a notice is known again, and its revisions. Here and below, what is blank or the word "null" is "". */
type Identity = {
  id: string;
  title: string;
  number: string;
  /** Activity address code of the office: a solicitation number is unique only within one. */
  officeCode: string;
  posted: string;
  baseType: string;
  awardNumber: string;
};

/** A notice, whatever layout it came in. */
type Notice = Identity & {
  organization: Organization;
  type: string;
  archiveDate: string;
  active: string;
  setAsides: string[];
  setAsideLabel: string;
  deadline: string;
  naics: string[];
  productCode: string;
  place: string[];
  amount: string;
  awardee: string;
  contacts: { name: string; email: string; phone: string; role: string }[];
  infoLink: string;
  /** These two are absent where the layout does not tell them: then what another one told holds. */
  resourceLinks?: string[];
  description?: string;
};

/** Absent: the layout does not tell it, or only the beginning of it is sure. */
type Organization = { agency?: string; subAgency?: string; office?: string };

type Found = { input: Input } & FoundObject;

async function* read(inputs: readonly Input[], context: FormatContext): AsyncIterable<Item> {
  const today = easternDate(context.now);
  let [count, total] = [0, 0];
  const around = (answer: unknown) => {
    total = Math.max(total, Number(textOf(objectOf(answer).totalRecords)));
  };
  for await (const found of noticesOf(inputs, around)) {
    count++;
    if (found.kind === "rejected") {
      yield { ...found, source: SOURCE };
      continue;
    }
    const { input, line, raw } = found;
    const notice = isAnswer(raw) ? noticeOfAnswer(raw) : noticeOfRow(raw);
    if (notice.id === "") yield { kind: "rejected", input, line, raw, reason: "NoticeId must not be blank", source: SOURCE };
    else {
      const record = toDraft(notice, today, context);
      const reconcile = (stored: Draft) => reconciled(notice, record, stored);
      yield { kind: "record", input, line, raw, record, partial: "omits", reconcile, version: { source: SOURCE, id: notice.id } };
    }
  }
  if (total > count) context.warn(`the search found ${total} notices, of which these files hold ${count}`);
}

/* The three layouts */

async function* noticesOf(inputs: readonly Input[], around?: Around): AsyncIterable<Found> {
  for (const input of inputs) for await (const found of naming(input, noticesIn(input, around))) yield { input, ...found };
}

async function* noticesIn(input: Input, around?: Around): AsyncIterable<FoundObject> {
  const first = await firstCharacter(input.bytes());
  if (first === "{") yield* jsonObjects(input.bytes(), "opportunitiesData", { around, faultOf: noticeFault });
  else if (first === "[") yield* jsonObjects(input.bytes(), "", { faultOf: noticeFault });
  else {
    const encoding = await encodingOf(input.bytes());
    for await (const { line, row } of csvRows(input.bytes(), COLUMNS, encoding)) yield { kind: "object", line, raw: row };
  }
}

function noticeFault(raw: JsonObject): string | undefined {
  return "NoticeId" in raw || isAnswer(raw) ? undefined : "has neither noticeId nor NoticeId";
}

function isAnswer(raw: JsonObject): boolean {
  return "noticeId" in raw;
}

function identityOf(raw: JsonObject): Identity {
  return isAnswer(raw) ? identityOfAnswer(raw) : identityOfRow(raw);
}

function identityOfRow(row: JsonObject): Identity {
  return {
    id: textOf(row.NoticeId),
    title: textOf(row.Title),
    number: textOf(row["Sol#"]),
    officeCode: textOf(row["AAC Code"]),
    posted: textOf(row.PostedDate),
    baseType: textOf(row.BaseType),
    awardNumber: textOf(row.AwardNumber),
  };
}

/** Of an office, the path of codes ends with the code that the CSV has in a column of its own; for others it has none. */
function identityOfAnswer(answer: JsonObject): Identity {
  return {
    id: textOf(answer.noticeId),
    title: textOf(answer.title),
    number: textOf(answer.solicitationNumber),
    officeCode: answer.organizationType === "OFFICE" ? (textOf(answer.fullParentPathCode).split(".").at(-1) ?? "") : "",
    posted: textOf(answer.postedDate),
    baseType: textOf(answer.baseType),
    awardNumber: textOf(objectOf(answer.award).number),
  };
}

function noticeOfRow(row: JsonObject): Notice {
  const text = (column: (typeof COLUMNS)[number]) => textOf(row[column]);
  const contact = (which: "Primary" | "Secondary") => ({
    name: text(`${which}ContactFullname`),
    email: text(`${which}ContactEmail`),
    phone: text(`${which}ContactPhone`),
    role: text(`${which}ContactTitle`) || which.toLowerCase(),
  });
  return {
    ...identityOfRow(row),
    organization: { agency: text("Department/Ind.Agency"), subAgency: text("Sub-Tier"), office: text("Office") },
    type: text("Type"),
    archiveDate: text("ArchiveDate"),
    active: text("Active"),
    setAsides: setAsideCodes(text("SetASideCode")),
    setAsideLabel: text("SetASide"),
    deadline: text("ResponseDeadLine"),
    naics: [text("NaicsCode")],
    productCode: text("ClassificationCode"),
    place: [text("PopCity"), text("PopState"), text("PopCountry")],
    amount: text("Award$"),
    awardee: text("Awardee"),
    contacts: [contact("Primary"), contact("Secondary")],
    infoLink: text("AdditionalInfoLink"),
    description: text("Description"),
  };
}

/** `description` there is an address to be called for the text. */
function noticeOfAnswer(answer: JsonObject): Notice {
  const place = objectOf(answer.placeOfPerformance);
  const award = objectOf(answer.award);
  return {
    ...identityOfAnswer(answer),
    organization: organizationOf(answer),
    type: textOf(answer.type),
    archiveDate: textOf(answer.archiveDate),
    active: textOf(answer.active),
    setAsides: setAsideCodes(textOf(answer.typeOfSetAside)),
    setAsideLabel: textOf(answer.typeOfSetAsideDescription),
    deadline: textOf(answer.responseDeadLine ?? answer.reponseDeadLine), // The documentation spells it so.
    naics: [answer.naicsCode, ...arrayOf(answer.naicsCodes)].map(textOf),
    productCode: textOf(answer.classificationCode),
    // The CSV has the same codes, so that both tell of one place in one way.
    place: [textOf(objectOf(place.city).name), textOf(objectOf(place.state).code), textOf(objectOf(place.country).code)],
    amount: textOf(award.amount),
    awardee: textOf(objectOf(award.awardee).name),
    contacts: arrayOf(answer.pointOfContact).map(objectOf).map(contactOf),
    infoLink: textOf(answer.additionalInfoLink),
    resourceLinks: arrayOf(answer.resourceLinks)
      .map(textOf)
      .filter((url) => url !== ""),
  };
}

/**
 * Path of names and path of codes, both split at dots. A name may hold a dot itself: then only its beginning is sure. The CSV names an
 * office also where a department or agency has published itself, and paths do not.
 */
function organizationOf(answer: JsonObject): Organization {
  const names = textOf(answer.fullParentPathName).split(".");
  const codes = textOf(answer.fullParentPathCode).split(".");
  if (names.length === codes.length && names[0] !== "") {
    const [agency = "", subAgency = ""] = names;
    return { agency, subAgency, ...(names.length >= 3 ? { office: names.at(-1) ?? "" } : {}) };
  }
  return told({ agency: names[0] || textOf(answer.department), subAgency: textOf(answer.subTier), office: textOf(answer.office) });
}

/** Without what is blank. */
function told(organization: Organization): Organization {
  return Object.fromEntries(Object.entries(organization).filter(([, name]) => name !== ""));
}

function contactOf(contact: JsonObject): Notice["contacts"][number] {
  return {
    name: textOf(contact.fullName ?? contact.fullname),
    email: textOf(contact.email),
    phone: textOf(contact.phone),
    role: textOf(contact.title) || textOf(contact.type),
  };
}

/** `SBA`, or now and then the list `["SBA"]`; `NONE` is none. */
function setAsideCodes(text: string): string[] {
  return (text.match(/[A-Za-z0-9]+/g) ?? []).filter((code) => code !== "NONE");
}

/* Versions */

/**
 * A changed notice comes under a new NoticeId (D-30). What it has in common with its revisions is solicitation number, office, and the
 * type that it began as; an award notice of its own has its contract number too, as one solicitation leads to many contracts.
 */
async function* versionsIn(inputs: readonly Input[]): AsyncIterable<Version> {
  for await (const found of noticesOf(inputs)) {
    if ("reason" in found) continue;
    const notice = identityOf(found.raw);
    if (notice.id !== "") yield versionOf(notice);
  }
}

export function versionOf(notice: Identity): Version {
  const { id, title, posted, baseType, awardNumber } = notice;
  const series = seriesOf(notice);
  if (series === undefined) return { source: SOURCE, id };
  const base = kindOf(baseType)?.name ?? baseType;
  const key = base === "Award Notice" ? `${series}|${base}|${squeezed(awardNumber)}` : `${series}|${base}`;
  return { source: SOURCE, id, facts: { key, series, title, posted: postedOf(posted) } };
}

/** Number and office; `undefined` where the number is blank, a placeholder or the office's own code. */
function seriesOf({ number, officeCode }: Identity): string | undefined {
  const [id, office] = [squeezed(number), squeezed(officeCode)];
  return id === office || PLACEHOLDER.test(id) ? undefined : `${id}|${office}`;
}

const PLACEHOLDER = /^(VARIOUS|MULTIPLE|TBD|N\/?A|NONE|UNKNOWN)?$/;

function postedOf(posted: string): string | null {
  return isDate(posted) ? posted : (readInstant(posted, "00:00:00") ?? null);
}

/** The opportunities that earlier kinds of notice of the same solicitation stand for, the nearest first. */
function parentsOf(series: string, key: string): string[] {
  const [base] = key.slice(series.length + 1).split("|");
  const earlier = KINDS.find(({ name }) => name === base)?.after ?? [];
  return earlier.map((name) => `${series}|${name}`);
}

/* The draft */

function toDraft(notice: Notice, today: string, context: FormatContext): Draft {
  const { description, organization } = notice;
  const kind = kindOf(notice.type);
  if (kind === undefined && notice.type !== "") context.warn(`unknown notice type "${notice.type}"`);
  const closes = instantOf(notice.deadline, "23:59:59", context);
  const status = statusOf(notice, kind, closes, today, context);
  return {
    source: { code: SOURCE, opportunity_id: notice.id, url: `https://sam.gov/opp/${notice.id}/view` },
    title: notice.title || notice.number || "Untitled",
    ...(description === undefined ? {} : { summary: summaryOf(description), description: description || null }),
    status,
    status_display: kind?.display === true ? notice.type : null,
    organization: {
      ...(organization.agency === undefined ? {} : { agency: organization.agency || null }),
      ...(organization.subAgency === undefined ? {} : { sub_agency: organization.subAgency || null }),
      ...(organization.office === undefined ? {} : { issuing_office: organization.office || null }),
    },
    program: {
      type: programType({ title: notice.title, number: notice.number, noticeType: kind?.name ?? notice.type }),
      solicitation_id: notice.number || null,
      solicitation_title: notice.title || null,
      contract_class: notice.type || null,
    },
    funding: fundingOf(notice),
    dates: { posted_at: instantOf(notice.posted, "00:00:00", context), closes_at: closes, response_at: closes },
    classifications: {
      tech_taxonomy: notice.productCode === "" ? [] : [`PSC:${notice.productCode}`],
      naics_codes: [...new Set(notice.naics)].filter((code) => code !== ""),
      set_aside_types: notice.setAsides,
    },
    eligibility: { requirements: requirementsOf(notice), geographic_scope: notice.place.filter(isPlace).join(", ") || null },
    contacts: notice.contacts.filter(({ name, email, phone }) => name + email + phone !== "").map(emptyToNull),
    attachments: [...(notice.resourceLinks ?? []).map((url) => ({ name: null, url })), ...infoLinkOf(notice)],
  };
}

const INFO_LINK = "Additional information";

function infoLinkOf({ infoLink }: Notice): { name: string; url: string }[] {
  return infoLink === "" ? [] : [{ name: INFO_LINK, url: infoLink }];
}

/** The CSV tells one NAICS code and no resource links, the API dates without times and awardees without their places. */
function reconciled(notice: Notice, draft: Draft, stored: Draft): Draft {
  const { naics_codes = [] } = stored.classifications ?? {};
  const others = (stored.attachments ?? []).filter(({ name }) => name !== INFO_LINK);
  const besideRevision = {
    ...draft,
    ...(notice.naics.length === 1 && naics_codes.includes(notice.naics[0] ?? "")
      ? { classifications: { ...draft.classifications, naics_codes } }
      : {}),
    ...(notice.resourceLinks === undefined ? { attachments: [...others, ...infoLinkOf(notice)] } : {}),
  };
  return stored.source.opportunity_id === notice.id ? besideItself(notice, besideRevision, stored) : besideRevision;
}

function besideItself(notice: Notice, draft: Draft, { dates = {}, funding }: Draft): Draft {
  const { posted_at, closes_at, response_at } = draft.dates ?? {};
  const display = draft.funding?.display ?? "";
  return {
    ...draft,
    dates: {
      posted_at: moreExact(notice.posted, posted_at, dates.posted_at),
      closes_at: moreExact(notice.deadline, closes_at, dates.closes_at),
      response_at: moreExact(notice.deadline, response_at, dates.response_at),
    },
    ...(display !== "" && funding?.display?.startsWith(`${display} `) ? { funding } : {}),
  };
}

/** What is stored, where a date alone was told and that is its day. */
function moreExact(text: string, told: string | null = null, stored: string | null = null): string | null {
  if (!isDate(text) || stored === null) return told;
  const at = parseInstantMs(stored);
  return stored.startsWith(text) || (at !== undefined && easternDate(at) === text) ? stored : told;
}

/** Award and justification say it themselves; all else follows the clock, but a presolicitation is not open before its deadline. */
function statusOf(notice: Notice, kind: Kind | undefined, closes: string | null, today: string, { now }: FormatContext): string | null {
  if (notice.active === "No" || (notice.archiveDate !== "" && notice.archiveDate < today)) return "archived";
  if (kind?.name === "Award Notice" || notice.awardNumber !== "" || notice.awardee !== "") return "awarded";
  if (kind?.name === "Justification") return "closed";
  const past = closes !== null && (parseInstantMs(closes) ?? 0) <= now;
  return kind?.name === "Presolicitation" && !past ? "pre_release" : null;
}

/** An award is no range that one may apply for, so it is text only. */
function fundingOf({ amount, awardee }: Notice): { display: string } | null {
  const dollars = dollarsOf(amount);
  if (dollars === undefined && awardee === "") return null;
  return { display: ["Awarded", dollars, awardee && `to ${awardee}`].filter(Boolean).join(" ") };
}

/** `800620.5` as `$800,620.50`; nothing for zero, which stands for an amount that is not told. */
function dollarsOf(amount: string): string | undefined {
  const [, whole = "", cents = ""] = /^\$?([\d,]{1,80})(?:\.(\d*))?$/.exec(amount) ?? [];
  const digits = whole.replaceAll(",", "").replace(/^0+(?=\d)/, "");
  const shown = `${digits.replace(/\B(?=(\d{3})+$)/g, ",")}.${cents.slice(0, 2).padEnd(2, "0")}`;
  return /[1-9]/.test(shown) ? `$${shown}` : undefined;
}

function requirementsOf({ setAsides, setAsideLabel }: Notice): string | null {
  return setAsides.length === 0 ? null : `Set-aside: ${setAsideLabel || setAsides.join(", ")}`;
}

function instantOf(text: string, timeOfDate: string, context: FormatContext): string | null {
  const instant = readInstant(text, timeOfDate);
  if (instant === undefined && text !== "") context.warn(`unreadable date "${text}"`);
  return instant ?? null;
}

/** Forms seen: `2026-04-24 23:24:04.649-04`, `2026-03-11T11:30:00-04:00`, both without offset (Eastern then), and a date alone. */
function readInstant(text: string, timeOfDate: string): string | undefined {
  const [, date = "", time = timeOfDate, offset] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d(?::?\d\d)?)?)?$/.exec(text) ?? [];
  const full = time.length === 5 ? `${time}:00` : time;
  const instant = offset === undefined ? easternInstant(date, full) : `${date}T${full}${fullOffset(offset)}`;
  return instant !== undefined && parseInstantMs(instant) !== undefined ? instant : undefined;
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}

function fullOffset(offset: string): string {
  const [, sign, hours, minutes = "00"] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? [];
  return sign === undefined ? "Z" : `${sign}${hours}:${minutes}`;
}

function kindOf(type: string): Kind | undefined {
  return KINDS.find(({ words }) => words.test(type));
}

/** Codes such as `0` stand for a city that is not told. */
function isPlace(text: string): boolean {
  return /\p{L}/u.test(text);
}

function squeezed(text: string): string {
  return text.toUpperCase().replace(/\s+/g, "");
}

function emptyToNull(contact: Notice["contacts"][number]) {
  const { name, email, phone, role } = contact;
  return { name: name || null, email: email || null, phone: phone || null, role: role || null };
}
