/** The SQLite file of `mirror` and `export --format sqlite`: documents, their fields as columns, a full-text index (docs/reference/sql.md). */
import { type Column, flatColumns, furtherColumns } from "../facts/columns.ts";

/** To be raised with any change of the tables: a file of another version is refused. */
export const VERSION = 5;

/** The expression that computes it from the document, or `WRITTEN` if src/sql/file.ts writes it. Lists are JSON arrays. */
type StoredColumn = Column & { sql: string };

const WRITTEN = "";
const extracted = (path: string) => `json_extract(document, '$.${path}')`;

/** SQLite computes what is in the document. It cannot strip markup, write instants in UTC, or know of the sidecar and of when it is due. */
function storedColumn({ path, type }: Column): StoredColumn {
  if (/^(sidecar|due)\./.test(path) || type === "plain text" || path.startsWith("dates.")) {
    return { path, type, sql: type === "day" && path.startsWith("dates.") ? `substr(${extracted(path)}, 1, 10)` : WRITTEN };
  }
  // A number: comparing the exact decimals as texts would put 9 after 10.
  return { path, type, sql: type === "decimal" ? `cast(${extracted(path)} as real)` : extracted(path) };
}

type StoredColumns = Readonly<Record<string, StoredColumn>>;
const storedColumns = (columns: Readonly<Record<string, Column>>): StoredColumns =>
  Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, storedColumn(column)]));

export const opportunityView: Readonly<Record<string, Column>> = { ...flatColumns, ...furtherColumns };

const { id, updated_at, ...others } = opportunityView;
/** Those that the table declares besides its own; no view has `attachments`, which fill the table of that name. */
const opportunityColumns = storedColumns({ ...others, attachments: { path: "sidecar.attachments", type: "list" } });

export const writtenColumns = Object.entries(opportunityColumns).filter(([, { sql }]) => sql === WRITTEN);

const eventColumns = storedColumns({
  type: { path: "type", type: "text" },
  severity: { path: "severity", type: "text" },
  summary: { path: "summary", type: "text" },
});

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
const stored = (columns: StoredColumns) =>
  Object.entries(columns).map(([name, { type, sql }]) => {
    const column = `${name} ${type === "decimal" ? "real" : "text"}`;
    return sql === WRITTEN ? column : `${column} generated always as (${sql}) stored`;
  });

/** Foreign keys name their column, because Datasette fails on those that do not. */
const OF_OPPORTUNITY = "opportunity integer not null references opportunities (rowid)";

export const TABLES = `
create table opportunities (
  rowid integer primary key, id text not null unique, updated_at text not null,
  ${stored(opportunityColumns).join(",\n  ")},
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
type Derived = { table: string; of: "opportunities" | "events"; rows: (given: string, from: string) => string };

const codes = (scheme: string, column: string) => (given: string, from: string) =>
  `select '${scheme}', value, ${given}.rowid from ${from}json_each(${given}.${column})`;

const derived: readonly Derived[] = [
  {
    table: "classifications",
    of: "opportunities",
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
    rows: (given, from) => `
    select ${given}.rowid, key, value ->> 'name', value ->> 'role', value ->> 'email', value ->> 'phone'
      from ${from}json_each(${given}.document, '$.contacts') where type = 'object'`,
  },
  {
    table: "attachments",
    of: "opportunities",
    rows: (given, from) => `
    select ${given}.rowid, key, value ->> 'name', value ->> 'kind', value ->> 'size', value ->> 'url'
      from ${from}json_each(${given}.attachments) where type = 'object'`,
  },
  {
    table: "changes",
    of: "events",
    rows: (given, from) => `
    select value ->> 'field', ${given}.rowid, key from ${from}json_each(${given}.document, '$.changes') where value ->> 'field' is not null`,
  },
];

const searchedOf = (row: "old" | "new") => ["rowid", "id", ...searchedNames].map((name) => `${row}.${name}`).join(", ");
const derivedFrom = (of: Derived["of"]) => derived.filter((each) => each.of === of);

function triggersOf(of: Derived["of"], addMore = "", removeMore = ""): string {
  const add = derivedFrom(of).map(({ table, rows }) => `insert or ignore into ${table} ${rows("new", "")};`);
  const remove = derivedFrom(of).map(({ table }) => `delete from ${table} where ${of === "events" ? "event" : "opportunity"} = old.rowid;`);
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

type Step = { step: string; sql: string };

/** To be run when the tables are filled: indexes and triggers, which keep them in step, would make filling take many times as long. */
export const COMPLETION: readonly Step[] = [
  ...derived.map(({ table, of, rows }) => ({
    step: `filling ${table}`,
    sql: `insert or ignore into ${table} select * from (${rows(of, `${of}, `)}) order by 1, 2, 3`, // In the order of the key.
  })),
  ...Object.entries(indexes).map(([name, columns]) => ({ step: "indexing", sql: `create index ${name} on ${columns}` })),
  { step: "indexing texts", sql: SEARCH },
  { step: "finishing", sql: [TRIGGERS, ...Object.entries(views).map(([name, sql]) => `create view ${name} as ${sql};`)].join("\n") },
];
