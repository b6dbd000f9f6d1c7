/**
 * The SQLite file for people who use SQL: what `mirror` keeps and `export --format sqlite` writes. Its tables hold each document, its fields
 * as columns, and a full-text index. Its views have one column a field. Documented in docs/sql.md. (E-48)
 */

/** To be raised with any change of the tables: a file of another version is refused. */
export const VERSION = 4;

/** What a column holds. In SQLite lists are JSON arrays, decimals are numbers, and all others are texts. */
export type ColumnType = "text" | "plain text" | "instant" | "day" | "decimal" | "integer" | "list";

/** Where a column's value is in an opportunity, and the SQL expression that computes it from the document, or `WRITTEN` if src/sql/file.ts does. */
export type Column = { path: string; type: ColumnType; sql: string };
type Columns = Readonly<Record<string, Column>>;

const WRITTEN = "";
const extracted = (path: string) => `json_extract(document, '$.${path}')`;
const at = (path: string, type: ColumnType = "text"): Column => ({ path, type, sql: extracted(path) });
const list = (path: string) => at(path, "list");
const written = (path: string, type: ColumnType): Column => ({ path, type, sql: WRITTEN });
const instant = (path: string) => written(path, "instant");
/** The calendar date as published, in the upstream's own offset (D-28). */
const day = (path: string): Column => ({ path, type: "day", sql: `substr(${extracted(path)}, 1, 10)` });
/** A number: comparing the exact decimals as texts would put 9 after 10. */
const amount = (path: string): Column => ({ path, type: "decimal", sql: `cast(${extracted(path)} as real)` });

/** In the order of the view `opportunity`, which ends with `updated_at`, `textColumns` and `sidecarColumns`. */
const opportunityColumns: Columns = {
  source: at("source.code"),
  upstream_id: at("source.opportunity_id"),
  solicitation_id: at("program.solicitation_id"),
  title: at("title"),
  status: at("status"),
  status_display: at("status_display"),
  program_type: at("program.type"),
  contract_class: at("program.contract_class"),
  agency: at("organization.agency"),
  sub_agency: at("organization.sub_agency"),
  issuing_office: at("organization.issuing_office"),
  posted_at: instant("dates.posted_at"),
  posted_on: day("dates.posted_at"),
  opens_at: instant("dates.opens_at"),
  opens_on: day("dates.opens_at"),
  closes_at: instant("dates.closes_at"),
  closes_on: day("dates.closes_at"),
  response_at: instant("dates.response_at"),
  response_on: day("dates.response_at"),
  amount_min: amount("funding.amount_min"),
  amount_max: amount("funding.amount_max"),
  funding: at("funding.display"),
  naics_codes: list("classifications.naics_codes"),
  set_aside_types: list("classifications.set_aside_types"),
  tech_taxonomy: list("classifications.tech_taxonomy"),
  keywords: list("classifications.keywords"),
  technology_areas: list("classifications.technology_areas"),
  eligibility: at("eligibility.requirements"),
  geographic_scope: at("eligibility.geographic_scope"),
  url: at("source.url"),
  parent_id: at("relationships.parent_id"),
  canonical_id: at("relationships.canonical_id"),
  created_at: at("created_at", "instant"),
};
const textColumns: Columns = { summary: written("summary", "plain text"), description: written("description", "plain text") };
/** Of the sidecar, which an export has and the API does not serve. */
const sidecarColumns: Columns = {
  agency_codes: written("sidecar.agency_codes", "list"),
  applicant_types: written("sidecar.applicant_types", "list"),
  expires_at: instant("sidecar.expires_at"),
  place_city: written("sidecar.place.city", "text"),
  place_state: written("sidecar.place.state", "text"),
  place_country: written("sidecar.place.country", "text"),
  award_number: written("sidecar.award.number", "text"),
  award_date: written("sidecar.award.date", "text"),
  award_amount: written("sidecar.award.amount", "decimal"),
  awardee: written("sidecar.award.awardee", "text"),
};
/** For the table of that name: no view has it. Of the sidecar, too. */
const attachmentColumns: Columns = { attachments: written("sidecar.attachments", "list") };
/** The columns of the view `opportunity`. */
export const opportunityView: Columns = {
  id: at("id"),
  ...opportunityColumns,
  updated_at: at("updated_at", "instant"),
  ...textColumns,
  ...sidecarColumns,
};
/** The columns of an opportunity that SQLite cannot compute from the document. */
export const writtenColumns = Object.entries({ ...opportunityColumns, ...textColumns, ...sidecarColumns, ...attachmentColumns }).filter(
  ([, { sql }]) => sql === WRITTEN,
);

const eventColumns: Columns = { type: at("type"), severity: at("severity"), summary: at("summary") };

/** What people filter and sort by. Deadlines of what is open are the most frequent question. */
const indexes: Readonly<Record<string, string>> = {
  opportunities_by_status: "opportunities (status, closes_at)",
  ...Object.fromEntries(
    ["source", "agency", "program_type", "posted_at", "closes_at", "amount_max", "updated_at", "solicitation_id"].map((name) => [
      `opportunities_by_${name}`,
      `opportunities (${name})`,
    ]),
  ),
  classifications_by_opportunity: "classifications (opportunity)",
  events_by_opportunity: "events (opportunity, detected_at)",
  events_by_detected_at: "events (detected_at)",
  events_by_type: "events (type, detected_at)",
  events_by_severity: "events (severity, detected_at)",
  changes_by_event: "changes (event)",
};

/** The columns of the full-text index, and how much a match in each weighs. */
const searched = {
  upstream_id: 20,
  solicitation_id: 20,
  title: 10,
  agency: 5,
  sub_agency: 5,
  issuing_office: 5,
  summary: 2,
  description: 1,
};
const searchedNames = Object.keys(searched);

/** Stored, because reading a document takes much longer than reading a column. */
const stored = (columns: Columns) =>
  Object.entries(columns).map(([name, { type, sql }]) => {
    const column = `${name} ${type === "decimal" ? "real" : "text"}`;
    return sql === WRITTEN ? column : `${column} generated always as (${sql}) stored`;
  });

/** Foreign keys name their column, because Datasette fails on those that do not. */
const OF_OPPORTUNITY = "opportunity integer not null references opportunities (rowid)";

export const TABLES = `
create table opportunities (
  rowid integer primary key, id text not null unique, updated_at text not null,
  ${stored({ ...opportunityColumns, ...textColumns, ...sidecarColumns, ...attachmentColumns }).join(",\n  ")},
  document text not null
) strict;
create table events (
  rowid integer primary key, id text not null unique, opportunity_id text not null, ${OF_OPPORTUNITY}, detected_at text not null,
  ${stored(eventColumns).join(",\n  ")},
  document text not null
) strict;
create table classifications (
  scheme text not null, code text not null, ${OF_OPPORTUNITY}, primary key (scheme, code, opportunity)
) strict, without rowid;
create table contacts (
  ${OF_OPPORTUNITY}, item integer not null, name text, role text, email text, phone text, primary key (opportunity, item)
) strict, without rowid;
create table attachments (
  ${OF_OPPORTUNITY}, item integer not null, name text, kind text, size integer, url text, primary key (opportunity, item)
) strict, without rowid;
create table changes (
  field text not null, event integer not null references events (rowid), item integer not null, primary key (field, event, item)
) strict, without rowid;
`;

/** Datasette finds the full-text index of a table by this way of writing "content". */
const SEARCH = `
create virtual table search using fts5 (
  id unindexed, ${searchedNames.join(", ")}, content="opportunities", content_rowid="rowid", tokenize = "unicode61 remove_diacritics 2"
);
insert into search (search) values ('rebuild');
insert into search (search, rank) values ('rank', 'bm25(0, ${Object.values(searched).join(", ")})');
`;

// ---- What follows from the documents: codes, contacts, attachments, changed fields and the full-text index. Triggers keep it in step.

/** The rows of a table that come from a row of another. `given` is that row; `from` begins the list of tables. */
type Derived = { table: string; of: "opportunities" | "events"; by: string; rows: (given: string, from: string) => string };

const codes = (scheme: string, column: string) => (given: string, from: string) =>
  `select '${scheme}', value, ${given}.rowid from ${from}json_each(${given}.${column})`;

const derived: readonly Derived[] = [
  {
    table: "classifications",
    of: "opportunities",
    by: "opportunity",
    rows: (given, from) => `
    ${codes("naics", "naics_codes")(given, from)}
    union all ${codes("set_aside", "set_aside_types")(given, from)}
    union all ${codes("keyword", "keywords")(given, from)}
    union all ${codes("technology_area", "technology_areas")(given, from)}
    union all select lower(substr(value, 1, instr(value, ':') - 1)), substr(value, instr(value, ':') + 1), ${given}.rowid
      from ${from}json_each(${given}.tech_taxonomy) where instr(value, ':') > 0`,
  },
  {
    table: "contacts",
    of: "opportunities",
    by: "opportunity",
    rows: (given, from) => `
    select ${given}.rowid, key, value ->> 'name', value ->> 'role', value ->> 'email', value ->> 'phone'
      from ${from}json_each(${given}.document, '$.contacts') where type = 'object'`,
  },
  {
    table: "attachments",
    of: "opportunities",
    by: "opportunity",
    rows: (given, from) => `
    select ${given}.rowid, key, value ->> 'name', value ->> 'kind', value ->> 'size', value ->> 'url'
      from ${from}json_each(${given}.attachments) where type = 'object'`,
  },
  {
    table: "changes",
    of: "events",
    by: "event",
    rows: (given, from) => `
    select value ->> 'field', ${given}.rowid, key from ${from}json_each(${given}.document, '$.changes') where value ->> 'field' is not null`,
  },
];

const searchedOf = (row: "old" | "new") => ["rowid", "id", ...searchedNames].map((name) => `${row}.${name}`).join(", ");
const derivedFrom = (of: Derived["of"]) => derived.filter((each) => each.of === of);

function triggersOf(of: Derived["of"], addMore = "", removeMore = ""): string {
  const add = derivedFrom(of).map(({ table, rows }) => `insert or ignore into ${table} ${rows("new", "")};`);
  const remove = derivedFrom(of).map(({ table, by }) => `delete from ${table} where ${by} = old.rowid;`);
  const [added, removed] = [[addMore, ...add].join("\n  "), [removeMore, ...remove].join("\n  ")];
  return `
create trigger ${of}_inserted after insert on ${of} begin ${added} end;
create trigger ${of}_deleted after delete on ${of} begin ${removed} end;
create trigger ${of}_updated after update on ${of} begin ${removed} ${added} end;
`;
}

const TRIGGERS =
  triggersOf("events") +
  triggersOf(
    "opportunities",
    `insert into search (rowid, id, ${searchedNames.join(", ")}) values (${searchedOf("new")});`,
    `insert into search (search, rowid, id, ${searchedNames.join(", ")}) values ('delete', ${searchedOf("old")});`,
  );

/** What each row of the other views has of its opportunity. */
export const ofOpportunityNames = ["title", "solicitation_id", "source", "agency", "status", "closes_at", "closes_on"];
const ofOpportunity = ofOpportunityNames.map((name) => `opportunities.${name}`).join(", ");

/** An attachment is known by its address; it may get another name. */
const ATTACHMENT = "coalesce(json_each.value ->> 'url', json_each.value ->> 'name')";
const attachmentsIn = (side: "previous" | "current") =>
  `select coalesce(value ->> 'url', value ->> 'name') from json_each(events.document, '$.changes[' || changes.item || '].${side}')
          where type = 'object'`;

const views: Readonly<Record<string, string>> = {
  opportunity: `select ${Object.keys(opportunityView).join(", ")}, rowid from opportunities`,
  contact: `select opportunities.id as opportunity_id, name, role, email, phone, ${ofOpportunity}
    from contacts join opportunities on opportunities.rowid = opportunity`,
  classification: `select opportunities.id as opportunity_id, scheme, code, ${ofOpportunity}
    from classifications join opportunities on opportunities.rowid = opportunity`,
  document: `select opportunities.id as opportunity_id, name, kind, size, attachments.url as url,
    (select max(detected_at) from changes join events on events.rowid = event
      where field = 'attachments' and events.opportunity = opportunities.rowid
        and coalesce(attachments.url, name) in (${attachmentsIn("current")})
        and coalesce(attachments.url, name) not in (${attachmentsIn("previous")})) as since,
    null as removed_at, ${ofOpportunity}
    from attachments join opportunities on opportunities.rowid = opportunity
    union all select opportunities.id, value ->> 'name', value ->> 'kind', value ->> 'size', value ->> 'url', null, max(detected_at), ${ofOpportunity}
    from changes join events on events.rowid = event join opportunities on opportunities.rowid = events.opportunity,
      json_each(events.document, '$.changes[' || changes.item || '].previous')
    where field = 'attachments' and opportunities.attachments is not null and json_each.type = 'object' and ${ATTACHMENT} not in (${attachmentsIn("current")})
      and not exists (
        select 1 from attachments as kept
        where kept.opportunity = opportunities.rowid and coalesce(kept.url, kept.name) = ${ATTACHMENT}
      )
    group by opportunities.rowid, ${ATTACHMENT}`,
  event: `select events.id, opportunity_id, detected_at, type, severity, events.summary, ${ofOpportunity}
    from events join opportunities on opportunities.rowid = opportunity`,
  change: `select events.id as event_id, opportunity_id, detected_at, type, severity, field,
    events.document ->> ('$.changes[' || item || '].previous') as previous, events.document ->> ('$.changes[' || item || '].current') as current,
    ${ofOpportunity}
    from changes join events on events.rowid = event join opportunities on opportunities.rowid = opportunity`,
};

/** A statement, and its name in two words. */
type Step = { step: string; sql: string };

/**
 * To be run in this order when the tables of TABLES are filled. Until then they have no index and no trigger: maintaining those row by row takes
 * many times as long. Afterwards, triggers keep everything in step.
 */
export const COMPLETION: readonly Step[] = [
  ...derived.map(({ table, of, rows }) => ({
    step: `filling ${table}`,
    sql: `insert or ignore into ${table} select * from (${rows(of, `${of}, `)}) order by 1, 2, 3`, // In the order of the key.
  })),
  ...Object.entries(indexes).map(([name, columns]) => ({ step: "indexing", sql: `create index ${name} on ${columns}` })),
  { step: "indexing texts", sql: SEARCH },
  { step: "finishing", sql: [TRIGGERS, ...Object.entries(views).map(([name, sql]) => `create view ${name} as ${sql};`)].join("\n") },
];
