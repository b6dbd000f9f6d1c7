/** A grant opportunity with the fields of all layouts of Grants.gov and Simpler.Grants.gov, and its draft. */

import { easternDate, easternInstant, endOfEasternDate } from "../../../text/eastern.ts";
import type { EpochMs } from "../../../text/instant.ts";
import { isDate } from "../../../text/instant.ts";
import { textOf } from "../../../text/json-value.ts";
import { decodeEntities, plainText, summaryOf } from "../../../text/plain-text.ts";
import type { FormatContext } from "../../format.ts";
import { programType } from "../../program-type.ts";
import type { Draft } from "../../record.ts";
import { distinct, joined } from "../items.ts";
import type { Coded } from "./codes.ts";
import { contactsOf, type StatedContact } from "./contacts.ts";

/** A grant without any texts. Texts are as the upstream has them, dates like `2026-07-31`. The dates of a forecast are estimates. */
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
  /** The upstream's own status, if the layout has one. Archive and close dates may override it. */
  status: "forecast" | "posted" | "closed" | "archived";
  /** The code of the agency, such as `HHS-NIH11`. Undefined if the layout has none. */
  agencyCode?: string;
  instruments: readonly Coded[];
  activities: readonly Coded[];
  assistanceListings: readonly { number: string; title: string }[];
  applicants: readonly Coded[];
  costSharing: "Yes" | "No" | "";
  contact: StatedContact;
  attachments: readonly { name: string; url: string; kind?: string; size?: number | null }[];
};

/** A grant without any values, for the fields that a layout lacks. */
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
export function draftOfGrant(grant: Grant, context: FormatContext): Draft {
  const { warn } = context;
  const title = oneLine(grant.title) || grant.opportunityNumber || "Untitled";
  return {
    source: { code: grant.source, opportunity_id: grant.id, url: grant.url },
    title,
    summary: summaryOf(grant.description),
    description: grant.description || null,
    ...grantStatus(grant, context),
    organization: { agency: oneLine(grant.agency) || null, sub_agency: oneLine(grant.subAgency) || null },
    program: programOf(grant, title),
    funding: fundingOf(grant, warn),
    dates: {
      posted_at: dateOf(grant, grant.postDate, "00:00:00", warn),
      opens_at: dateOf(grant, grant.openDate, "00:00:00", warn),
      closes_at: dateOf(grant, grant.closeDate, "23:59:59", warn),
    },
    classifications: classificationsOf(grant),
    eligibility: { requirements: requirementsOf(grant) },
    ...deadlineNoteOf(grant),
    contacts: contactsOf(grant.contact),
    attachments: attachmentsOf(grant),
    ...(grant.applicants.length > 0 ? { applicant_types: distinct(grant.applicants.map(({ code }) => code)) } : {}),
    ...(grant.agencyCode ? { agency_codes: [grant.agencyCode] } : {}),
  };
}

/** The status text is left out if it would become outdated, or if an archive date already implies it. */
function grantStatus(grant: Grant, { warn }: FormatContext): Pick<Draft, "status" | "status_display" | "archives_at"> {
  const { status, archiveDate } = grant;
  if (status === "archived") return { status };
  const archives = dateOf(grant, archiveDate, "00:00:00", warn) === null ? {} : { archives_at: endOfEasternDate(archiveDate) ?? null };
  if (status === "closed") return { status, status_display: "Closed", ...archives };
  return status === "forecast" ? { status, status_display: "Forecasted", ...archives } : archives;
}

/** Whether a date such as `2026-07-31` has passed in Eastern time; false for any other text. */
export function isOver(date: string, now: EpochMs): boolean {
  return isDate(date) && date < easternDate(now);
}

function programOf(grant: Grant, title: string): NonNullable<Draft["program"]> {
  return {
    type: typeOf(grant, title),
    solicitation_id: grant.opportunityNumber || null,
    solicitation_title: oneLine(grant.title) || null,
    contract_class: grant.instruments.map(({ label }) => label).join("; ") || null,
  };
}

/** Without a funding instrument, as in search hits, only the title counts: the type is unknown rather than OTHER. */
function typeOf({ opportunityNumber, instruments }: Grant, title: string): string | null {
  const type = programType({ title, number: opportunityNumber, instruments: instruments.map(({ code }) => code) });
  return type === "OTHER" && instruments.length === 0 ? null : type;
}

function dateOf({ id }: Grant, date: string, time: string, warn: FormatContext["warn"]): string | null {
  if (date === "") return null;
  const instant = easternInstant(date, time);
  if (instant === undefined) warn(`Opportunity ${id} has a date that does not exist, ${date}: it is left out`);
  return instant ?? null;
}

function fundingOf(grant: Grant, warn: FormatContext["warn"]): NonNullable<Draft["funding"]> | null {
  const [floor, ceiling, total, awards] = [grant.awardFloor, grant.awardCeiling, grant.totalFunding, grant.expectedAwards].map((text) =>
    amountOf(text, grant.id, warn),
  );
  // A ceiling of zero means that none is stated, and so does a floor of zero without a ceiling.
  const amount_max = isZero(ceiling) ? undefined : ceiling;
  const amount_min = amount_max === undefined && isZero(floor) ? undefined : floor;
  const display = [
    amount_max === undefined
      ? amount_min && !isZero(amount_min) && `At least ${dollars(amount_min)} per award`
      : `Up to ${dollars(amount_max)} per award`,
    total && !isZero(total) && `${dollars(total)} total`,
    awards && !isZero(awards) && `${dollars(awards).slice(1)} ${/^1(\.0+)?$/.test(awards) ? "award" : "awards"} expected`,
    grant.fiscalYear && `fiscal year ${grant.fiscalYear}`,
    grant.awardDate && `awards estimated for ${grant.awardDate}`,
    grant.startDate && `projects estimated to start on ${grant.startDate}`,
  ].filter(Boolean);
  if (amount_min === undefined && amount_max === undefined && display.length === 0) return null;
  return { currency: "USD", amount_min: amount_min ?? null, amount_max: amount_max ?? null, display: display.join("; ") || null };
}

/** Most characters of an amount (D-36). */
const AMOUNT_MAX = 100;

/** An amount with two decimals, without converting it to a float (D-36). Undefined if none is stated. */
function amountOf(text: string, id: string, warn: FormatContext["warn"]): string | undefined {
  const digits = text.replace(/[$,\s]/g, "");
  if (digits === "" || /^(none|notavailable|n\/a)$/i.test(digits)) return undefined;
  const [, whole = "", cents = ""] = (digits.length <= AMOUNT_MAX && /^0*(\d{1,20})(?:\.(\d{1,2}))?$/.exec(digits)) || [];
  if (whole !== "") return `${whole}.${cents.padEnd(2, "0")}`;
  warn(`Opportunity ${id} has an amount that is not a number, "${text}": it is left out`);
  return undefined;
}

function isZero(amount: string | undefined): boolean {
  return amount !== undefined && /^0\.00$/.test(amount);
}

function dollars(amount: string): string {
  return `$${amount.replace(/\.00$/, "").replace(/\B(?=(\d{3})+(?!\d))/g, ",")}`;
}

/** Matches notes that say nothing: blanks, and the words that forms put into an empty field. */
const NO_NOTE = /^(undefined|no explanation|none|n\/?a|not available|null)?\.?$/i;

function deadlineNoteOf({ closeDateExplanation }: Grant): Pick<Draft, "deadline_note"> {
  const note = plainText(closeDateExplanation);
  return NO_NOTE.test(note) ? {} : { deadline_note: note };
}

function requirementsOf({ applicants, eligibility, costSharing }: Grant): string | null {
  const text = plainText(eligibility);
  const parts = [
    applicants.map(({ label }) => label).join("; "),
    NO_NOTE.test(text) ? "" : text,
    costSharing && `Cost sharing or matching required: ${costSharing}`,
  ];
  return joined(parts, "\n");
}

function classificationsOf(grant: Grant): NonNullable<Draft["classifications"]> {
  const { category, categoryNote, activities, activitiesNote, assistanceListings } = grant;
  const labels = activities.map(({ label }) => label);
  const titles = assistanceListings.map(({ title }) => title);
  return {
    keywords: saying([category, plainText(categoryNote), ...labels, plainText(activitiesNote), ...titles]),
    tech_taxonomy: saying([
      ...activities.map(({ code }) => `FAC:${code}`),
      ...assistanceListings.map(({ number }) => (number === "" ? "" : `ALN:${number}`)),
    ]),
  };
}

function attachmentsOf({ attachments }: Grant): NonNullable<Draft["attachments"]> {
  return attachments
    .filter(({ url }) => /^https?:\/\//i.test(url) && URL.canParse(url))
    .map(({ name, url, kind = "", size = null }) => ({
      name: plainText(name) || null,
      url,
      ...(kind === "" ? {} : { kind }),
      ...(size === null ? {} : { size }),
    }));
}

/** A file without its address. The name is followed by the description, if that adds anything. */
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

/** The distinct texts that are not empty. */
function saying(texts: readonly string[]): string[] {
  return distinct(texts).filter((text) => !NO_NOTE.test(text));
}
