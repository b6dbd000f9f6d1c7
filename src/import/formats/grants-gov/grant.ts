/** A grant with the fields of all layouts of Grants.gov and Simpler.Grants.gov, and its draft. */

import { easternDate, easternInstant, endOfEasternDate, writtenDate } from "../../../text/eastern.ts";
import { type EpochMs, isDate } from "../../../text/instant.ts";
import { textOf } from "../../../text/json-value.ts";
import { decodeEntities, plainText, summaryOf } from "../../../text/plain-text.ts";
import type { Draft, FormatContext } from "../../format.ts";
import { programType } from "../../program-type.ts";
import { distinct, joined } from "../items.ts";
import type { Coded } from "./codes.ts";
import { contactsOf, type StatedContact } from "./contacts.ts";

type Warn = FormatContext["warn"];

/** Texts and dates are as the upstream has them. The dates of a forecast are estimates. */
const noTexts = {
  opportunityNumber: "",
  title: "",
  agency: "",
  subAgency: "",
  category: "",
  categoryNote: "",
  activitiesNote: "",
  eligibility: "",
  postDate: "",
  openDate: "",
  closeDate: "",
  closeDateExplanation: "",
  archiveDate: "",
  awardFloor: "",
  awardCeiling: "",
  totalFunding: "",
  expectedAwards: "",
  awardDate: "",
  startDate: "",
  fiscalYear: "",
  description: "",
};

export type Grant = typeof noTexts & {
  source: string;
  id: string;
  url: string | null;
  /** The upstream's own status. Archive and close dates may override it. */
  status: "forecast" | "posted" | "closed" | "archived";
  agencyCode?: string;
  instruments: readonly Coded[];
  activities: readonly Coded[];
  assistanceListings: readonly { number: string; title: string }[];
  applicants: readonly Coded[];
  costSharing: "Yes" | "No" | "";
  contact: StatedContact;
  attachments: readonly { name: string; url: string; kind?: string; size?: number | null }[];
};

export const emptyGrant: Omit<Grant, "source" | "id" | "status"> = {
  ...noTexts,
  url: null,
  instruments: [],
  activities: [],
  assistanceListings: [],
  applicants: [],
  costSharing: "",
  contact: { name: "", email: "", phone: "", text: "" },
  attachments: [],
};

/** The agency, and the part of it that is named separately. */
export function agenciesOf(top: string, agency: string): Pick<Grant, "agency" | "subAgency"> {
  return { agency: top || agency, subAgency: agency === top || top === "" ? "" : agency };
}

/** The draft of a grant. Warns of dates and amounts that cannot be read. */
export function draftOfGrant(grant: Grant, { warn }: FormatContext): Draft {
  const { instruments, opportunityNumber, assistanceListings, activities } = grant;
  const name = oneLine(grant.title);
  const title = name || opportunityNumber || "Untitled";
  const type = programType({ title, number: opportunityNumber, instruments: instruments.map(({ code }) => code) });
  const [note, eligibility] = [grant.closeDateExplanation, grant.eligibility].map(plainText) as [string, string];
  const requirements = [
    grant.applicants.map(({ label }) => label).join("; "),
    NO_NOTE.test(eligibility) ? "" : eligibility,
    grant.costSharing && `Cost sharing or matching required: ${grant.costSharing}`,
  ];
  const keywords = [
    ...[grant.category, plainText(grant.categoryNote)],
    ...[...activities.map(({ label }) => label), plainText(grant.activitiesNote)],
    ...assistanceListings.map(({ title }) => title),
  ];
  const codes = [...activities.map(({ code }) => `FAC:${code}`), ...assistanceListings.map(({ number }) => number && `ALN:${number}`)];
  return {
    source: { code: grant.source, opportunity_id: grant.id, url: grant.url },
    title,
    summary: summaryOf(grant.description),
    description: grant.description || null,
    ...grantStatus(grant, warn),
    organization: { agency: oneLine(grant.agency) || null, sub_agency: oneLine(grant.subAgency) || null },
    program: {
      type: type === "OTHER" && instruments.length === 0 ? null : type, // As for search hits: only the title tells it.
      solicitation_id: opportunityNumber || null,
      solicitation_title: name || null,
      contract_class: instruments.map(({ label }) => label).join("; ") || null,
    },
    funding: fundingOf(grant, warn),
    dates: {
      posted_at: dateOf(grant, grant.postDate, "00:00:00", warn),
      opens_at: dateOf(grant, grant.openDate, "00:00:00", warn),
      closes_at: dateOf(grant, grant.closeDate, "23:59:59", warn),
    },
    classifications: { keywords: saying(keywords), tech_taxonomy: saying(codes) },
    eligibility: { requirements: joined(requirements, "\n") },
    deadline_note: NO_NOTE.test(note) ? undefined : note,
    contacts: contactsOf(grant.contact),
    attachments: attachmentsOf(grant),
    applicant_types: grant.applicants.length > 0 ? distinct(grant.applicants.map(({ code }) => code)) : undefined,
    agency_codes: grant.agencyCode ? [grant.agencyCode] : undefined,
  };
}

function grantStatus(grant: Grant, warn: Warn): Pick<Draft, "status" | "status_display" | "archives_at"> {
  const { status, archiveDate } = grant;
  if (status === "archived") return { status };
  const hasArchiveDate = dateOf(grant, archiveDate, "00:00:00", warn) !== null;
  const archives_at = hasArchiveDate ? endOfEasternDate(writtenDate(archiveDate)) : undefined;
  if (status === "posted") return { archives_at };
  return { status, status_display: status === "closed" ? "Closed" : "Forecasted", archives_at };
}

/** Whether a date has passed in Eastern time; false for any other text. */
export function isOver(text: string, now: EpochMs): boolean {
  const date = writtenDate(text);
  return isDate(date) && date < easternDate(now);
}

function dateOf({ id }: Grant, text: string, time: string, warn: Warn): string | null {
  if (text === "") return null;
  const date = writtenDate(text);
  const instant = easternInstant(date, time);
  if (instant === undefined) warn(`Opportunity ${id} has a date that does not exist, ${date}: it is left out`);
  return instant ?? null;
}

function fundingOf(grant: Grant, warn: Warn): NonNullable<Draft["funding"]> | null {
  const [floor, ceiling, total, awards] = [grant.awardFloor, grant.awardCeiling, grant.totalFunding, grant.expectedAwards].map((text) =>
    amountOf(text, grant.id, warn),
  );
  const unlessZero = (amount: string | undefined) => (amount === "0.00" ? undefined : amount);
  // A ceiling of zero means that none is stated, and so does a floor of zero without a ceiling.
  const amount_max = unlessZero(ceiling);
  const least = unlessZero(floor);
  const amount_min = amount_max === undefined ? least : floor;
  const [sum, count] = [total, awards].map(unlessZero);
  const display = [
    amount_max === undefined ? least && `At least ${dollars(least)} per award` : `Up to ${dollars(amount_max)} per award`,
    sum && `${dollars(sum)} total`,
    count && `${dollars(count).slice(1)} ${/^1(\.0+)?$/.test(count) ? "award" : "awards"} expected`,
    grant.fiscalYear && `fiscal year ${grant.fiscalYear}`,
    grant.awardDate && `awards estimated for ${writtenDate(grant.awardDate)}`,
    grant.startDate && `projects estimated to start on ${writtenDate(grant.startDate)}`,
  ].filter(Boolean);
  if (amount_min === undefined && amount_max === undefined && display.length === 0) return null;
  return { currency: "USD", amount_min: amount_min ?? null, amount_max: amount_max ?? null, display: display.join("; ") || null };
}

const AMOUNT_MAX = 100;

/** With two decimals, never as a float (D-36). Undefined if none is stated. */
function amountOf(text: string, id: string, warn: Warn): string | undefined {
  const digits = text.replace(/[$,\s]/g, "");
  if (digits === "" || /^(none|notavailable|n\/a)$/i.test(digits)) return undefined;
  const [, whole = "", cents = ""] = (digits.length <= AMOUNT_MAX && /^0*(\d{1,20})(?:\.(\d{1,2}))?$/.exec(digits)) || [];
  if (whole !== "") return `${whole}.${cents.padEnd(2, "0")}`;
  warn(`Opportunity ${id} has an amount that is not a number, "${text}": it is left out`);
  return undefined;
}

function dollars(amount: string): string {
  return `$${amount.replace(/\.00$/, "").replace(/\B(?=(\d{3})+(?!\d))/g, ",")}`;
}

/** What forms put into an empty field. */
const NO_NOTE = /^(undefined|no explanation|none|n\/?a|not available|null)?\.?$/i;

function attachmentsOf({ attachments }: Grant): NonNullable<Draft["attachments"]> {
  return attachments
    .filter(({ url }) => /^https?:\/\//i.test(url) && URL.canParse(url))
    .map(({ name, url, kind = "", size = null }) => ({
      name: plainText(name) || null,
      url,
      kind: kind || undefined,
      size: size ?? undefined,
    }));
}

/** A file without its address. Its name is followed by the description, if that adds anything. */
export function fileOfGrant(name: unknown, description: unknown, kind: string, size: unknown): Omit<Grant["attachments"][number], "url"> {
  return {
    name: distinct([textOf(name), textOf(description)]).join(": "),
    kind,
    size: typeof size === "number" && Number.isSafeInteger(size) && size >= 0 ? size : null,
  };
}

function oneLine(text: string): string {
  return decodeEntities(text)
    .replace(/\s{2,}|[^\S ]/g, " ")
    .trim();
}

function saying(texts: readonly string[]): string[] {
  return distinct(texts).filter((text) => !NO_NOTE.test(text));
}
