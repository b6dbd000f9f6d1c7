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
/** No source has older records than DSIP's of 1983. */
const EARLIEST = Date.UTC(1980, 0, 1);

export const dataRules: readonly DataRule[] = [
  rule("empty_title", "title has no letter or digit", ({ title }) => !/[\p{L}\p{N}]/u.test(title)),
  rule("test_record", "title or number marks a test", isTest),
  rule("markup_in_title", "title has HTML", ({ title }) => /<\/?[a-z][^<>]*>|&(?:[a-z]+|#\d+);/i.test(title)),
  // U+FFFD replaces bytes that could not be decoded. The other characters appear when UTF-8 is read as Windows-1252.
  rule("broken_text", "text was decoded wrongly", ({ title, summary, description }) =>
    [title, summary, description].some((text) => text !== null && /\uFFFD|â€[™œ\u009d“”˜]|Ã[©¨¡±³¼]/.test(text)),
  ),
  contradiction("unknown_status"),
  rule("unknown_agency", "agency is not in the table of agencies", hasUnknownAgency),
  rule("past_due", "status says that it can be applied for after its due date", isPastDue),
  rule(
    "due_before_posted",
    "responses are due before it was posted, and it is no award",
    ({ status, dates }) => status !== "awarded" && [dates.closes_at, dates.response_at].some((due) => isBefore(due, dates.posted_at)),
  ),
  contradiction("closes_before_opens"),
  contradiction("due_after_expiry"),
  rule(
    "posted_ahead",
    "posting lies in the future",
    ({ status, dates }, now) =>
      status !== "forecast" && status !== "pre_release" && (parseInstantMs(dates.posted_at) ?? now) > now + DAY_MS,
  ),
  rule("far_date", "dates lie more than ten years ahead", (record, now) => instantsOf(record).some((at) => at > now + TEN_YEARS_MS)),
  rule("early_date", "dates lie before 1980", (record) => instantsOf(record).some((at) => at < EARLIEST)),
  rule("min_over_max", "smallest award is larger than the largest", isMinOverMax),
  rule("negative_amount", "award is negative", ({ funding }) =>
    [funding?.amount_min, funding?.amount_max].some((amount) => amount?.startsWith("-")),
  ),
  rule("web_address", "page has no web address", ({ source: { url } }) => url !== null && !/^https?:\/\/[^\s/]+\.\S+$/i.test(url)),
  rule("email_address", "contact has no e-mail address where there should be one", ({ contacts }) =>
    contacts.some(({ email }) => email !== null && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)),
  ),
  rule(
    "naics_code",
    "NAICS codes do not have two to six digits",
    ({ classifications }) => !classifications.naics_codes.every((code) => /^\d{2,6}$/.test(code)),
  ),
];

function rule(name: string, says: string, breaks: DataRule["breaks"]): DataRule {
  return { name, says, breaks };
}

function hasUnknownAgency(opportunity: WholeOpportunity): boolean {
  const { agency, sub_agency } = opportunity.organization;
  const isStated = agency !== null || sub_agency !== null || opportunity.sidecar.agency_codes.length > 0;
  return isStated && agencyCodeOf(opportunity) === null;
}

function isPastDue(opportunity: WholeOpportunity, now: EpochMs): boolean {
  const due = parseInstantMs(dueOf(opportunity, now, []).at);
  return unendedStatuses.includes(opportunity.status) && due !== undefined && due <= now;
}

function isMinOverMax({ funding }: WholeOpportunity): boolean {
  const [min, max] = [funding?.amount_min ?? null, funding?.amount_max ?? null];
  return min !== null && max !== null && Number(min) > Number(max) && Number(max) !== 0; // Grants.gov writes 0 for no ceiling.
}

/** Imports warn of contradictions, too. */
function contradiction(wanted: (typeof contradictions)[number]["name"]): DataRule {
  const { name, says, breaks } = contradictions.find(({ name }) => name === wanted) ?? contradictions[0];
  return rule(name, says, (record) => breaks({ ...record, ...record.sidecar }));
}

function instantsOf({ dates, sidecar }: WholeOpportunity): EpochMs[] {
  return [...Object.values(dates), ...sidecar.due_dates.map(({ at }) => at)].map(parseInstantMs).filter((at) => at !== undefined);
}
