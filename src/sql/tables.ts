/**
 * The SQLite file for people who use SQL: what `mirror` keeps and `export --format sqlite` writes. Its tables hold each document, its fields
 * as columns, and a full-text index. Its views have one column a field. Documented in docs/sql.md.
 */

/** To be raised with any change of the tables: a file of another version is built again from its documents. */
export const VERSION = 1;

/** Names of columns, which come from the document by an SQL expression. */
type Columns = Readonly<Record<string, string>>;

const at = (path: string) => `json_extract(document, '$.${path}')`;
/** In UTC, because instants of different offsets do not sort as texts. */
const utc = (path: string) => `coalesce(strftime('%Y-%m-%dT%H:%M:%SZ', ${at(path)}), ${at(path)})`;
/** A number: comparing the exact decimals as texts would put 9 after 10. */
const amount = (path: string) => `cast(${at(path)} as real)`;

/** In the order of the view `opportunity`. Lists are JSON arrays. `summary` and `description` are plain texts, which the writer adds. */
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
  posted_at: utc("dates.posted_at"),
  opens_at: utc("dates.opens_at"),
  closes_at: utc("dates.closes_at"),
  response_at: utc("dates.response_at"),
  amount_min: amount("funding.amount_min"),
  amount_max: amount("funding.amount_max"),
  funding: at("funding.display"),
  naics_codes: at("classifications.naics_codes"),
  set_aside_types: at("classifications.set_aside_types"),
  tech_taxonomy: at("classifications.tech_taxonomy"),
  keywords: at("classifications.keywords"),
  technology_areas: at("classifications.technology_areas"),
  eligibility: at("eligibility.requirements"),
  geographic_scope: at("eligibility.geographic_scope"),
  url: at("source.url"),
  parent_id: at("relationships.parent_id"),
  canonical_id: at("relationships.canonical_id"),
  created_at: at("created_at"),
  contacts: at("contacts"),
};

const eventColumns: Columns = { type: at("type"), severity: at("severity"), summary: at("summary") };

/** What people filter and sort by. */
const indexed = ["status", "source", "agency", "program_type", "posted_at", "closes_at", "amount_max", "updated_at", "solicitation_id"];

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
  Object.entries(columns).map(([name, sql]) => `${name} ${sql.startsWith("cast") ? "real" : "text"} generated always as (${sql}) stored`);

/** Foreign keys name their column, because Datasette fails on those that do not. */
const OF_OPPORTUNITY = "opportunity integer not null references opportunities (rowid)";

const TABLES = `
create table opportunities (
  rowid integer primary key, id text not null unique, updated_at text not null,
  ${stored(opportunityColumns).join(",\n  ")},
  summary text, description text, document text not null
) strict;
${indexed.map((name) => `create index opportunities_by_${name} on opportunities (${name});`).join("\n")}

create table classifications (
  scheme text not null, code text not null, ${OF_OPPORTUNITY}, primary key (scheme, code, opportunity)
) strict, without rowid;
create index classifications_by_opportunity on classifications (opportunity);

create table events (
  rowid integer primary key, id text not null unique, opportunity_id text not null, ${OF_OPPORTUNITY}, detected_at text not null,
  ${stored(eventColumns).join(",\n  ")},
  document text not null
) strict;
create index events_by_opportunity on events (opportunity, detected_at);
create index events_by_detected_at on events (detected_at);
create index events_by_type on events (type, detected_at);
create index events_by_severity on events (severity, detected_at);

create table changes (
  field text not null, event integer not null references events (rowid), item integer not null, primary key (field, event, item)
) strict, without rowid;
create index changes_by_event on changes (event);
`;

/** Datasette finds the full-text index of a table by this way of writing "content". */
const SEARCH = `
create virtual table search using fts5 (
  id unindexed, ${searchedNames.join(", ")}, content="opportunities", content_rowid="rowid", tokenize = "unicode61 remove_diacritics 2"
);
insert into search (search, rank) values ('rank', 'bm25(0, ${Object.values(searched).join(", ")})');
`;

// ---- Triggers keep the full-text index, the classifications and the changed fields in step with the documents.

const namesOf = (row: "old" | "new") => ["rowid", "id", ...searchedNames].map((name) => `${row}.${name}`).join(", ");
const items = (scheme: string, column: string) => `select '${scheme}', value, new.rowid from json_each(new.${column})`;

const add = `
  insert into search (rowid, id, ${searchedNames.join(", ")}) values (${namesOf("new")});
  insert or ignore into classifications (scheme, code, opportunity)
    ${items("naics", "naics_codes")}
    union all ${items("set_aside", "set_aside_types")}
    union all ${items("keyword", "keywords")}
    union all ${items("technology_area", "technology_areas")}
    union all select lower(substr(value, 1, instr(value, ':') - 1)), substr(value, instr(value, ':') + 1), new.rowid
      from json_each(new.tech_taxonomy) where instr(value, ':') > 0;
`;
const remove = `
  insert into search (search, rowid, id, ${searchedNames.join(", ")}) values ('delete', ${namesOf("old")});
  delete from classifications where opportunity = old.rowid;
`;

const addChanges = `
  insert or ignore into changes (field, event, item)
    select value ->> 'field', new.rowid, key from json_each(new.document, '$.changes') where value ->> 'field' is not null;
`;
const removeChanges = "delete from changes where event = old.rowid;";

const TRIGGERS = `
create trigger events_inserted after insert on events begin ${addChanges} end;
create trigger events_deleted after delete on events begin ${removeChanges} end;
create trigger events_updated after update on events begin ${removeChanges} ${addChanges} end;
create trigger opportunities_inserted after insert on opportunities begin ${add} end;
create trigger opportunities_deleted after delete on opportunities begin ${remove} end;
create trigger opportunities_updated after update on opportunities begin ${remove} ${add} end;
`;

// ---- Views.

const ofOpportunity = ["title", "solicitation_id", "source", "agency", "status", "closes_at"]
  .map((name) => `opportunities.${name}`)
  .join(", ");

const views: Readonly<Record<string, string>> = {
  opportunity: `select id, ${Object.keys(opportunityColumns)
    .filter((name) => name !== "contacts")
    .join(", ")}, updated_at, summary, description, rowid from opportunities`,
  contact: `select opportunities.id as opportunity_id, value ->> 'name' as name, value ->> 'role' as role, value ->> 'email' as email,
    value ->> 'phone' as phone, ${ofOpportunity} from opportunities, json_each(contacts)`,
  classification: `select opportunities.id as opportunity_id, scheme, code, ${ofOpportunity}
    from classifications join opportunities on opportunities.rowid = opportunity`,
  event: `select events.id, opportunity_id, detected_at, type, severity, events.summary, ${ofOpportunity}
    from events join opportunities on opportunities.rowid = opportunity`,
  change: `select events.id as event_id, opportunity_id, detected_at, type, severity, field,
    events.document ->> ('$.changes[' || item || '].previous') as previous, events.document ->> ('$.changes[' || item || '].current') as current,
    ${ofOpportunity}
    from changes join events on events.rowid = event join opportunities on opportunities.rowid = opportunity`,
};

/** Creates everything in an empty file. */
export const SCHEMA = [TABLES, SEARCH, TRIGGERS, ...Object.entries(views).map(([name, sql]) => `create view ${name} as ${sql};`)].join(
  "\n",
);
