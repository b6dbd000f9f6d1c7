/** `fundfeed check`: what the contract promises about stored records and their history, as far as the data alone show it. */
import { and, asc, desc, eq, gt, inArray, isNotNull, max, notExists, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { exists, listOf, pick, query, type RowsOf, select, selectAll, selectAmong } from "../../db/query.ts";
import { reasonOf } from "../../db/reason.ts";
import {
  earlierSidecars,
  events,
  facets,
  imports,
  linkKeys,
  opportunities,
  settings,
  upstreamIds,
  versions,
} from "../../db/schema/sqlite/catalog.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { clockedAt, clockTurnsAt } from "../opportunities/clock.ts";
import { opportunityId } from "../opportunities/identity.ts";
import { type EpochMs, formatInstant, isFuture } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";
import { type Content, documentOf, isSameHash, readContent, render, sidecarOf } from "./content.ts";
import { type CountChanges, countRecord, noChanges, wrongCounts } from "./counts.ts";
import { detect, unapply, valueAt } from "./detect.ts";
import { linkKeysOf } from "./link.ts";

export type Fault = { where: string; what: string };

type OpportunityRow = typeof opportunities.$inferSelect;
type Facet = typeof facets.$inferSelect;
type UpstreamId = RowsOf<typeof upstreamIdsOfRows>;
type LinkKey = typeof linkKeys.$inferSelect;
type EventRow = RowsOf<typeof eventsOfRows>;

/** Records read at a time with all their events. Larger batches are no faster. */
const CHECKED_AT_ONCE = 200;

const COLLECT_EVERY = 20_000;

const allFacets = query({}, () => selectAll(facets));
const opportunitiesAfter = query({ after: opportunities.seq }, ({ after }) =>
  selectAll(opportunities).where(gt(opportunities.seq, after)).orderBy(asc(opportunities.seq)).limit(CHECKED_AT_ONCE),
);
const upstreamIdsOfRows = selectAmong(upstreamIds, ["source", "upstream_id", "opportunity_seq"], "opportunity_seq");
const linkKeysOfRecords = selectAmong(linkKeys, ["opportunity_id", "key", "role", "newness"], "opportunity_id");
const eventsOfRows = query({ seqs: listOf(events.opportunity_seq) }, ({ seqs }) =>
  select(pick(events, "id", "opportunity_seq", "detected_at", "type", "severity", "origin", "document"))
    .from(events)
    .where(inArray(events.opportunity_seq, seqs))
    .orderBy(desc(events.detected_at), desc(events.seq)),
);
const lastRow = query({}, () => select({ seq: max(opportunities.seq) }).from(opportunities));
const cursorSecretLength = query({}, () =>
  select({ length: sql<number>`length(${settings.value})` })
    .from(settings)
    .where(eq(settings.name, "cursor_secret")),
);
const countWhere = (table: SQLiteTable, condition: () => SQL | undefined) =>
  query({}, () => select({ count: sql<number>`count(*)` }).from(table).where(condition()));
const isMissing = (column: SQLiteColumn, of: SQLiteColumn) => notExists(select(exists).from(column.table).where(eq(column, of)));
const isIdOfVersion = and(
  eq(upstreamIds.source, versions.source),
  eq(upstreamIds.upstream_id, versions.upstream_id),
  eq(upstreamIds.opportunity_seq, versions.opportunity_seq),
);
const orphanQueries = {
  "events belong to no record": countWhere(events, () => isMissing(opportunities.seq, events.opportunity_seq)),
  "upstream ids belong to no record": countWhere(upstreamIds, () => isMissing(opportunities.seq, upstreamIds.opportunity_seq)),
  "earlier sidecars belong to no record": countWhere(earlierSidecars, () => isMissing(opportunities.seq, earlierSidecars.opportunity_seq)),
  "link keys belong to no record": countWhere(linkKeys, () => isMissing(opportunities.id, linkKeys.opportunity_id)),
  "versions belong to a record without their id": countWhere(versions, () =>
    notExists(select(exists).from(upstreamIds).where(isIdOfVersion)),
  ),
  "events refer to a missing import": countWhere(events, () => and(isNotNull(events.import_id), isMissing(imports.id, events.import_id))),
};

type Checked = { row: OpportunityRow; facet: Facet | undefined; upstreamIds: UpstreamId[]; keys: LinkKey[]; events: EventRow[] };

/** The last instant of JavaScript's dates. */
const END_OF_TIME = 8.64e15;

/**
 * The faults of each record with its history, then of the catalog, in one read transaction. Stops soon after `atMost` faults. Instants
 * later than `now` are faults. `report` gets the row numbers checked, and the greatest one.
 */
export async function checkCatalog(
  db: CatalogDb,
  atMost = Number.POSITIVE_INFINITY,
  now: EpochMs = Number.POSITIVE_INFINITY,
  report: (done: number, total: number) => void = () => undefined,
): Promise<Fault[]> {
  return db.readTransaction(async (sql) => {
    const faults: Fault[] = [];
    const counted = noChanges();
    const last = (await sql.get(lastRow))?.seq ?? 0;
    const facets = new Map((await sql.all(allFacets)).map((each) => [each.id, each]));
    let uncollected = 0;
    for (let after: number | undefined = Number.MIN_SAFE_INTEGER; after !== undefined; ) {
      const rows: OpportunityRow[] = await sql.all(opportunitiesAfter, { after });
      for (const checked of await readAll(sql, rows, facets)) faults.push(...recordFaults(checked, now, counted));
      if (faults.length >= atMost) return faults;
      after = rows.at(-1)?.seq;
      if (after !== undefined) report(after, last);
      uncollected += rows.length;
      if (uncollected >= COLLECT_EVERY) {
        Bun.gc(true);
        uncollected = 0;
      }
    }
    const secret = await sql.get(cursorSecretLength);
    const catalogFaults = (await orphans(sql)).filter(({ count }) => count > 0).map(({ count, what }) => `${count} ${what}`);
    if (secret?.length !== 32) catalogFaults.push("the cursor secret is missing or not 32 bytes long");
    catalogFaults.push(...(await wrongCounts(sql, counted)));
    return [...faults, ...catalogFaults.map((what) => ({ where: "the catalog", what }))];
  });
}

async function readAll(sql: CatalogSql, rows: readonly OpportunityRow[], facets: ReadonlyMap<number, Facet>): Promise<Checked[]> {
  const seqs = rows.map(({ seq }) => seq);
  const upstreamIds = await sql.all(upstreamIdsOfRows, { opportunity_seq: seqs });
  const keys = await sql.all(linkKeysOfRecords, { opportunity_id: rows.map(({ id }) => id) });
  const events = await sql.all(eventsOfRows, { seqs });
  const idsOf = Map.groupBy(upstreamIds, ({ opportunity_seq }) => opportunity_seq);
  const keysOf = Map.groupBy(keys, ({ opportunity_id }) => opportunity_id);
  const eventsOf = Map.groupBy(events, ({ opportunity_seq }) => opportunity_seq);
  return rows.map((row) => ({
    row,
    facet: facets.get(row.facet_id),
    upstreamIds: idsOf.get(row.seq) ?? [],
    keys: keysOf.get(row.id) ?? [],
    events: eventsOf.get(row.seq) ?? [],
  }));
}

function recordFaults(checked: Checked, now: EpochMs, counted: CountChanges): Fault[] {
  const { source, source_opportunity_id, id } = checked.row;
  const where = `${source} ${source_opportunity_id} (${id})`;
  const faults: Fault[] = [];
  try {
    const content = readContent(checked.row.document, checked.row.sidecar);
    countRecord(counted, checked.row, content, 1);
    for (const what of faultsOf(checked, content, now)) faults.push({ where, what });
  } catch (error) {
    faults.push({ where, what: `cannot be read: ${reasonOf(error)}` });
  }
  return faults;
}

function* faultsOf({ row, facet, upstreamIds, keys, events }: Checked, content: Content, now: EpochMs): Iterable<string> {
  const rendered = render(content, row.status_basis);
  const { id, created_at: createdAt, updated_at: updatedAt } = row;
  if (!documentOf(rendered, { ...content, id, createdAt, updatedAt }).equals(row.document)) yield "its document does not match its columns";
  if (!sidecarOf(rendered, content).equals(row.sidecar)) yield "its sidecar is not in its canonical form";
  if (row.id !== opportunityId(row.source, row.lineage)) yield "its id does not derive from source and lineage (D-30)";
  if (content.source.code !== row.source) yield "its source differs from its document's";
  if (content.source.opportunity_id !== row.source_opportunity_id) yield "its upstream id differs from its document's";
  if (!isSameHash(rendered.hash, row.hash)) yield "its hash does not match its content";
  if (linkKeysText(linkKeysOf(content)) !== linkKeysText(keys)) yield "its link keys do not match its content";
  if (row.updated_at > row.stored_at) yield "it was updated after it was stored";
  const { canonical_id, parent_id } = content.relationships;
  if (canonical_id !== row.canonical_id || parent_id !== row.parent_id) yield "its relationships differ from its document's";
  if (row.created_at > row.updated_at) yield "it was updated before it was created";
  if (isFuture(row.updated_at, now)) yield `its updated_at lies in the future: ${formatInstant(row.updated_at)} (D-31)`;
  const { status, program, organization } = content;
  const own = { status, source: row.source, program_type: program.type ?? "", agency: organization.agency ?? "" };
  if (facet === undefined || !Bun.deepEquals({ ...facet, ...own }, facet)) yield "its facet does not match its document";
  yield* clockFaults(row, content);
  if (!upstreamIds.some((each) => each.upstream_id === row.source_opportunity_id && each.source === row.source))
    yield "it cannot be found by its upstream id (D-14)";
  yield* historyFaults(row, events, content);
}

function linkKeysText(keys: readonly Omit<LinkKey, "opportunity_id">[]): string {
  return keys
    .map(({ key, role, newness }) => JSON.stringify([key, role, newness]))
    .sort()
    .join();
}

function* clockFaults({ status_basis, turns_at, stored_at }: OpportunityRow, content: Content): Iterable<string> {
  const { stated, due_dates } = content;
  const changes = (at: EpochMs) =>
    detect(content, { ...content, ...clockedAt(content, status_basis, at) }).some(({ field }) => field !== "status_display");
  const isFixed = status_basis === "stated" && stated === undefined && due_dates.length === 0;
  if (isFixed && turns_at !== null) yield "its status is stated and would still turn (D-37)";
  else if (turns_at === null && changes(END_OF_TIME)) yield "it follows the clock and would never turn (D-37)";
  else if (turns_at !== null && !changes(turns_at)) yield "its turn is due at an instant that changes nothing (D-37)";
  // Judged by a clock that was ahead, it is due immediately, and corrected.
  else if (turns_at !== null && turns_at > stored_at && clockTurnsAt(content, status_basis, turns_at - 1) !== turns_at)
    yield "its turn is due after the instant at which the clock changes it (D-37)";
}

/** Undoes the events, the newest first. Each must lead to what undoing the later ones left. */
function* historyFaults(row: OpportunityRow, events: readonly EventRow[], present: Content): Iterable<string> {
  let state = present;
  let oldest: string | undefined;
  for (const each of events) {
    const event = parseStored<OpportunityEvent>(each.document);
    yield* eventFaults(each, event, row);
    if (each.origin !== "detected") continue;
    const mismatch = event.changes.find(
      ({ field, current }) => JSON.stringify(valueAt(state, field.split("."))) !== JSON.stringify(current),
    );
    if (mismatch !== undefined) yield `its history does not lead to its content: ${mismatch.field} differs after event ${each.id}`;
    if (each.detected_at > row.updated_at) yield `event ${each.id} is later than the record's updated_at (D-33)`;
    state = unapply(state, event.changes);
    oldest = each.type;
  }
  const detected = events.filter(({ origin }) => origin === "detected");
  if (oldest !== "opportunity_added") yield "its history does not begin with its addition";
  if (detected.filter(({ type }) => type === "opportunity_added").length > 1) yield "it was added more than once";
  // A restored record may be newer: `export` has no events.
  if (detected.length > 1 && detected[0]?.detected_at !== row.updated_at) yield "its newest event is not at its updated_at (D-33)";
}

function* eventFaults(row: EventRow, event: OpportunityEvent, opportunity: OpportunityRow): Iterable<string> {
  if (event.id !== row.id || event.opportunity_id !== opportunity.id || event.detected_at !== formatInstant(row.detected_at)) {
    yield `event ${row.id} does not match its columns`;
  }
  if (row.origin === "detected" && (event.type !== row.type || event.severity !== row.severity))
    yield `event ${row.id} has another type or severity in its document`;
  if (event.changes.map(({ field }) => field).join() !== event.changed_fields.join() && row.origin === "detected") {
    yield `the changed_fields of event ${row.id} differ from its changes`;
  }
}

async function orphans(sql: CatalogSql): Promise<{ count: number; what: string }[]> {
  const found = [];
  for (const [what, orphans] of Object.entries(orphanQueries)) found.push({ count: (await sql.get(orphans))?.count ?? 0, what });
  return found;
}
