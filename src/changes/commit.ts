/** The only writer of opportunities and events: all of a transaction at one instant (D-31, D-33). */

import { gt, inArray } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { deleteBy, insertInto, listOf, orIgnore, orUpdate, pick, query, selectSome, update, updateBy } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { earlierSidecars, events, facets, opportunities, readings, upstreamIds } from "../../db/schema/sqlite/catalog.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { clockTurnsAt } from "../opportunities/clock.ts";
import { noteInstant } from "../sources/instants.ts";
import { CLOCK_SKEW_MAX_MS, type EpochMs } from "../text/instant.ts";
import { describeNewest } from "./backfill.ts";
import { type IndexedFields, isSameHash, type PreparedRecord, readContent, sidecarOf, unreported } from "./content.ts";
import { type CountChanges, countRecord, noChanges, saveCounts } from "./counts.ts";
import { type Decision, decidedDocument } from "./decide.ts";
import { isJudgedAhead, judgingInstant, noteJudged } from "./judging.ts";
import { keysOfUpstreamIds, noteMovedKeys, saveLinkKeys } from "./link.ts";
import { findStored, instantAfter, listEventsWithContacts, newestInstant, type StoredRecord } from "./stored.ts";

const insertOpportunity = insertInto(opportunities, { key: "seq" });
const updateOpportunity = updateBy(
  opportunities,
  [
    "source_opportunity_id",
    "updated_at",
    "stored_at",
    "facet_id",
    "status_basis",
    "turns_at",
    "canonical_id",
    "parent_id",
    "hash",
    "document",
    "sidecar",
  ],
  "seq",
);
const updateUnserved = updateBy(opportunities, ["stored_at", "status_basis", "turns_at", "hash", "sidecar"], "seq");
const touchBySeq = query({ seqs: listOf(opportunities.seq), stored_at: opportunities.stored_at }, ({ seqs, stored_at }) =>
  update(opportunities).set({ stored_at }).where(inArray(opportunities.seq, seqs)),
);
const makeDue = query(pick(opportunities, "turns_at", "stored_at"), ({ turns_at, stored_at }) =>
  update(opportunities).set({ turns_at }).where(gt(opportunities.stored_at, stored_at)),
);
const facetByValues = selectSome(facets, ["id"], "agency", "status", "source", "program_type");
const insertFacet = insertInto(facets, { key: "id" });
const insertUpstreamId = insertInto(upstreamIds, { onConflict: orIgnore });
/** Of two changes at one instant, the first keeps the earlier value. */
const insertEarlierSidecar = insertInto(earlierSidecars, { onConflict: orIgnore });
const upsertSourceDigest = insertInto(readings, { onConflict: orUpdate(readings.opportunity_seq, readings.digest) });
const deleteSourceDigest = deleteBy(readings, "opportunity_seq");
const insertEventRow = insertInto(events, { key: "seq", onConflict: orIgnore });
const updateEventDocument = updateBy(events, ["document"], "seq");

const MOVED_AT_ONCE = 1000;

/** `instant` dates records and events, statuses are judged at `now`, `movedKeys` may lead to other records (`link.ts`). */
export type Writing = { sql: CatalogSql; instant: EpochMs; now: EpochMs; counts: CountChanges; movedKeys: string[] };

/** Runs `write` in one transaction at `clock`, or just after the newest `stored_at` (D-31). It takes the write lock first. */
export async function atNextInstant<T>(db: CatalogDb, clock: EpochMs, write: (writing: Writing) => Promise<T>): Promise<T> {
  return db.transaction(async (sql) => writeAt(sql, instantAfter(await newestInstant(sql), clock), clock, write));
}

export class LaterChange extends Failure {}

/** Like `atNextInstant`, but throws `LaterChange` if there is a change after `newest`. Returns the newest instant afterwards. */
export async function atInstantAfter(
  db: CatalogDb,
  newest: EpochMs | undefined,
  clock: EpochMs,
  write: (writing: Writing) => Promise<void>,
): Promise<EpochMs | undefined> {
  return db.transaction(async (sql) => {
    const stored = await newestInstant(sql);
    if (stored !== undefined && (newest === undefined || stored > newest)) throw new LaterChange(await describeNewest(sql, stored));
    await writeAt(sql, instantAfter(stored, clock), clock, write);
    return newestInstant(sql);
  });
}

async function writeAt<T>(sql: CatalogSql, instant: EpochMs, clock: EpochMs, write: (writing: Writing) => Promise<T>): Promise<T> {
  const now = judgingInstant(instant, clock);
  const counts = noChanges();
  const movedKeys: string[] = [];
  const result = await write({ sql, instant, now, counts, movedKeys });
  await saveCounts(sql, counts);
  await noteMovedKeys(sql, movedKeys);
  await noteJudged(sql, now);
  return result;
}

/** Stores a new record and its events. Returns its row number. */
export async function insertRecord(
  { sql, instant, now, counts, movedKeys }: Writing,
  decision: Decision,
  { lineage, earlier_ids, restored }: PreparedRecord,
  importId: number,
): Promise<number> {
  const { id, indexed, rendered, status_basis } = decision;
  const { code, opportunity_id } = indexed.source;
  const { created_at, updated_at } = restored ?? { created_at: instant, updated_at: instant };
  const facet = { source: code, facet_id: await facetOf(sql, indexed) };
  const seq = await sql.insert(insertOpportunity, {
    ...facet,
    document: decidedDocument(decision, created_at, updated_at),
    sidecar: sidecarOf(rendered, indexed),
    id,
    lineage,
    source_opportunity_id: opportunity_id,
    created_at,
    updated_at,
    stored_at: instant,
    status_basis,
    turns_at: clockTurnsAt(indexed, status_basis, now),
    ...indexed.relationships,
    hash: rendered.hash,
    restored_at: restored === undefined ? null : instant,
    restored_updated_at: restored?.updated_at ?? null,
  });
  countRecord(counts, facet, indexed, 1);
  const foundBy = await addUpstreamIds(sql, seq, code, [opportunity_id, ...earlier_ids], instant);
  await keysMoved(sql, movedKeys, [...foundBy, ...(await saveLinkKeys(sql, id, indexed, true))]);
  if (decision.source_digest !== undefined) await setSourceDigest(sql, seq, decision.source_digest);
  for (const event of decision.events) await insertEvent(sql, seq, event, importId);
  return seq;
}

/** Stores a change of a record. `updated_at` changes only if a client can see the difference. */
export async function updateRecord(
  { sql, instant, now, counts, movedKeys }: Writing,
  stored: StoredRecord,
  decision: Decision,
  earlierIds: string[],
  importId: number | null,
): Promise<void> {
  const { seq } = stored;
  const { indexed, rendered, status_basis, source_digest } = decision;
  const { code, opportunity_id } = indexed.source;
  const { hash } = rendered;
  await keysMoved(sql, movedKeys, await addUpstreamIds(sql, seq, code, [opportunity_id, ...earlierIds], instant));
  if (source_digest !== undefined || !isSameHash(stored.hash, hash)) await setSourceDigest(sql, seq, source_digest);
  const turns_at = clockTurnsAt(indexed, status_basis, now);
  const sidecar = sidecarOf(rendered, indexed);
  await keepEarlierSidecar(sql, stored, { sidecar, status_basis }, instant);
  const facet = { source: code, facet_id: stored.facet_id };
  countRecord(counts, facet, readContent(stored.document, stored.sidecar), -1);
  if (decision.outcome === "unchanged") {
    await sql.run(updateUnserved, { seq, stored_at: instant, status_basis, turns_at, hash, sidecar });
    countRecord(counts, facet, indexed, 1);
    return;
  }
  const facet_id = await facetOf(sql, indexed);
  await sql.run(updateOpportunity, {
    facet_id,
    document: decidedDocument(decision, stored.created_at, instant),
    sidecar,
    seq,
    source_opportunity_id: opportunity_id,
    updated_at: instant,
    stored_at: instant,
    status_basis,
    turns_at,
    ...indexed.relationships,
    hash,
  });
  countRecord(counts, { source: code, facet_id }, indexed, 1);
  if (!isSameHash(stored.hash, hash)) await keysMoved(sql, movedKeys, await saveLinkKeys(sql, decision.id, indexed, false));
  for (const event of decision.events) await insertEvent(sql, seq, event, importId);
}

/** Makes records due that may have been judged too early, by a clock that was ahead. */
export async function makeJudgedAheadDue(db: CatalogDb, now: EpochMs): Promise<void> {
  if (!(await isJudgedAhead(db, now))) return;
  await db.transaction(async (sql) => {
    if (!(await isJudgedAhead(sql, now))) return;
    await sql.run(makeDue, { turns_at: now, stored_at: now + CLOCK_SKEW_MAX_MS });
    await noteInstant(sql, "", "judged_until", now);
  });
}

/** Saves them before they become too many: a restore is a single transaction. */
async function keysMoved(sql: CatalogSql, movedKeys: string[], more: readonly string[]): Promise<void> {
  movedKeys.push(...more);
  if (movedKeys.length >= MOVED_AT_ONCE) await noteMovedKeys(sql, movedKeys.splice(0));
}

async function keepEarlierSidecar(
  sql: CatalogSql,
  stored: StoredRecord,
  changed: Pick<StoredRecord, "sidecar" | "status_basis">,
  until: EpochMs,
): Promise<void> {
  const isSameBasis = stored.status_basis === changed.status_basis;
  if (isSameBasis && Buffer.compare(stored.sidecar, changed.sidecar) === 0) return;
  const [before, after] = [unreported(stored.sidecar), unreported(changed.sidecar)];
  if (isSameBasis && before === after) return;
  const { seq, status_basis } = stored;
  await sql.run(insertEarlierSidecar, { opportunity_seq: seq, until, status_basis, sidecar: Buffer.from(before) });
}

/** Makes followers read these records again, after a change outside of them. */
export async function touchRecords(sql: CatalogSql, seqs: readonly number[], instant: EpochMs): Promise<void> {
  await sql.run(touchBySeq, { seqs, stored_at: instant });
}

export type Reread = { source: string; lineage: string; hash: Uint8Array; source_digest: Uint8Array };

/** Saves the new source digest of a record, unless it was changed since its validation. */
export async function saveSourceDigest(sql: CatalogSql, { source, lineage, hash, source_digest }: Reread): Promise<void> {
  const stored = await findStored(sql, source, lineage);
  if (stored !== undefined && isSameHash(stored.hash, hash)) await setSourceDigest(sql, stored.seq, source_digest);
}

async function setSourceDigest(sql: CatalogSql, seq: number, source_digest: Uint8Array | undefined): Promise<void> {
  if (source_digest === undefined) await sql.run(deleteSourceDigest, { opportunity_seq: seq });
  else await sql.run(upsertSourceDigest, { opportunity_seq: seq, digest: source_digest });
}

/** Erases contacts from the events of a record. Returns how many events had some. */
export async function redactEvents(sql: CatalogSql, opportunitySeq: number): Promise<number> {
  const events = await listEventsWithContacts(sql, opportunitySeq);
  for (const { seq, redacted } of events) await sql.run(updateEventDocument, { seq, document: redacted });
  return events.length;
}

/** Stores an event, with `imported_at` one of another system. Returns false if it was stored already. */
export async function insertEvent(
  sql: CatalogSql,
  opportunity_seq: number,
  event: OpportunityEvent,
  import_id: number | null,
  { type, severity, imported_at = null }: { type: string; severity: string; imported_at?: EpochMs | null } = event,
): Promise<boolean> {
  const inserted = await sql.run(insertEventRow, {
    id: event.id,
    opportunity_seq,
    type,
    severity,
    detected_at: Date.parse(event.detected_at),
    imported_at,
    origin: imported_at === null ? "detected" : "imported",
    import_id,
    document: Buffer.from(JSON.stringify(event)),
  });
  return inserted === 1;
}

async function facetOf(
  sql: CatalogSql,
  { status, source, program, organization }: Pick<IndexedFields, "status" | "source" | "program" | "organization">,
): Promise<number> {
  const facet = { agency: organization.agency ?? "", status, source: source.code, program_type: program.type ?? "" };
  return (await sql.get(facetByValues, facet))?.id ?? (await sql.insert(insertFacet, { ...facet, records: 0 }));
}

async function addUpstreamIds(sql: CatalogSql, seq: number, source: string, ids: readonly string[], since: EpochMs): Promise<string[]> {
  const added: string[] = [];
  for (const upstream_id of new Set(ids))
    if ((await sql.run(insertUpstreamId, { upstream_id, source, opportunity_seq: seq, since })) > 0) added.push(upstream_id);
  return keysOfUpstreamIds(source, added);
}
