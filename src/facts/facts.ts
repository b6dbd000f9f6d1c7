/** The facts of an opportunity, with labels and values in words. Doors only print, link or quote them. (E-125) */
import { applicantsInShort, applicantsOf } from "../filter/applicants.ts";
import { type Due, dueDateInWords, dueInWords, dueOf, dueOnDay } from "../opportunities/due.ts";
import type { EarlierAward } from "../opportunities/earlier-awards.ts";
import { amountInWords, fundingInWords } from "../opportunities/funding.ts";
import { numberInWords, numberOf, type Opportunity, type WholeOpportunity } from "../opportunities/opportunity.ts";
import { type AlsoAt, alsoAt, alsoAtInWords, type Belonging } from "../opportunities/related.ts";
import { statusInWords } from "../opportunities/status.ts";
import { taxonomyInWords } from "../opportunities/taxonomy.ts";
import { noNewsInWords } from "../sources/freshness.ts";
import { dateInWords, startInWords } from "../text/date-in-words.ts";
import { type EpochMs, parseStoredMs } from "../text/instant.ts";
import { plainText } from "../text/plain-text.ts";

/** A value in words, and its link: to a search with a filter, to another record, or to an address. */
export type FactValue = { text: string; filter?: { name: string; value: string }; record?: string; url?: string };

export type FactGroup = "when" | "offered by" | "offers" | "won" | "won before" | "for" | "record" | "related";

export type OpportunityFact = { id: string; label: string; group: FactGroup; values: readonly FactValue[]; isEach: boolean };

export type RelatedRecords = Partial<Belonging> & { duplicates: readonly WholeOpportunity[]; earlierAwards?: readonly EarlierAward[] };

/** The facts that are stated, in the order in which a reader looks for them. Long texts, attachments and the history are not included. */
export function factsOf(opportunity: WholeOpportunity, { duplicates, parent, earlierAwards = [] }: RelatedRecords, now: EpochMs) {
  const { status, status_display, organization, program, funding, dates, source, sidecar, silent_since } = opportunity;
  const { classifications, eligibility, contacts } = opportunity;
  const { agency, sub_agency, issuing_office } = organization;
  const due = dueOf(opportunity, now, duplicates);
  const number = numberOf(opportunity);
  const inForce = statusInWords(status);
  const awards = earlierAwards.map((award) => ({ text: awardInWords(award), record: award.id }));
  const applicants = applicantsOf(opportunity).map(({ kind, text }) => ({ text, filter: { name: "applicant", value: kind } }));
  const belongsTo = parent && { text: `${parent.title} (${recordInWords(parent)})`, record: parent.id };
  const facts: OpportunityFact[] = [
    fact("status", "Status", "when", [
      status_display === null || isSame(status_display, inForce) ? inForce : `${inForce} (${status_display})`,
    ]),
    fact("due", "Due", "when", [dueInWords(due, now).replace(/^due /, "")]),
    fact("due_dates", "Due dates", "when", due.dates.length < 2 ? [] : due.dates.map((date) => dueDateInWords(date, now)), true),
    fact("closes", "Closing date", "record", [isShownBy(due, dates.closes_at) ? null : dayOf(dates.closes_at)]),
    fact("deadline_note", "Deadline", "when", [due.note]),
    fact("opens", "Opens", "when", [dates.opens_at === null ? null : startInWords(dates.opens_at)]),
    fact("posted", "Posted", "when", [dayOf(dates.posted_at)]),
    fact("number", "Number", "record", [number]),
    fact("solicitation", "Solicitation", "offers", [
      program.solicitation_id?.trim() === number ? null : program.solicitation_id,
      program.solicitation_title === opportunity.title ? null : program.solicitation_title,
    ]),
    fact("agency", "Agency", "offered by", [filtering("agency", agency), filtering("agency", sub_agency), issuing_office]),
    fact("program", "Program", "offers", [filtering("program_type", program.type), program.contract_class]),
    fact("awards", "Awards", "offers", [funding === null ? null : (fundingInWords(funding) ?? null)]),
    fact("won_by", "Won by", "won", sidecar.award === null ? [] : [sidecar.award.awardee, sidecar.award.number, dayOf(sidecar.award.date)]),
    fact("earlier_awards", "Earlier awards", "won before", awards),
    fact(
      "naics",
      "NAICS",
      "for",
      classifications.naics_codes.map((code) => filtering("naics", code)),
    ),
    fact(
      "set_aside",
      "Set-aside",
      "for",
      classifications.set_aside_types.map((code) => filtering("set_aside", code)),
    ),
    fact("codes", "Codes", "for", classifications.tech_taxonomy.map(taxonomyInWords)),
    fact("keywords", "Keywords", "for", [...classifications.keywords, ...classifications.technology_areas]),
    fact("applicants", "Open to", "for", applicants),
    fact("place", "Place", "for", [placeInWords(sidecar.place), eligibility.geographic_scope]),
    fact("contact", "Contact", "offered by", contacts.map(contactInWords), true),
    fact("source", "Source", "record", [
      { text: source.name, filter: { name: "source", value: source.code } },
      source.opportunity_id,
      silent_since === undefined ? null : noNewsInWords(silent_since, source.name),
    ]),
    fact("agency_codes", "Agency codes", "record", sidecar.agency_codes),
    fact("page", "Page", "record", [source.url === null ? null : { text: source.url, url: source.url }]),
    fact("id", "Id", "record", [opportunity.id]),
    fact("changed", "Changed", "record", [dateInWords(opportunity.updated_at)]),
    fact("stored", "Stored", "record", [dateInWords(opportunity.created_at)]),
    ...duplicates.map((duplicate) => {
      const { url } = duplicate.source;
      const isCanonical = duplicate.id === opportunity.relationships.canonical_id;
      return fact(isCanonical ? "canonical" : "also_at", isCanonical ? "Canonical" : "Also at", "related", [
        { text: recordInWords(duplicate), record: duplicate.id, ...(url !== null && { url }) },
      ]);
    }),
    fact("parent", "Belongs to", "related", belongsTo === undefined ? [] : [belongsTo]),
  ];
  return facts.filter(({ values }) => values.length > 0);
}

/** For a line of a list, a message or a calendar. Stored messages have it, too. */
type BriefOpportunity = Pick<Opportunity, "organization" | "status" | "source"> & {
  number: string | null;
  due: Due;
  open_to: string | null;
  also_at: AlsoAt[];
};

export function briefOf(opportunity: WholeOpportunity, due: Due, duplicates: readonly WholeOpportunity[]): BriefOpportunity {
  const { organization, status, source } = opportunity;
  const number = numberOf(opportunity);
  return { organization, status, source, number, due, open_to: applicantsInShort(opportunity), also_at: alsoAt(duplicates) };
}

/** The shortened facts of such a line; null if not stated. `due` has only the day, because the line may be read later. */
export function briefFacts({ organization, number, status, source, due, open_to, also_at }: BriefOpportunity, zone?: string) {
  return {
    due: dueOnDay(due, zone),
    status: statusInWords(status),
    agency: organization.sub_agency ?? organization.agency,
    number,
    source: source.name,
    open_to: open_to === null ? null : `open to ${open_to}`,
    also_at: alsoAtInWords(also_at, status),
  };
}

/** "SBIR.gov, 22-586, open": a record in the list of linked records. */
export function recordInWords(record: Opportunity): string {
  return `${record.source.name}, ${numberInWords(record)}, ${statusInWords(record.status)}`;
}

type Given = FactValue | string | null;

function filtering(name: string, value: string | null): FactValue | null {
  return value === null ? null : { text: value, filter: { name, value } };
}

/** Each value once, in whatever letter case: sources say "GRANT" and "Grant". */
function fact(id: string, label: string, group: FactGroup, given: readonly Given[], isEach = false): OpportunityFact {
  const stated = given
    .flatMap((each) => (each === null ? [] : typeof each === "string" ? { text: each } : each))
    .map((each) => ({ ...each, text: plainText(each.text) }))
    .filter(({ text }) => text !== "");
  const values = stated.filter(({ text }, n) => stated.findIndex((each) => isSame(each.text, text)) === n);
  return { id, label, group, values, isEach };
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function isShownBy({ at, dates, expires_at }: Due, instant: string | null): boolean {
  const shown = [at, expires_at, ...dates.map((date) => date.at)].map(parseStoredMs);
  return shown.includes(parseStoredMs(instant));
}

/** "Acme, Inc., $148,125, Apr 10, 2026 (1333MK26Q0039)". Without a date, that of the notice is used. */
function awardInWords({ number, awardee, amount, date, posted_at }: EarlierAward): string {
  const words = [awardee, amount === null ? null : amountInWords(amount), dayOf(date ?? posted_at)].filter((each) => each !== null);
  return `${words.join(", ")}${number === null ? "" : ` (${number})`}`;
}

function placeInWords(place: WholeOpportunity["sidecar"]["place"]): string | null {
  const { city = null, state = null, country = null } = place ?? {};
  return [city, state, country].filter((each) => each !== null && each !== "").join(", ") || null;
}

function dayOf(at: string | null): string | null {
  return at === null ? null : dateInWords(at);
}

function contactInWords({ name, email, phone, role }: WholeOpportunity["contacts"][number]): string {
  return [name, role, email, phone].filter((each) => each !== null && each !== "").join(", ");
}
