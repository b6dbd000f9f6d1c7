/** The only writer of opportunities and events: match by natural key, detect, classify, store, at one instant a transaction (D-31, D-33). */
import type { Database } from "bun:sqlite";
import type { CatalogDb } from "../../db/open.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { formatInstant } from "../instant.ts";
import { opportunityId } from "../opportunities/identity.ts";
import { dueAt, statusAt } from "../opportunities/status.ts";
import { additionEvent, classify, removalEvent } from "./classify.ts";
import { withheld } from "./contacts.ts";
import { type Content, hashOf, type Incoming, readContent, renderDocument, renderSidecar, type StatusBasis } from "./content.ts";
import { apply, detect } from "./detect.ts";
import { linkKeyOf } from "./link.ts";
import { pastEvents } from "./past.ts";

/** A stored record, as far as deciding needs it. */
export type Stored = {
  seq: number;
  id: string;
  source_opportunity_id: string;
  created_at: number;
  status_basis: StatusBasis;
  due_at: number | null;
  hash: Uint8Array;
  document: Uint8Array;
  sidecar: Uint8Array;
};

/** What one record's arrival, removal or turn of the clock comes to. */
export type Decision = {
  outcome: "added" | "changed" | "unchanged";
  content: Content;
  status_basis: StatusBasis;
  /** `hashOf` the content, where it was computed already. */
  hash?: Uint8Array | undefined;
  events: OpportunityEvent[];
};

const STORED = "select seq, id, source_opportunity_id, created_at, status_basis, due_at, hash, document, sidecar from opportunities";

/**
 * Runs `write` in one transaction at one instant (ms): `wanted`, or just after the newest `updated_at` there is (D-31).
 * The write lock is taken before the instant, so that no other writer's commit can come between.
 */
export function atNextInstant<T>(db: CatalogDb, wanted: number, write: (instant: number) => T): T {
  return inTransaction(db, () => write(nextInstant(db, wanted)));
}

/** Begins a read transaction, which spares each statement the file locks that it would take alone. `renew` lets what is newer be seen. */
export function beginReading({ sqlite }: CatalogDb): { renew: () => void; end: () => void } {
  sqlite.run("begin");
  return {
    renew: () => {
      sqlite.run("commit");
      sqlite.run("begin");
    },
    end: () => void sqlite.run("commit"),
  };
}

export function nextInstant({ sqlite }: CatalogDb, wanted: number): number {
  return Math.max(wanted, (newestInstant(sqlite) ?? Number.NEGATIVE_INFINITY) + 1);
}

/** The newest `updated_at` in the catalogue (ms), or `undefined` while it is empty. */
export function newestInstant(sqlite: Database): number | undefined {
  return sqlite.query<{ newest: number | null }, []>("select max(updated_at) as newest from opportunities").get()?.newest ?? undefined;
}

export function findStored({ sqlite }: CatalogDb, source: string, lineage: string): Stored | undefined {
  return sqlite.query<Stored, [string, string]>(`${STORED} where source = ? and lineage = ?`).get(source, lineage) ?? undefined;
}

export function isStored({ sqlite }: CatalogDb, source: string, lineage: string): boolean {
  return (
    sqlite.query<unknown, [string, string]>("select 1 from opportunities where source = ? and lineage = ?").get(source, lineage) !== null
  );
}

/** The record of a row number that was read from the catalogue: rows are never deleted. */
export function getStored({ sqlite }: CatalogDb, row: number): Stored {
  const stored = sqlite.query<Stored, [number]>(`${STORED} where seq = ?`).get(row);
  if (stored === null) throw new Error(`Cannot find the record of row ${row}; fundfeed check says what else is wrong`);
  return stored;
}

/** Records whose turn has come at `until` (ms), the first due first. */
export function listDue({ sqlite }: CatalogDb, until: number, count: number): Stored[] {
  return sqlite.query<Stored, [number, number]>(`${STORED} where due_at <= ? order by due_at, seq limit ?`).all(until, count);
}

/** A source's records that are not archived (D-34). */
export function listLive({ sqlite }: CatalogDb, source: string): { seq: number; lineage: string }[] {
  return sqlite
    .query<{ seq: number; lineage: string }, [string]>(
      `select seq, lineage from opportunities
       where source = ? and facet_id in (select id from facets where status <> 'archived') order by lineage`,
    )
    .all(source);
}

/** The record that bears an upstream id, else the one that bore it last. */
export function findByUpstreamId({ sqlite }: CatalogDb, source: string, upstreamId: string): { seq: number; id: string } | undefined {
  const row = sqlite
    .query<{ seq: number; id: string }, [string, string]>(
      `select seq, id from upstream_ids join opportunities on seq = opportunity_seq
       where upstream_ids.upstream_id = ? and upstream_ids.source = ?
       order by source_opportunity_id = upstream_id desc, updated_at desc limit 1`,
    )
    .get(upstreamId, source);
  return row ?? undefined;
}

/** Lineages of the records of a source that bear or bore an upstream id. */
export function lineagesOfUpstreamId({ sqlite }: CatalogDb, source: string, upstreamId: string): string[] {
  return sqlite
    .query<{ lineage: string }, [string, string]>(
      `select lineage from upstream_ids join opportunities on seq = opportunity_seq
       where upstream_ids.upstream_id = ? and upstream_ids.source = ?`,
    )
    .all(upstreamId, source)
    .map(({ lineage }) => lineage);
}

/** Whether what is stored already says all that this record says (D-32), its earlier ids included. Reads no document. */
export function isUnchanged(db: CatalogDb, { content, lineage, earlier_ids }: Incoming, hash: Buffer): boolean {
  const stored = db.sqlite
    .query<{ seq: number; hash: Uint8Array }, [string, string]>("select seq, hash from opportunities where source = ? and lineage = ?")
    .get(content.source.code, lineage);
  if (stored === null || !hash.equals(stored.hash)) return false;
  return earlier_ids.every((id) => bearsUpstreamId(db, stored.seq, id));
}

/** What the arrival of a record comes to at an instant (ms). Reads and writes nothing. */
export function decide(stored: Stored | undefined, incoming: Incoming, instant: number): Decision {
  const { status_basis, hash } = incoming;
  const isGiven = status_basis === "stated" || (incoming.restored !== undefined && incoming.content.status !== "");
  const status = isGiven ? incoming.content.status : statusAt(incoming.content.dates, instant);
  const content = { ...incoming.content, status };
  if (stored === undefined) {
    const id = opportunityId(content.source.code, incoming.lineage);
    return { outcome: "added", content, status_basis, hash, events: [additionEvent(id, incoming.restored?.created_at ?? instant)] };
  }
  const previous = readContent(stored.document, stored.sidecar);
  const changes = detect(previous, content);
  return {
    outcome: changes.length === 0 ? "unchanged" : "changed",
    content: apply(previous, changes),
    status_basis,
    hash, // What is told apart here is told apart by the hash too.
    events: classify(stored.id, changes, instant),
  };
}

/** What the absence of a record from a snapshot comes to (D-34): it is archived, and says so itself from then on. */
export function decideRemoval(stored: Stored, instant: number): Decision {
  const previous = readContent(stored.document, stored.sidecar);
  const changes = detect(previous, { ...previous, status: "archived" });
  return {
    outcome: "changed",
    content: apply(previous, changes),
    status_basis: "stated",
    events: [removalEvent(stored.id, changes, instant)],
  };
}

/** What it comes to that a record's contacts are erased. */
export function decideRedaction(stored: Stored, instant: number): Decision {
  const previous = readContent(stored.document, stored.sidecar);
  const changes = detect(previous, { ...previous, contacts: [] });
  return {
    outcome: changes.length === 0 ? "unchanged" : "changed",
    content: apply(previous, changes),
    status_basis: stored.status_basis,
    events: classify(stored.id, changes, instant).map(withheld),
  };
}

/** What it comes to that another source's record stands for the same opportunity. */
export function decideLink(stored: Stored, canonicalId: string, instant: number): Decision {
  const previous = readContent(stored.document, stored.sidecar);
  const changes = detect(previous, { ...previous, relationships: { ...previous.relationships, canonical_id: canonicalId } });
  return {
    outcome: changes.length === 0 ? "unchanged" : "changed",
    content: apply(previous, changes),
    status_basis: stored.status_basis,
    events: classify(stored.id, changes, instant),
  };
}

/** What the clock makes of a record whose status follows its dates (D-37). */
export function decideStatus(stored: Stored, instant: number): Decision {
  const previous = readContent(stored.document, stored.sidecar);
  const changes = detect(previous, { ...previous, status: statusAt(previous.dates, instant) });
  return {
    outcome: changes.length === 0 ? "unchanged" : "changed",
    content: apply(previous, changes),
    status_basis: "dates",
    events: classify(stored.id, changes, instant),
  };
}

/** A stored record as the clock will have left it at an instant (ms). */
export function turned(stored: Stored, instant: number): Stored {
  if (stored.due_at === null || stored.due_at > instant) return stored;
  const { content } = decideStatus(stored, instant);
  return { ...stored, document: renderDocument(stored.id, content, "", "") };
}

/** Stores a record that is not there yet, with its events. */
export function insert(
  db: CatalogDb,
  decision: Decision,
  { lineage, earlier_ids, restored }: Incoming,
  instant: number,
  importId: number,
): void {
  const { content, status_basis } = decision;
  const { code, opportunity_id } = content.source;
  const id = opportunityId(code, lineage);
  const [createdAt, updatedAt] = restored === undefined ? [instant, instant] : [restored.created_at, restored.updated_at];
  const { seq } = db.sqlite
    .query<{ seq: number }, (string | number | null | Uint8Array)[]>(
      `insert into opportunities (id, source, lineage, source_opportunity_id, created_at, updated_at, facet_id, status_basis, due_at, link_key, hash, document, sidecar)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning seq`,
    )
    .get(
      id,
      code,
      lineage,
      opportunity_id,
      createdAt,
      updatedAt,
      facetOf(db, content),
      status_basis,
      dueOf(decision, instant),
      linkKeyOf(content),
      decision.hash ?? hashOf(content, status_basis),
      renderDocument(id, content, formatInstant(createdAt), formatInstant(updatedAt)),
      renderSidecar(content),
    ) ?? { seq: 0 };
  for (const upstreamId of new Set([opportunity_id, ...earlier_ids])) addUpstreamId(db, upstreamId, code, seq);
  storeEvents(db, seq, decision.events, importId);
}

/** Stores what became of a record. `updated_at` moves only with something that a client can see. */
export function update(
  db: CatalogDb,
  stored: Stored,
  decision: Decision,
  earlierIds: string[],
  instant: number,
  importId: number | null,
): void {
  const { content, status_basis } = decision;
  const { code, opportunity_id } = content.source;
  for (const upstreamId of new Set([opportunity_id, ...earlierIds])) addUpstreamId(db, upstreamId, code, stored.seq);
  const due = dueOf(decision, instant);
  if (decision.outcome === "unchanged") {
    db.sqlite
      .query("update opportunities set status_basis = ?, due_at = ?, hash = ? where seq = ?")
      .run(status_basis, due, decision.hash ?? hashOf(content, status_basis), stored.seq);
    return;
  }
  db.sqlite
    .query(
      `update opportunities set source_opportunity_id = ?, updated_at = ?, facet_id = ?, status_basis = ?, due_at = ?, link_key = ?, hash = ?, document = ?, sidecar = ?
       where seq = ?`,
    )
    .run(
      opportunity_id,
      instant,
      facetOf(db, content),
      status_basis,
      due,
      linkKeyOf(content),
      decision.hash ?? hashOf(content, status_basis),
      renderDocument(stored.id, content, formatInstant(stored.created_at), formatInstant(instant)),
      renderSidecar(content),
      stored.seq,
    );
  storeEvents(db, stored.seq, decision.events, importId);
}

/** How many events `storePast` would store of a record that would be stored at an instant (ms). */
export function countNewPast(db: CatalogDb, incoming: Incoming, instant: number): number {
  if (incoming.past === undefined) return 0;
  const { code } = incoming.content.source;
  const knownSince = findStored(db, code, incoming.lineage)?.created_at ?? instant;
  return pastEvents(opportunityId(code, incoming.lineage), incoming, knownSince).filter(({ id }) => !hasEvent(db, id)).length;
}

/** Stores what the upstream tells of a record's past (`Incoming.past`), each event once, and tells how many were new. */
export function storePast(db: CatalogDb, incoming: Incoming, importId: number): number {
  const stored = incoming.past === undefined ? undefined : findStored(db, incoming.content.source.code, incoming.lineage);
  if (stored === undefined) return 0;
  const events = pastEvents(stored.id, incoming, stored.created_at);
  const given = ({ type, severity, detected_at }: OpportunityEvent) => ({ type, severity, detected_at: Date.parse(detected_at) });
  return events.filter((event) => insertImportedEvent(db, stored.seq, event, given(event), importId)).length;
}

/** Stores an event of another history (`import events`). False when the same is there already. */
export function insertImportedEvent(
  db: CatalogDb,
  seq: number,
  event: OpportunityEvent,
  given: { type: string; severity: string; detected_at: number },
  importId: number,
): boolean {
  return insertEvent(db, seq, event, { ...given, origin: "imported" }, importId);
}

/** Takes the contacts out of what a record's history tells. How many events told of some. */
export function withholdContacts({ sqlite }: CatalogDb, row: number): number {
  const rows = sqlite
    .query<{ seq: number; document: Uint8Array }, [number]>(
      `select seq, document from events where opportunity_seq = ? and instr(document, '"field":"contacts"') > 0`,
    )
    .all(row);
  const telling = rows
    .map((event) => ({ ...event, without: Buffer.from(JSON.stringify(withheld(JSON.parse(Buffer.from(event.document).toString())))) }))
    .filter(({ document, without }) => !without.equals(document));
  for (const { seq, without } of telling) sqlite.query("update events set document = ? where seq = ?").run(without, seq);
  return telling.length;
}

export function hasEvent({ sqlite }: CatalogDb, id: string): boolean {
  return sqlite.query<unknown, [string]>("select 1 from events where id = ?").get(id) !== null;
}

/** Several writes as one, without an instant of their own. */
export function inTransaction<T>({ sqlite }: CatalogDb, work: () => T): T {
  return sqlite.transaction(work).immediate();
}

function storeEvents(db: CatalogDb, seq: number, events: readonly OpportunityEvent[], importId: number | null): void {
  for (const event of events) {
    const { type, severity } = event;
    insertEvent(db, seq, event, { type, severity, detected_at: Date.parse(event.detected_at), origin: "detected" }, importId);
  }
}

function insertEvent(
  { sqlite }: CatalogDb,
  seq: number,
  event: OpportunityEvent,
  columns: { type: string; severity: string; detected_at: number; origin: "detected" | "imported" },
  importId: number | null,
): boolean {
  const { changes } = sqlite
    .query(
      `insert into events (id, opportunity_seq, detected_at, type, severity, origin, import_id, document)
       values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`,
    )
    .run(event.id, seq, columns.detected_at, columns.type, columns.severity, columns.origin, importId, Buffer.from(JSON.stringify(event)));
  return changes === 1;
}

function dueOf({ content, status_basis }: Decision, instant: number): number | null {
  return status_basis === "dates" ? dueAt(content.status, content.dates, instant) : null;
}

function facetOf({ sqlite }: CatalogDb, { status, source, program, organization }: Content): number {
  const values = [organization.agency ?? "", status, source.code, program.type ?? ""] as const;
  const find = sqlite.query<{ id: number }, [string, string, string, string]>(
    "select id from facets where agency = ? and status = ? and source = ? and program_type = ?",
  );
  const found = find.get(...values);
  if (found !== null) return found.id;
  sqlite.query("insert into facets (agency, status, source, program_type) values (?, ?, ?, ?)").run(...values);
  return find.get(...values)?.id ?? 0;
}

function addUpstreamId({ sqlite }: CatalogDb, upstreamId: string, source: string, seq: number): void {
  sqlite
    .query("insert into upstream_ids (upstream_id, source, opportunity_seq) values (?, ?, ?) on conflict do nothing")
    .run(upstreamId, source, seq);
}

function bearsUpstreamId({ sqlite }: CatalogDb, seq: number, upstreamId: string): boolean {
  return (
    sqlite
      .query<unknown, [string, number]>("select 1 from upstream_ids where upstream_id = ? and opportunity_seq = ?")
      .get(upstreamId, seq) !== null
  );
}
