/** `check`: whatever can be told from the data alone about the promises of contract section 3. */
import type { Database } from "bun:sqlite";
import type { CatalogDb } from "../../db/open.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { formatInstant } from "../instant.ts";
import { opportunityId } from "../opportunities/identity.ts";
import { statusAt } from "../opportunities/status.ts";
import { type Content, hashOf, readContent, renderDocument, renderSidecar, type StatusBasis } from "./content.ts";
import { unapply, valueAt } from "./detect.ts";
import { linkKeyOf } from "./link.ts";

/** One broken promise: where, and what is wrong there. */
export type Fault = { where: string; what: string };

type OpportunityRow = {
  seq: number;
  id: string;
  source: string;
  lineage: string;
  source_opportunity_id: string;
  created_at: number;
  updated_at: number;
  facet_id: number;
  status_basis: StatusBasis;
  due_at: number | null;
  link_key: string | null;
  hash: Uint8Array;
  document: Uint8Array;
  sidecar: Uint8Array;
};

type EventRow = { id: string; detected_at: number; type: string; severity: string; origin: string; document: Uint8Array };

/** The last instant that a date can name. */
const END_OF_TIME = 8.64e15;

/** Faults of the file itself: pages, indexes, references. A file whose pages are damaged is not looked into any further. */
export function* checkFile(sqlite: Database, name: string): Iterable<Fault> {
  try {
    for (const { integrity_check } of sqlite.query<{ integrity_check: string }, []>("pragma integrity_check").all()) {
      if (integrity_check !== "ok") yield { where: name, what: integrity_check };
    }
    for (const row of sqlite.query<{ table: string; rowid: number }, []>("pragma foreign_key_check").all()) {
      yield { where: name, what: `row ${row.rowid} of ${row.table} refers to nothing` };
    }
  } catch (error) {
    yield { where: name, what: `cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Faults of the catalogue's content: each record with its history, then what belongs to no record. */
export function* checkCatalog(db: CatalogDb): Iterable<Fault> {
  const { sqlite } = db;
  for (const row of sqlite.query<OpportunityRow, []>("select * from opportunities order by seq").iterate()) {
    const where = `${row.source} ${row.source_opportunity_id} (${row.id})`;
    try {
      for (const what of recordFaults(db, row)) yield { where, what };
    } catch (error) {
      yield { where, what: `cannot be read: ${error instanceof Error ? error.message : String(error)}` };
    }
  }
  for (const { count, what } of orphans(sqlite)) if (count > 0) yield { where: "catalog.db", what: `${count} ${what}` };
  const secret = sqlite.query<{ length: number }, []>("select length(value) as length from settings where name = 'cursor_secret'").get();
  if (secret?.length !== 32) yield { where: "catalog.db", what: "the cursor secret is missing or not 32 bytes long" };
}

function* recordFaults(db: CatalogDb, row: OpportunityRow): Iterable<string> {
  const content = readContent(row.document, row.sidecar);
  const rendered = renderDocument(row.id, content, formatInstant(row.created_at), formatInstant(row.updated_at));
  if (!rendered.equals(row.document)) yield "its document is not what its columns say";
  if (!renderSidecar(content).equals(row.sidecar)) yield "its sidecar is not in its canonical form";
  if (row.id !== opportunityId(row.source, row.lineage)) yield "its id does not derive from source and lineage (D-30)";
  if (content.source.code !== row.source) yield "its source differs from its document's";
  if (content.source.opportunity_id !== row.source_opportunity_id) yield "its upstream id differs from its document's";
  if (!hashOf(content, row.status_basis).equals(row.hash)) yield "its hash is not its content's";
  if (linkKeyOf(content) !== row.link_key) yield "its link key is not its content's";
  if (row.created_at > row.updated_at) yield "it was updated before it was created";
  yield* facetFaults(db.sqlite, row, content);
  yield* clockFaults(row, content);
  yield* upstreamIdFaults(db.sqlite, row);
  yield* historyFaults(db.sqlite, row, content);
}

function* facetFaults(sqlite: Database, row: OpportunityRow, { status, organization, program }: Content): Iterable<string> {
  const facet = sqlite
    .query<{ status: string; source: string; program_type: string; agency: string }, [number]>(
      "select status, source, program_type, agency from facets where id = ?",
    )
    .get(row.facet_id);
  const expected = [status, row.source, program.type ?? "", organization.agency ?? ""];
  const actual = facet === null ? [] : [facet.status, facet.source, facet.program_type, facet.agency];
  if (expected.some((value, index) => value !== actual[index])) yield "its facet is not its document's";
}

function* clockFaults({ status_basis, due_at }: OpportunityRow, { status, dates }: Content): Iterable<string> {
  if (status_basis === "stated" && due_at !== null) yield "it stated its status, and the clock would still move it (D-37)";
  if (status_basis !== "dates") return;
  if (due_at === null && statusAt(dates, END_OF_TIME) !== status)
    yield "its status follows its dates, and the clock would never move it (D-37)";
  if (due_at !== null && statusAt(dates, due_at) === status) yield "the clock would move it when there is nothing to move (D-37)";
}

function* upstreamIdFaults(sqlite: Database, { seq, source, source_opportunity_id }: OpportunityRow): Iterable<string> {
  const found = sqlite
    .query<unknown, [string, string, number]>("select 1 from upstream_ids where upstream_id = ? and source = ? and opportunity_seq = ?")
    .get(source_opportunity_id, source, seq);
  if (found === null) yield "it cannot be found by its upstream id (D-14)";
}

/** Undone from the newest on, every event must fit the state that the later ones leave, down to the addition. */
function* historyFaults(sqlite: Database, row: OpportunityRow, present: Content): Iterable<string> {
  const events = sqlite
    .query<EventRow, [number]>(
      "select id, detected_at, type, severity, origin, document from events where opportunity_seq = ? order by detected_at desc, seq desc",
    )
    .all(row.seq);
  let state = present;
  let oldest: string | undefined;
  for (const each of events) {
    const event = JSON.parse(Buffer.from(each.document).toString()) as OpportunityEvent;
    yield* eventFaults(each, event, row);
    if (each.origin !== "detected") continue;
    const unfit = event.changes.find(({ field, current }) => JSON.stringify(valueAt(state, field.split("."))) !== JSON.stringify(current));
    if (unfit !== undefined) yield `its history does not lead to it: event ${each.id} leaves another ${unfit.field}`;
    if (each.detected_at > row.updated_at) yield `event ${each.id} is later than its newest change (D-33)`;
    state = unapply(state, event.changes);
    oldest = each.type;
  }
  const detected = events.filter(({ origin }) => origin === "detected");
  if (oldest !== "opportunity_added") yield "its history does not begin with its addition";
  if (detected.filter(({ type }) => type === "opportunity_added").length > 1) yield "it was added more than once";
  // A restored record may be newer than its history: `export` carries no events.
  if (detected.length > 1 && detected[0]?.detected_at !== row.updated_at) yield "its newest event is not at its updated_at (D-33)";
}

function* eventFaults(row: EventRow, event: OpportunityEvent, opportunity: OpportunityRow): Iterable<string> {
  if (event.id !== row.id || event.opportunity_id !== opportunity.id || event.detected_at !== formatInstant(row.detected_at)) {
    yield `event ${row.id} is not what its columns say`;
  }
  if (row.origin === "detected" && (event.type !== row.type || event.severity !== row.severity))
    yield `event ${row.id} shows another type or severity`;
  if (event.changes.map(({ field }) => field).join() !== event.changed_fields.join() && row.origin === "detected") {
    yield `event ${row.id} names other fields than it changes`;
  }
}

function orphans(sqlite: Database): { count: number; what: string }[] {
  const count = (query: string) => sqlite.query<{ count: number }, []>(`select count(*) as count from ${query}`).get()?.count ?? 0;
  return [
    { count: count("events where opportunity_seq not in (select seq from opportunities)"), what: "events belong to no record" },
    { count: count("upstream_ids where opportunity_seq not in (select seq from opportunities)"), what: "upstream ids belong to no record" },
    { count: count("events where import_id not in (select id from imports)"), what: "events name an import that is not there" },
  ];
}
