/** `check`: whatever can be told from the data alone about the promises of contract section 3. */
import { and, asc, desc, eq, gt, inArray, isNotNull, notExists, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { BATCH_ROWS, type CatalogDb, type CatalogSql } from "../../db/engine.ts";
import { exists, listOf, pick, query, type RowsOf, select, selectAll } from "../../db/query.ts";
import { reasonOf } from "../../db/reason.ts";
import { events, facets, imports, opportunities, settings, upstreamIds, versions } from "../../db/schema/sqlite/catalog.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { opportunityId } from "../opportunities/identity.ts";
import { statusAt } from "../opportunities/status.ts";
import { formatInstant, isFuture } from "../text/instant.ts";
import { type Content, documentOf, isSameHash, parseStored, readContent, render, sidecarOf } from "./content.ts";
import { unapply, valueAt } from "./detect.ts";
import { linkKeyOf } from "./link.ts";

/** One broken promise: where, and what is wrong there. */
export type Fault = { where: string; what: string };

type OpportunityRow = typeof opportunities.$inferSelect;
type Facet = typeof facets.$inferSelect;
type UpstreamId = typeof upstreamIds.$inferSelect;
type EventRow = RowsOf<typeof eventsOfRows>;

const allFacets = query({}, () => selectAll(facets));
const opportunitiesAfter = query({ after: opportunities.seq }, ({ after }) =>
  selectAll(opportunities).where(gt(opportunities.seq, after)).orderBy(asc(opportunities.seq)).limit(BATCH_ROWS),
);
const upstreamIdsOfRows = query({ seqs: listOf(upstreamIds.opportunity_seq) }, ({ seqs }) =>
  selectAll(upstreamIds).where(inArray(upstreamIds.opportunity_seq, seqs)),
);
const eventsOfRows = query({ seqs: listOf(events.opportunity_seq) }, ({ seqs }) =>
  select(pick(events, "id", "opportunity_seq", "detected_at", "type", "severity", "origin", "document"))
    .from(events)
    .where(inArray(events.opportunity_seq, seqs))
    .orderBy(desc(events.detected_at), desc(events.seq)),
);
const cursorSecretLength = query({}, () =>
  select({ length: sql<number>`length(${settings.value})` })
    .from(settings)
    .where(eq(settings.name, "cursor_secret")),
);
const count = { count: sql<number>`count(*)` };
const ofNoRecord = (seq: SQLiteColumn) => notExists(select(exists).from(opportunities).where(eq(opportunities.seq, seq)));
const orphanQueries = {
  "events belong to no record": query({}, () => select(count).from(events).where(ofNoRecord(events.opportunity_seq))),
  "upstream ids belong to no record": query({}, () => select(count).from(upstreamIds).where(ofNoRecord(upstreamIds.opportunity_seq))),
  "versions belong to no record that bears their id": query({}, () => {
    const borne = and(
      eq(upstreamIds.source, versions.source),
      eq(upstreamIds.upstream_id, versions.upstream_id),
      eq(upstreamIds.opportunity_seq, versions.opportunity_seq),
    );
    return select(count)
      .from(versions)
      .where(notExists(select(exists).from(upstreamIds).where(borne)));
  }),
  "events name an import that is not there": query({}, () =>
    select(count)
      .from(events)
      .where(and(isNotNull(events.import_id), notExists(select(exists).from(imports).where(eq(imports.id, events.import_id))))),
  ),
};

/** A record with all that refers to it, or that it refers to. */
type Stored = { row: OpportunityRow; facet: Facet | undefined; upstreamIds: UpstreamId[]; events: EventRow[] };

/** The last instant that a date can name. */
const END_OF_TIME = 8.64e15;

/**
 * Faults of the catalog's content, some `atMost` of them: each record with its history, then what belongs to no record. Sees one state.
 * Without `now` (ms), nothing lies in the future.
 */
export async function checkCatalog(db: CatalogDb, atMost = Number.POSITIVE_INFINITY, now = Number.POSITIVE_INFINITY): Promise<Fault[]> {
  return db.readTransaction(async (sql) => {
    const faults: Fault[] = [];
    const facets = new Map((await sql.all(allFacets)).map((each) => [each.id, each]));
    for (let after: number | undefined = Number.MIN_SAFE_INTEGER; after !== undefined; ) {
      const rows: OpportunityRow[] = await sql.all(opportunitiesAfter, { after });
      for (const stored of await withAllOf(sql, rows, facets)) faults.push(...recordFaults(stored, now));
      if (faults.length >= atMost) return faults;
      after = rows.at(-1)?.seq;
    }
    const secret = await sql.get(cursorSecretLength);
    const whole = (await orphans(sql)).filter(({ count }) => count > 0).map(({ count, what }) => `${count} ${what}`);
    if (secret?.length !== 32) whole.push("the cursor secret is missing or not 32 bytes long");
    return [...faults, ...whole.map((what) => ({ where: "the catalog", what }))];
  });
}

/** Asked for by the batch: a record at a time would be three questions each. */
async function withAllOf(sql: CatalogSql, rows: readonly OpportunityRow[], facets: ReadonlyMap<number, Facet>): Promise<Stored[]> {
  const seqs = rows.map(({ seq }) => seq);
  const upstreamIds = await sql.all(upstreamIdsOfRows, { seqs });
  const events = await sql.all(eventsOfRows, { seqs });
  const idsOf = Map.groupBy(upstreamIds, ({ opportunity_seq }) => opportunity_seq);
  const eventsOf = Map.groupBy(events, ({ opportunity_seq }) => opportunity_seq);
  return rows.map((row) => ({
    row,
    facet: facets.get(row.facet_id),
    upstreamIds: idsOf.get(row.seq) ?? [],
    events: eventsOf.get(row.seq) ?? [],
  }));
}

function recordFaults(stored: Stored, now: number): Fault[] {
  const { source, source_opportunity_id, id } = stored.row;
  const where = `${source} ${source_opportunity_id} (${id})`;
  const faults: Fault[] = [];
  try {
    for (const what of faultsOf(stored, now)) faults.push({ where, what });
  } catch (error) {
    faults.push({ where, what: `cannot be read: ${reasonOf(error)}` });
  }
  return faults;
}

function* faultsOf({ row, facet, upstreamIds, events }: Stored, now: number): Iterable<string> {
  const content = readContent(row.document, row.sidecar);
  const rendered = render(content, row.status_basis);
  const { id, created_at: createdAt, updated_at: updatedAt } = row;
  if (!documentOf(rendered, { id, status: content.status, dates: content.dates, createdAt, updatedAt }).equals(row.document))
    yield "its document is not what its columns say";
  if (!sidecarOf(rendered).equals(row.sidecar)) yield "its sidecar is not in its canonical form";
  if (row.id !== opportunityId(row.source, row.lineage)) yield "its id does not derive from source and lineage (D-30)";
  if (content.source.code !== row.source) yield "its source differs from its document's";
  if (content.source.opportunity_id !== row.source_opportunity_id) yield "its upstream id differs from its document's";
  if (!isSameHash(rendered.hash, row.hash)) yield "its hash is not its content's";
  if (linkKeyOf(content) !== row.link_key) yield "its link key is not its content's";
  if (row.created_at > row.updated_at) yield "it was updated before it was created";
  if (isFuture(row.updated_at, now)) yield `its updated_at lies in the future: ${formatInstant(row.updated_at)} (D-31)`;
  if (!isFacetOf(facet, row, content)) yield "its facet is not its document's";
  yield* clockFaults(row, content);
  if (!upstreamIds.some((each) => each.upstream_id === row.source_opportunity_id && each.source === row.source))
    yield "it cannot be found by its upstream id (D-14)";
  yield* historyFaults(row, events, content);
}

function isFacetOf(facet: Facet | undefined, row: OpportunityRow, { status, organization, program }: Content): boolean {
  return (
    facet !== undefined &&
    facet.status === status &&
    facet.source === row.source &&
    facet.program_type === (program.type ?? "") &&
    facet.agency === (organization.agency ?? "")
  );
}

function* clockFaults({ status_basis, due_at }: OpportunityRow, { status, dates }: Content): Iterable<string> {
  if (status_basis === "stated" && due_at !== null) yield "it stated its status, and the clock would still move it (D-37)";
  if (status_basis !== "dates") return;
  if (due_at === null && statusAt(dates, END_OF_TIME) !== status)
    yield "its status follows its dates, and the clock would never move it (D-37)";
  if (due_at !== null && statusAt(dates, due_at) === status) yield "the clock would move it when there is nothing to move (D-37)";
}

/** Undone from the newest on, every event must fit the state that the later ones leave, down to the addition. */
function* historyFaults(row: OpportunityRow, events: readonly EventRow[], present: Content): Iterable<string> {
  let state = present;
  let oldest: string | undefined;
  for (const each of events) {
    const event = parseStored<OpportunityEvent>(each.document);
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

async function orphans(sql: CatalogSql): Promise<{ count: number; what: string }[]> {
  const found = [];
  for (const [what, orphans] of Object.entries(orphanQueries)) found.push({ count: (await sql.get(orphans))?.count ?? 0, what });
  return found;
}
