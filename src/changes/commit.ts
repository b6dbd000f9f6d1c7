/** The only writer of opportunities and events: match by natural key, detect, classify, store, at one instant a transaction (D-31, D-33). */
import { and, asc, desc, eq, inArray, lte, max, ne, or, type SQL } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import {
  deleteFrom,
  exists,
  insertInto,
  listOf,
  orIgnore,
  orUpdate,
  parameter,
  pick,
  query,
  type Row,
  type RowsOf,
  select,
  update,
} from "../../db/query.ts";
import { events, facets, opportunities, readings, upstreamIds } from "../../db/schema/sqlite/catalog.ts";
import type { Change, OpportunityEvent } from "../events/event.ts";
import { opportunityId } from "../opportunities/identity.ts";
import { dueAt, statusAt } from "../opportunities/status.ts";
import { additionEvent, classify, removalEvent } from "./classify.ts";
import { erasure, withheld } from "./contacts.ts";
import {
  type Content,
  contentOf,
  documentOf,
  type IndexedFields,
  isSameHash,
  type PreparedRecord,
  parseStored,
  type RenderedContent,
  readContent,
  render,
  type StatusBasis,
  sidecarOf,
} from "./content.ts";
import { apply, detect } from "./detect.ts";
import { linkKeyOf } from "./link.ts";
import { pastEvents } from "./past.ts";

const storedColumns = pick(
  opportunities,
  "seq",
  "id",
  "source_opportunity_id",
  "created_at",
  "status_basis",
  "due_at",
  "hash",
  "document",
  "sidecar",
);

/** A stored record, as far as deciding needs it. */
export type Stored = Row<typeof storedColumns>;

/** What one record's arrival, removal or turn of the clock comes to. */
export type Decision = {
  outcome: "added" | "changed" | "unchanged";
  id: string;
  /** Its status and dates are what is stored with the text: a date that only changes its offset stays as it is written. */
  indexed: IndexedFields;
  rendered: RenderedContent;
  status_basis: StatusBasis;
  source_digest?: Uint8Array | undefined;
  events: OpportunityEvent[];
};

const hasNaturalKey = ({ source, lineage }: { source: SQL; lineage: SQL }) =>
  and(eq(opportunities.source, source), eq(opportunities.lineage, lineage));
const hasUpstreamId = ({ source, upstream_id }: { source: SQL; upstream_id: SQL }) =>
  and(eq(upstreamIds.upstream_id, upstream_id), eq(upstreamIds.source, source));

const newestUpdate = query({}, () => select({ newest: max(opportunities.updated_at) }).from(opportunities));
const storedByKey = query(pick(opportunities, "source", "lineage"), (key) =>
  select(storedColumns).from(opportunities).where(hasNaturalKey(key)),
);
const storedBySeq = query({ seq: opportunities.seq }, ({ seq }) =>
  select(storedColumns).from(opportunities).where(eq(opportunities.seq, seq)),
);
const keyIsStored = query(pick(opportunities, "source", "lineage"), (key) => select(exists).from(opportunities).where(hasNaturalKey(key)));
const dueRecords = query({ until: opportunities.due_at, limit: parameter<number>() }, ({ until, limit }) =>
  select(storedColumns)
    .from(opportunities)
    .where(lte(opportunities.due_at, until))
    .orderBy(asc(opportunities.due_at), asc(opportunities.seq))
    .limit(limit),
);
const liveRecords = query({ source: opportunities.source }, ({ source }) =>
  select(pick(opportunities, "seq", "lineage"))
    .from(opportunities)
    .where(
      and(
        eq(opportunities.source, source),
        inArray(opportunities.facet_id, select({ id: facets.id }).from(facets).where(ne(facets.status, "archived"))),
      ),
    )
    .orderBy(asc(opportunities.lineage)),
);
const recordsByUpstreamId = query(pick(upstreamIds, "source", "upstream_id"), (id) =>
  select(pick(opportunities, "seq", "id"))
    .from(upstreamIds)
    .innerJoin(opportunities, eq(opportunities.seq, upstreamIds.opportunity_seq))
    .where(hasUpstreamId(id))
    .orderBy(desc(eq(opportunities.source_opportunity_id, upstreamIds.upstream_id)), desc(opportunities.updated_at))
    .limit(1),
);
const lineagesByUpstreamId = query(pick(upstreamIds, "source", "upstream_id"), (id) =>
  select({ lineage: opportunities.lineage })
    .from(upstreamIds)
    .innerJoin(opportunities, eq(opportunities.seq, upstreamIds.opportunity_seq))
    .where(hasUpstreamId(id)),
);
const hashesByKeys = query({ source: opportunities.source, lineages: listOf(opportunities.lineage) }, ({ source, lineages }) =>
  select(pick(opportunities, "lineage", "seq", "hash"))
    .from(opportunities)
    .where(and(eq(opportunities.source, source), inArray(opportunities.lineage, lineages))),
);
const sourceDigestsByKeys = query({ source: opportunities.source, lineages: listOf(opportunities.lineage) }, ({ source, lineages }) =>
  select({ lineage: opportunities.lineage, digest: readings.digest })
    .from(opportunities)
    .innerJoin(readings, eq(readings.opportunity_seq, opportunities.seq))
    .where(and(eq(opportunities.source, source), inArray(opportunities.lineage, lineages))),
);
const upstreamIdOfRecord = query(pick(upstreamIds, "upstream_id", "opportunity_seq"), ({ upstream_id, opportunity_seq }) =>
  select(exists)
    .from(upstreamIds)
    .where(and(eq(upstreamIds.upstream_id, upstream_id), eq(upstreamIds.opportunity_seq, opportunity_seq))),
);
const facetByValues = query(pick(facets, "agency", "status", "source", "program_type"), ({ agency, status, source, program_type }) =>
  select({ id: facets.id })
    .from(facets)
    .where(and(eq(facets.agency, agency), eq(facets.status, status), eq(facets.source, source), eq(facets.program_type, program_type))),
);
const eventById = query({ id: events.id }, ({ id }) => select(exists).from(events).where(eq(events.id, id)));

const insertOpportunity = insertInto(opportunities, { key: "seq" });
const updateOpportunity = query(
  pick(
    opportunities,
    "seq",
    "source_opportunity_id",
    "updated_at",
    "facet_id",
    "status_basis",
    "due_at",
    "link_key",
    "hash",
    "document",
    "sidecar",
  ),
  ({ seq, ...values }) => update(opportunities).set(values).where(eq(opportunities.seq, seq)),
);
const updateUnserved = query(pick(opportunities, "seq", "status_basis", "due_at", "hash"), ({ seq, ...values }) =>
  update(opportunities).set(values).where(eq(opportunities.seq, seq)),
);
const insertFacet = insertInto(facets, { key: "id" });
const insertUpstreamId = insertInto(upstreamIds, { onConflict: orIgnore });
const upsertSourceDigest = insertInto(readings, { onConflict: orUpdate(readings.opportunity_seq, readings.digest) });
const deleteSourceDigest = query({ seq: readings.opportunity_seq }, ({ seq }) =>
  deleteFrom(readings).where(eq(readings.opportunity_seq, seq)),
);
const insertEventRow = insertInto(events, { key: "seq", onConflict: orIgnore });
const updateEventDocument = query(pick(events, "seq", "document"), ({ seq, document }) =>
  update(events).set({ document }).where(eq(events.seq, seq)),
);
const eventsThatMayName = query(
  { opportunity_seq: events.opportunity_seq, text: parameter<string>() },
  ({ opportunity_seq, text }, { containsText }) =>
    select(pick(events, "seq", "document"))
      .from(events)
      .where(and(eq(events.opportunity_seq, opportunity_seq), or(eq(events.origin, "imported"), containsText(events.document, text)))),
);

/**
 * Runs `write` in one transaction at one instant (ms): `wanted`, or just after the newest `updated_at` there is (D-31).
 * The write lock is taken before the instant, so that no other writer's commit can come between.
 */
export async function atNextInstant<T>(db: CatalogDb, wanted: number, write: (sql: CatalogSql, instant: number) => Promise<T>): Promise<T> {
  return db.transaction(async (sql) => write(sql, await nextInstant(sql, wanted)));
}

export async function nextInstant(sql: CatalogSql, wanted: number): Promise<number> {
  return Math.max(wanted, ((await newestInstant(sql)) ?? Number.NEGATIVE_INFINITY) + 1);
}

/** The newest `updated_at` in the catalog (ms), or `undefined` while it is empty. */
export async function newestInstant(sql: CatalogSql): Promise<number | undefined> {
  return (await sql.get(newestUpdate))?.newest ?? undefined;
}

export async function findStored(sql: CatalogSql, source: string, lineage: string): Promise<Stored | undefined> {
  return sql.get(storedByKey, { source, lineage });
}

export async function isStored(sql: CatalogSql, source: string, lineage: string): Promise<boolean> {
  return (await sql.get(keyIsStored, { source, lineage })) !== undefined;
}

/** The record of a row number that was read from the catalog: rows are never deleted. */
export async function getStored(sql: CatalogSql, seq: number): Promise<Stored> {
  const stored = await sql.get(storedBySeq, { seq });
  if (stored === undefined) throw new Error(`Cannot find the record of row ${seq}; fundfeed check says what else is wrong`);
  return stored;
}

/** Records whose turn has come at `until` (ms), the first due first. */
export async function listDue(sql: CatalogSql, until: number, count: number): Promise<Stored[]> {
  return sql.all(dueRecords, { until, limit: count });
}

/** A source's records that are not archived (D-34). */
export async function listLive(sql: CatalogSql, source: string): Promise<{ seq: number; lineage: string }[]> {
  return sql.all(liveRecords, { source });
}

/** The record that bears an upstream id, else the one that bore it last. */
export async function findByUpstreamId(
  sql: CatalogSql,
  source: string,
  upstreamId: string,
): Promise<{ seq: number; id: string } | undefined> {
  return sql.get(recordsByUpstreamId, { source, upstream_id: upstreamId });
}

/** Lineages of the records of a source that bear or bore an upstream id. */
export async function lineagesOfUpstreamId(sql: CatalogSql, source: string, upstreamId: string): Promise<string[]> {
  const rows = await sql.all(lineagesByUpstreamId, { source, upstream_id: upstreamId });
  return rows.map(({ lineage }) => lineage);
}

/** Those of some records that say nothing which is not stored already (D-32), their earlier ids included. Reads no document. */
export async function findUnchanged(sql: CatalogSql, records: readonly PreparedRecord[]): Promise<Set<PreparedRecord>> {
  const unchanged = new Set<PreparedRecord>();
  for (const [source, ofSource] of Map.groupBy(records, ({ indexed }) => indexed.source.code)) {
    const lineages = ofSource.map(({ lineage }) => lineage);
    const stored = await storedHashes(sql, source, lineages);
    for (const record of ofSource) {
      const known = stored.get(record.lineage);
      if (known === undefined || !isSameHash(record.rendered.hash, known.hash)) continue;
      if (await bearsAll(sql, known.seq, record.earlier_ids)) unchanged.add(record);
    }
  }
  return unchanged;
}

type StoredHash = RowsOf<typeof hashesByKeys>;

/** One statement for all: one for each would be a round trip for each. */
async function storedHashes(sql: CatalogSql, source: string, lineages: readonly string[]): Promise<Map<string, StoredHash>> {
  const rows = await sql.all(hashesByKeys, { source, lineages });
  return new Map(rows.map((row) => [row.lineage, row]));
}

/** The source digests of a source's records, by lineage. Reads no record, only indexes. */
export async function findSourceDigests(sql: CatalogSql, source: string, lineages: readonly string[]): Promise<Map<string, Uint8Array>> {
  const rows = await sql.all(sourceDigestsByKeys, { source, lineages });
  return new Map(rows.map(({ lineage, digest }) => [lineage, digest]));
}

/** Saves the new source digest of an unchanged record, unless the record was changed after its validation. */
export async function saveSourceDigest(sql: CatalogSql, { source, lineage, hash, source_digest }: Reread): Promise<void> {
  const stored = await findStored(sql, source, lineage);
  if (stored !== undefined && isSameHash(stored.hash, hash)) await setSourceDigest(sql, stored.seq, source_digest);
}

/** A record whose source text changed and whose content did not. */
export type Reread = { source: string; lineage: string; hash: Uint8Array; source_digest: Uint8Array };

async function setSourceDigest(sql: CatalogSql, seq: number, source_digest: Uint8Array | undefined): Promise<void> {
  if (source_digest === undefined) await sql.run(deleteSourceDigest, { seq });
  else await sql.run(upsertSourceDigest, { opportunity_seq: seq, digest: source_digest });
}

async function bearsAll(sql: CatalogSql, seq: number, upstreamIds: readonly string[]): Promise<boolean> {
  for (const id of upstreamIds) if (!(await bearsUpstreamId(sql, seq, id))) return false;
  return true;
}

/** What the arrival of a record comes to at an instant (ms). Reads and writes nothing. */
export function decide(stored: Stored | undefined, prepared: PreparedRecord, instant: number): Decision {
  const { lineage, status_basis, rendered, source_digest, restored } = prepared;
  const isGiven = status_basis === "stated" || (restored !== undefined && prepared.indexed.status !== "");
  const status = isGiven ? prepared.indexed.status : statusAt(prepared.indexed.dates, instant);
  const indexed = { ...prepared.indexed, status };
  if (stored === undefined) {
    const id = opportunityId(indexed.source.code, lineage);
    const events = [additionEvent(id, restored?.created_at ?? instant)];
    return { outcome: "added", id, indexed, rendered, status_basis, source_digest, events };
  }
  const previous = readContent(stored.document, stored.sidecar);
  const changes = detect(previous, contentOf(rendered, indexed));
  return {
    outcome: changes.length === 0 ? "unchanged" : "changed",
    id: stored.id,
    indexed: apply(previous, changes),
    rendered,
    status_basis,
    source_digest,
    events: classify(stored.id, changes, instant),
  };
}

/** The change set of a record that is missing from a snapshot (D-34): it states `archived`, without the upstream's word for its earlier status. */
export function decideRemoval(stored: Stored, instant: number): Decision {
  const previous = readContent(stored.document, stored.sidecar);
  const changes = detect(previous, { ...previous, status: "archived", status_display: null });
  const events = [removalEvent(stored.id, changes, instant)];
  return { ...decided(stored, previous, changes, "stated", events), outcome: "changed" };
}

/** The change set of erasing a record's contacts, also those that only its history had: clients that keep a history must read it again. */
export function decideRedaction(stored: Stored, instant: number): Decision {
  const previous = readContent(stored.document, stored.sidecar);
  return decided(stored, previous, [erasure], stored.status_basis, classify(stored.id, [erasure], instant));
}

/** The change set of a record's arrival. One that keeps its contacts out and changes nothing may still erase those of its history. */
export async function decideImport(
  sql: CatalogSql,
  before: Stored | undefined,
  prepared: PreparedRecord,
  instant: number,
): Promise<Decision> {
  const decision = decide(before, prepared, instant);
  if (before === undefined || decision.outcome === "changed" || !prepared.redacted) return decision;
  if ((await listNaming(sql, before.seq)).length === 0) return decision;
  return { ...decision, outcome: "changed", events: classify(before.id, [erasure], instant) };
}

/** The change set of a record that is found to have to do with another one. */
export function decideLink(stored: Stored, links: Partial<Content["relationships"]>, instant: number): Decision {
  const previous = readContent(stored.document, stored.sidecar);
  const changes = detect(previous, { ...previous, relationships: { ...previous.relationships, ...links } });
  return decided(stored, previous, changes, stored.status_basis, classify(stored.id, changes, instant));
}

/** What the clock makes of a record whose status follows its dates (D-37). */
export function decideStatus(stored: Stored, instant: number): Decision {
  const previous = readContent(stored.document, stored.sidecar);
  const changes = detect(previous, { ...previous, status: statusAt(previous.dates, instant) });
  return decided(stored, previous, changes, "dates", classify(stored.id, changes, instant));
}

function decided(
  { id }: Stored,
  previous: Content,
  changes: readonly Change[],
  status_basis: StatusBasis,
  events: OpportunityEvent[],
): Decision {
  const content = apply(previous, changes);
  const outcome = changes.length === 0 ? "unchanged" : "changed";
  return { outcome, id, indexed: content, rendered: render(content, status_basis), status_basis, events };
}

/** A stored record as the clock will have left it at an instant (ms). */
export function turned(stored: Stored, instant: number): Stored {
  if (stored.due_at === null || stored.due_at > instant) return stored;
  return { ...stored, document: documentIn(decideStatus(stored, instant), stored.created_at, instant) };
}

function documentIn({ id, indexed, rendered }: Decision, createdAt: number, updatedAt: number): Buffer {
  return documentOf(rendered, { id, status: indexed.status, dates: indexed.dates, createdAt, updatedAt });
}

/** Stores a record that is not there yet, with its events. Returns its row number. */
export async function insertRecord(
  sql: CatalogSql,
  decision: Decision,
  { lineage, earlier_ids, restored }: PreparedRecord,
  instant: number,
  importId: number,
): Promise<number> {
  const { id, indexed, rendered, status_basis } = decision;
  const { code, opportunity_id } = indexed.source;
  const [createdAt, updatedAt] = restored === undefined ? [instant, instant] : [restored.created_at, restored.updated_at];
  const seq = await sql.insert(insertOpportunity, {
    id,
    source: code,
    lineage,
    source_opportunity_id: opportunity_id,
    created_at: createdAt,
    updated_at: updatedAt,
    facet_id: await facetOf(sql, indexed),
    status_basis,
    due_at: dueOf(decision, instant),
    link_key: linkKeyOf(indexed),
    hash: rendered.hash,
    document: documentIn(decision, createdAt, updatedAt),
    sidecar: sidecarOf(rendered),
  });
  for (const upstreamId of new Set([opportunity_id, ...earlier_ids])) await addUpstreamId(sql, upstreamId, code, seq);
  if (decision.source_digest !== undefined) await setSourceDigest(sql, seq, decision.source_digest);
  await storeEvents(sql, seq, decision.events, importId);
  return seq;
}

/** Stores what became of a record. `updated_at` moves only with something that a client can see. */
export async function updateRecord(
  sql: CatalogSql,
  stored: Stored,
  decision: Decision,
  earlierIds: string[],
  instant: number,
  importId: number | null,
): Promise<void> {
  const { indexed, rendered, status_basis, source_digest } = decision;
  const { code, opportunity_id } = indexed.source;
  for (const upstreamId of new Set([opportunity_id, ...earlierIds])) await addUpstreamId(sql, upstreamId, code, stored.seq);
  const due = dueOf(decision, instant);
  const { hash } = rendered;
  if (source_digest !== undefined || !isSameHash(stored.hash, hash)) await setSourceDigest(sql, stored.seq, source_digest);
  if (decision.outcome === "unchanged") {
    await sql.run(updateUnserved, { seq: stored.seq, status_basis, due_at: due, hash });
    return;
  }
  await sql.run(updateOpportunity, {
    seq: stored.seq,
    source_opportunity_id: opportunity_id,
    updated_at: instant,
    facet_id: await facetOf(sql, indexed),
    status_basis,
    due_at: due,
    link_key: linkKeyOf(indexed),
    hash,
    document: documentIn(decision, stored.created_at, instant),
    sidecar: sidecarOf(rendered),
  });
  await storeEvents(sql, stored.seq, decision.events, importId);
}

/** How many events `storePast` would store of a record that would be stored at an instant (ms). */
export async function countNewPast(sql: CatalogSql, prepared: PreparedRecord, instant: number): Promise<number> {
  if (prepared.revisions === undefined) return 0;
  const { code } = prepared.indexed.source;
  const knownSince = (await findStored(sql, code, prepared.lineage))?.created_at ?? instant;
  let count = 0;
  for (const { id } of pastEvents(opportunityId(code, prepared.lineage), prepared, knownSince)) if (!(await hasEvent(sql, id))) count++;
  return count;
}

/** Stores the history that the upstream keeps of a record (`PreparedRecord.revisions`), each event once. Returns how many were new. */
export async function storePast(sql: CatalogSql, prepared: PreparedRecord, importId: number): Promise<number> {
  const stored = prepared.revisions === undefined ? undefined : await findStored(sql, prepared.indexed.source.code, prepared.lineage);
  if (stored === undefined) return 0;
  let count = 0;
  for (const event of pastEvents(stored.id, prepared, stored.created_at)) {
    const { type, severity } = event;
    const given = { type, severity, detected_at: Date.parse(event.detected_at) };
    if (await insertImportedEvent(sql, stored.seq, event, given, importId)) count++;
  }
  return count;
}

/** Stores an event of another history (`import events`). False when the same is there already. */
export async function insertImportedEvent(
  sql: CatalogSql,
  seq: number,
  event: OpportunityEvent,
  given: { type: string; severity: string; detected_at: number },
  importId: number,
): Promise<boolean> {
  return insertEvent(sql, seq, event, { ...given, origin: "imported" }, importId);
}

/** Erases contacts from the history of a record. Returns how many events named some. */
export async function withholdContacts(sql: CatalogSql, opportunitySeq: number): Promise<number> {
  const naming = await listNaming(sql, opportunitySeq);
  for (const { seq, without } of naming) await sql.run(updateEventDocument, { seq, document: without });
  return naming.length;
}

/** How many events of a record `withholdContacts` would change. */
export async function countNaming(sql: CatalogSql, opportunitySeq: number): Promise<number> {
  return (await listNaming(sql, opportunitySeq)).length;
}

/** The events that name contacts, and each without them. */
async function listNaming(sql: CatalogSql, opportunitySeq: number): Promise<{ seq: number; without: Buffer }[]> {
  const rows = await sql.all(eventsThatMayName, { opportunity_seq: opportunitySeq, text: '"field":"contacts"' });
  return rows.flatMap(({ seq, document }) => {
    const without = Buffer.from(JSON.stringify(withheld(parseStored(document))));
    return without.equals(document) ? [] : [{ seq, without }];
  });
}

export async function hasEvent(sql: CatalogSql, id: string): Promise<boolean> {
  return (await sql.get(eventById, { id })) !== undefined;
}

async function storeEvents(sql: CatalogSql, seq: number, events: readonly OpportunityEvent[], importId: number | null): Promise<void> {
  for (const event of events) {
    const { type, severity } = event;
    await insertEvent(sql, seq, event, { type, severity, detected_at: Date.parse(event.detected_at), origin: "detected" }, importId);
  }
}

async function insertEvent(
  sql: CatalogSql,
  seq: number,
  event: OpportunityEvent,
  columns: { type: string; severity: string; detected_at: number; origin: "detected" | "imported" },
  importId: number | null,
): Promise<boolean> {
  const written = await sql.run(insertEventRow, {
    id: event.id,
    opportunity_seq: seq,
    ...columns,
    import_id: importId,
    document: Buffer.from(JSON.stringify(event)),
  });
  return written === 1;
}

function dueOf({ indexed, status_basis }: Decision, instant: number): number | null {
  return status_basis === "dates" ? dueAt(indexed.status, indexed.dates, instant) : null;
}

async function facetOf(sql: CatalogSql, { status, source, program, organization }: IndexedFields): Promise<number> {
  const facet = { agency: organization.agency ?? "", status, source: source.code, program_type: program.type ?? "" };
  return (await sql.get(facetByValues, facet))?.id ?? (await sql.insert(insertFacet, facet));
}

async function addUpstreamId(sql: CatalogSql, upstreamId: string, source: string, seq: number): Promise<void> {
  await sql.run(insertUpstreamId, { upstream_id: upstreamId, source, opportunity_seq: seq });
}

async function bearsUpstreamId(sql: CatalogSql, seq: number, upstreamId: string): Promise<boolean> {
  return (await sql.get(upstreamIdOfRecord, { upstream_id: upstreamId, opportunity_seq: seq })) !== undefined;
}
