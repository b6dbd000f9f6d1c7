/** Checks that everything in a file of `mirror` or `export --format sqlite` follows from its documents. */
import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import type { OpportunityEvent } from "../../src/events/event.ts";
import type { Opportunity } from "../../src/opportunities/opportunity.ts";
import { plainText } from "../../src/text/plain-text.ts";

type Rows = Record<string, unknown>[];

/** Compares every view with the documents, and the full-text index with its texts. Returns the opportunities of the file. */
export function expectInStep(path: string): Opportunity[] {
  const sqlite = new Database(path);
  try {
    expect(sqlite.query("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
    expect(sqlite.query("pragma foreign_key_check").all()).toEqual([]);
    sqlite.run("insert into search (search, rank) values ('integrity-check', 1)");
    const documents = (table: string) => sqlite.query<{ document: string }, []>(`select document from ${table} order by id`).all();
    const opportunities: Opportunity[] = documents("opportunities").map(({ document }) => JSON.parse(document));
    const events: OpportunityEvent[] = documents("events").map(({ document }) => JSON.parse(document));
    const rows = (sql: string) => sqlite.query(sql).all() as Rows;
    expect(rows("select * from opportunity order by id").map(served)).toEqual(opportunities.map(rowOf));
    expect(sorted(rows("select opportunity_id, scheme, code from classification"))).toEqual(sorted(opportunities.flatMap(codesOf)));
    const contacts = opportunities.flatMap(({ id, contacts = [] }) => contacts.map((each) => ({ opportunity_id: id, ...each })));
    expect(sorted(rows("select opportunity_id, name, role, email, phone from contact"))).toEqual(sorted(contacts.map(contactOf)));
    expect(rows("select id, type, severity, summary from event order by id")).toEqual(events.map(eventOf));
    expect(sorted(rows("select event_id, opportunity_id, field, previous, current from change"))).toEqual(
      sorted(events.flatMap(changesOf)),
    );
    return opportunities;
  } finally {
    sqlite.close();
  }
}

/** The columns that come from the document: the others are of the sidecar and of when it is due, which only an export has. */
function served({ rowid: _, ...row }: Record<string, unknown>): Record<string, unknown> {
  const ofSidecar = /^(agency_codes|applicant_types|expires_at|place_.*|award_.*|awardee|due_.*|deadline_note)$/;
  return Object.fromEntries(Object.entries(row).filter(([name]) => !ofSidecar.test(name)));
}

function rowOf(given: Opportunity): Record<string, unknown> {
  const { id, source, program, organization, dates, funding, classifications, eligibility, relationships } = given;
  return {
    id,
    source: source?.code ?? null,
    upstream_id: source?.opportunity_id ?? null,
    solicitation_id: program?.solicitation_id ?? null,
    title: given.title ?? null,
    status: given.status ?? null,
    status_display: given.status_display ?? null,
    program_type: program?.type ?? null,
    contract_class: program?.contract_class ?? null,
    agency: organization?.agency ?? null,
    sub_agency: organization?.sub_agency ?? null,
    issuing_office: organization?.issuing_office ?? null,
    posted_at: inUtc(dates?.posted_at),
    posted_on: dates?.posted_at?.slice(0, 10) ?? null,
    opens_at: inUtc(dates?.opens_at),
    opens_on: dates?.opens_at?.slice(0, 10) ?? null,
    closes_at: inUtc(dates?.closes_at),
    closes_on: dates?.closes_at?.slice(0, 10) ?? null,
    response_at: inUtc(dates?.response_at),
    response_on: dates?.response_at?.slice(0, 10) ?? null,
    amount_min: numberOf(funding?.amount_min),
    amount_max: numberOf(funding?.amount_max),
    funding: funding?.display ?? null,
    naics_codes: jsonOf(classifications?.naics_codes),
    set_aside_types: jsonOf(classifications?.set_aside_types),
    tech_taxonomy: jsonOf(classifications?.tech_taxonomy),
    keywords: jsonOf(classifications?.keywords),
    technology_areas: jsonOf(classifications?.technology_areas),
    eligibility: eligibility?.requirements ?? null,
    geographic_scope: eligibility?.geographic_scope ?? null,
    url: source?.url ?? null,
    parent_id: relationships?.parent_id ?? null,
    canonical_id: relationships?.canonical_id ?? null,
    created_at: given.created_at ?? null,
    updated_at: given.updated_at,
    summary: given.summary ? plainText(given.summary) : (given.summary ?? null),
    description: given.description ? plainText(given.description) : (given.description ?? null),
  };
}

const inUtc = (instant: string | null | undefined) => (instant ? new Date(instant).toISOString() : null);
const numberOf = (amount: string | null | undefined) => (amount ? Number(amount) : null);
const jsonOf = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
const contactOf = ({ opportunity_id, name, role, email, phone }: Record<string, unknown>) => ({ opportunity_id, name, role, email, phone });
const eventOf = ({ id, type, severity, summary }: OpportunityEvent) => ({
  id,
  type: type ?? null,
  severity: severity ?? null,
  summary: summary ?? null,
});
const changesOf = ({ id, opportunity_id, changes = [] }: OpportunityEvent) =>
  changes.map(({ field, previous, current }) => ({
    event_id: id,
    opportunity_id,
    field,
    previous: cellOf(previous),
    current: cellOf(current),
  }));
/** As SQLite returns a JSON value. */
const cellOf = (value: unknown) =>
  typeof value === "boolean" ? Number(value) : typeof value === "object" && value !== null ? JSON.stringify(value) : (value ?? null);

function codesOf({ id, classifications: given }: Opportunity): Rows {
  const list = (scheme: string, codes: readonly string[] = []) => codes.map((code) => ({ opportunity_id: id, scheme, code }));
  const taxonomy = (given?.tech_taxonomy ?? []).filter((code) => code.includes(":"));
  const all = [
    ...list("naics", given?.naics_codes),
    ...list("set_aside", given?.set_aside_types),
    ...list("keyword", given?.keywords),
    ...list("technology_area", given?.technology_areas),
    ...taxonomy.flatMap((code) => list(code.slice(0, code.indexOf(":")).toLowerCase(), [code.slice(code.indexOf(":") + 1)])),
  ];
  return [...new Map(all.map((row) => [JSON.stringify(row), row])).values()];
}

function sorted(rows: readonly object[]): string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}
