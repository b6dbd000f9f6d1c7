/** What a record cannot say at the instant of reading: one rule a row. */
import { agencyCodeOf } from "../filter/columns.ts";
import { contradictions, isBefore } from "../opportunities/contradictions.ts";
import { dueOf } from "../opportunities/due.ts";
import { isTest } from "../opportunities/obstacle.ts";
import type { WholeOpportunity } from "../opportunities/opportunity.ts";
import { unendedStatuses } from "../opportunities/status.ts";
import { DAY_MS, type EpochMs, parseInstantMs } from "../text/instant.ts";

/** `says` completes "records whose …". */
type DataRule = { name: string; says: string; breaks: (record: WholeOpportunity, now: EpochMs) => boolean };

const TEN_YEARS_MS = 3653 * DAY_MS;
/** DSIP's of 1983 are the oldest. */
const EARLIEST = Date.UTC(1980, 0, 1);

export const dataRules: readonly DataRule[] = [
  { name: "empty_title", says: "title has no letter or digit", breaks: ({ title }) => !/[\p{L}\p{N}]/u.test(title) },
  { name: "test_record", says: "title or number marks a test", breaks: isTest },
  { name: "markup_in_title", says: "title has HTML", breaks: ({ title }) => /<\/?[a-z][^<>]*>|&(?:[a-z]+|#\d+);/i.test(title) },
  { name: "broken_text", says: "text was decoded wrongly", breaks: hasBrokenText },
  contradiction("unknown_status"),
  { name: "unknown_agency", says: "agency is not in the table of agencies", breaks: hasUnknownAgency },
  { name: "past_due", says: "status says that it can be applied for after its due date", breaks: isPastDue },
  { name: "due_before_posted", says: "responses are due before it was posted, and it is no award", breaks: isDueBeforePosted },
  contradiction("closes_before_opens"),
  contradiction("due_after_expiry"),
  { name: "posted_ahead", says: "posting lies in the future", breaks: isPostedAhead },
  { name: "far_date", says: "dates lie more than ten years ahead", breaks: hasFarDate },
  { name: "early_date", says: "dates lie before 1980", breaks: (record) => instantsOf(record).some((at) => at < EARLIEST) },
  { name: "min_over_max", says: "smallest award is larger than the largest", breaks: isMinOverMax },
  { name: "negative_amount", says: "award is negative", breaks: isNegative },
  { name: "web_address", says: "page has no web address", breaks: hasBadAddress },
  { name: "email_address", says: "contact has no e-mail address where there should be one", breaks: hasBadEmail },
  {
    name: "naics_code",
    says: "NAICS codes do not have two to six digits",
    breaks: ({ classifications }) => !classifications.naics_codes.every((code) => /^\d{2,6}$/.test(code)),
  },
];

/** Bytes that were no text; UTF-8 that was read as Windows-1252. */
function hasBrokenText({ title, summary, description }: WholeOpportunity): boolean {
  return [title, summary, description].some((text) => text !== null && /\uFFFD|â€[™œ\u009d“”˜]|Ã[©¨¡±³¼]/.test(text));
}

function hasUnknownAgency(opportunity: WholeOpportunity): boolean {
  const { agency, sub_agency } = opportunity.organization;
  if (agency === null && sub_agency === null && opportunity.sidecar.agency_codes.length === 0) return false; // Not filled.
  return agencyCodeOf(opportunity) === null;
}

function isPastDue(opportunity: WholeOpportunity, now: EpochMs): boolean {
  const due = parseInstantMs(dueOf(opportunity, now, []).at);
  return unendedStatuses.includes(opportunity.status) && due !== undefined && due <= now;
}

function isDueBeforePosted({ status, dates }: WholeOpportunity): boolean {
  return status !== "awarded" && [dates.closes_at, dates.response_at].some((due) => isBefore(due, dates.posted_at));
}

function isPostedAhead({ status, dates }: WholeOpportunity, now: EpochMs): boolean {
  return status !== "forecast" && status !== "pre_release" && (parseInstantMs(dates.posted_at) ?? now) > now + DAY_MS;
}

function isMinOverMax({ funding }: WholeOpportunity): boolean {
  const [min, max] = [funding?.amount_min ?? null, funding?.amount_max ?? null];
  return min !== null && max !== null && Number(min) > Number(max) && Number(max) !== 0; // Grants.gov writes 0 for no ceiling.
}

function isNegative({ funding }: WholeOpportunity): boolean {
  return [funding?.amount_min, funding?.amount_max].some((amount) => amount?.startsWith("-"));
}

function hasBadAddress({ source: { url } }: WholeOpportunity): boolean {
  return url !== null && !/^https?:\/\/[^\s/]+\.\S+$/i.test(url);
}

function hasFarDate(record: WholeOpportunity, now: EpochMs): boolean {
  return instantsOf(record).some((at) => at > now + TEN_YEARS_MS);
}

function hasBadEmail({ contacts }: WholeOpportunity): boolean {
  return contacts.some(({ email }) => email !== null && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email));
}

/** Imports warn of contradictions, too. */
function contradiction(wanted: (typeof contradictions)[number]["name"]): DataRule {
  const { name, says, breaks } = contradictions.find(({ name }) => name === wanted) ?? contradictions[0];
  return { name, says, breaks: (record) => breaks({ ...record, ...record.sidecar }) };
}

function instantsOf({ dates, sidecar }: WholeOpportunity): EpochMs[] {
  return [...Object.values(dates), ...sidecar.due_dates.map(({ at }) => at)].map(parseInstantMs).filter((at) => at !== undefined);
}
