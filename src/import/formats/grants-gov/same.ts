/** Values that the layouts of Grants.gov and its successor spell differently: the stored one stays, so nothing changes. (E-9, E-72) */
import { normalForm } from "../../../agencies/names.ts";
import { resolveAgency } from "../../../agencies/resolve.ts";
import { decodeEntities } from "../../../text/plain-text.ts";
import { hasSameItems } from "../../../text/same-items.ts";
import type { Draft } from "../../format.ts";
import { saysTheSame } from "../items.ts";

type Layout = {
  /** The titles of its assistance listings, which are keywords. Most layouts have only numbers. */
  titles: readonly string[];
  hasFiles: boolean;
  /** Whether it has competitions, whose closings are due dates. */
  hasCompetitions: boolean;
};

/** The draft with the stored values that mean the same, or that its layout lacks. */
export function keepSame(draft: Draft, stored: Draft, layout: Layout): Draft {
  const { classifications = {}, eligibility = {}, program = {}, organization = {}, contacts = [], dates = {} } = draft;
  const { requirements = null } = eligibility;
  const known = stored.eligibility?.requirements ?? null;
  const [given, closes_at] = [dates.closes_at ?? null, stored.dates?.closes_at ?? null];
  const keepsDates = !layout.hasCompetitions && (stored.due_dates ?? []).length > 0 && (given === null || given === closes_at);
  return {
    ...draft,
    ...(isSameText(draft.description, stored.description) ? { description: stored.description, summary: stored.summary ?? null } : {}),
    organization: sameOrganization(organization, stored.organization),
    program: { ...program, contract_class: sameList(program.contract_class, stored.program?.contract_class) },
    funding: sameFunding(draft.funding ?? null, stored.funding ?? null),
    dates: { ...dates, ...samePosting(draft, stored), ...(keepsDates ? { closes_at: stored.dates?.closes_at ?? null } : {}) },
    ...(keepsDates ? { due_dates: stored.due_dates ?? [] } : {}),
    classifications: {
      ...classifications,
      keywords: sameKeywords(draft, stored, layout),
      tech_taxonomy: sameSet(classifications.tech_taxonomy, stored.classifications?.tech_taxonomy),
    },
    eligibility: {
      ...eligibility,
      requirements: requirements !== null && linesOf(requirements) === linesOf(known ?? "") ? known : requirements,
    },
    contacts: wordsIn(contacts) === wordsIn(stored.contacts ?? []) ? (stored.contacts ?? []) : contacts,
    attachments: sameAttachments(draft.attachments ?? [], stored.attachments ?? [], layout),
    ...(draft.applicant_types && { applicant_types: sameSet(draft.applicant_types, stored.applicant_types) }),
  };
}

type Organization = NonNullable<Draft["organization"]>;

/** The stored names, if of the same agency: only some layouts have the department above it. */
export function sameOrganization(given: Organization, stored: Organization = {}): Organization {
  const hasTops = given.sub_agency != null && stored.sub_agency != null;
  return isSameAgency(ownName(given), ownName(stored)) && (!hasTops || isSameAgency(given.agency, stored.agency)) ? stored : given;
}

function ownName({ agency, sub_agency }: Organization): string | null | undefined {
  return sub_agency ?? agency;
}

/** Two names differ only in style, or mean one agency of the table (E-59). A renamed agency has no code: it is a change. */
function isSameAgency(one: string | null | undefined, other: string | null | undefined): boolean {
  if (one == null || other == null) return one === other;
  if (normalForm(one) === normalForm(other)) return true;
  const [code, otherCode] = [one, other].map((agency) => resolveAgency({ codes: [], agency, sub_agency: null, issuing_office: null }));
  return code != null && code === otherCode;
}

/** Whether two texts are equal but for mark-up, entities and blanks. Where a link leads is not mark-up. */
export function isSameText(one: string | null | undefined, other: string | null | undefined): other is string {
  return saysTheSame(one, other) && targetsIn(one ?? "") === targetsIn(other);
}

function targetsIn(text: string): string {
  return [...decodeEntities(text).matchAll(/\bhref\s*=\s*["']?([^"'\s>]+)/gi)].map(([, target]) => target).join("\n");
}

/** A posting date is never removed. */
function samePosting({ status, dates: { posted_at = null, opens_at = null } = {} }: Draft, { dates = {} }: Draft): Draft["dates"] {
  if (posted_at !== null) return {};
  return { posted_at: dates.posted_at ?? null, opens_at: status === "forecast" ? opens_at : (opens_at ?? dates.opens_at ?? null) };
}

type Funding = NonNullable<Draft["funding"]>;

/** With a ceiling, a floor of zero is none; without one, no layout has it. */
function sameFunding(given: Funding | null, stored: Funding | null): Funding | null {
  if (given === null || stored === null || given.amount_max == null || given.amount_max !== stored.amount_max) return given;
  const isNone = ({ amount_min = null }: Funding) => amount_min === null || /^0\.00$/.test(amount_min);
  return isNone(given) && isNone(stored) ? { ...given, amount_min: stored.amount_min ?? null } : given;
}

/* Lists come in any order. */

function sameSet(given: readonly string[] = [], stored: readonly string[] = []): string[] {
  return [...(hasSameItems(given, stored) ? stored : given)];
}

function sameList(given: string | null | undefined, stored: string | null | undefined): string | null {
  return given != null && stored != null && hasSameItems(given.split("; "), stored.split("; ")) ? stored : (given ?? null);
}

function linesOf(text: string): string {
  return text
    .split("\n")
    .map((line) => line.split("; ").sort().join("; "))
    .join("\n");
}

/** Without labels, because layouts split contacts in different ways. */
function wordsIn(contacts: NonNullable<Draft["contacts"]>): string {
  const texts = contacts.flatMap(({ name, email, phone }) => [name, email, phone]);
  const found = texts.flatMap((text) => (text ?? "").toLowerCase().split(/[\s,;:()]+|\.(?=\s|$)/));
  return [...new Set(found.filter((word) => !LABEL.test(word)))].sort().join(" ");
}

const LABEL = /^(?:(?:tele)?phone|number|e-?mail|address)?$/;

/** Titles of listings come last. Layouts without titles leave them, others add none where there were none. */
function sameKeywords(draft: Draft, stored: Draft, { titles }: Layout): string[] {
  const [given, known] = [draft.classifications?.keywords ?? [], stored.classifications?.keywords ?? []];
  if (hasSameItems(given, known)) return known;
  const listings = ({ classifications }: Draft) => (classifications?.tech_taxonomy ?? []).filter((code) => code.startsWith("ALN:"));
  if (!hasSameItems(listings(draft), listings(stored))) return given;
  const others = given.filter((word) => !titles.includes(word));
  const keeps = titles.length === 0 ? hasSameItems(others, known.slice(0, others.length)) : hasSameItems(others, known);
  return keeps ? known : given;
}

/* Attachments */

type Attachment = NonNullable<Draft["attachments"]>[number];

const LEGACY_FILE = "https://apply07.grants.gov/grantsws/rest/opportunity/att/download/";
const FILE = "https://files.simpler.grants.gov/opportunities/";

function sameAttachments(given: readonly Attachment[], stored: readonly Attachment[], { hasFiles }: Layout): Attachment[] {
  const known = given.map((each) => stored.find((other) => isSameLink(each, other) || isSameFile(each, other)) ?? each);
  const all = hasFiles ? known : [...known, ...stored.filter(({ url }) => url?.startsWith(LEGACY_FILE) || url?.startsWith(FILE))];
  const isKept = all.length === stored.length && stored.every((each) => all.includes(each));
  return isKept ? [...stored] : all;
}

/** Copies of the extract lack the words of some links, and copies of details the sizes of some files. */
function isSameLink(given: Attachment, stored: Attachment): boolean {
  const differ = (one: unknown, other: unknown) => one != null && other != null && one !== other;
  return (
    given.url === stored.url && !differ(given.name, stored.name) && !differ(given.kind, stored.kind) && !differ(given.size, stored.size)
  );
}

/** Grants.gov's own addresses say nothing about a file: it is known by name and size. */
function isSameFile(given: Attachment, { name, url, size = null }: Attachment): boolean {
  const isOfBoth = url?.startsWith(LEGACY_FILE) === true && given.url?.startsWith(FILE) === true;
  return isOfBoth && foldedName(given.name) === foldedName(name) && (size === null || (given.size ?? size) === size);
}

function foldedName(name: string | null | undefined): string {
  return (name?.split(": ", 1)[0] ?? "").replace(/\s/g, "_").replace(/[^A-Za-z0-9_.~-]/g, "");
}
