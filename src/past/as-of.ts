/** Records as they were stored at an instant: folded back from their events, byte for byte. (E-85) */
import { and, asc, desc, eq, sql as fragment, getTableColumns, gt, gte, inArray, isNull, lte, ne, or, type SQL } from "drizzle-orm";
import type { CatalogSql } from "../../db/engine.ts";
import { listOf, query, type RowsOf, select, selectFrom } from "../../db/query.ts";
import { earlierSidecars, events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import { erasure } from "../changes/contacts.ts";
import { type Content, documentOf, readContent, render, sidecarOf } from "../changes/content.ts";
import { comparedFields, unapply } from "../changes/detect.ts";
import type { Change, OpportunityEvent } from "../events/event.ts";
import { clockTurnsAt, shownAt } from "../opportunities/clock.ts";
import { noSidecar, type Sidecar, type WholeOpportunity, wholeOpportunity } from "../opportunities/opportunity.ts";
import { timeInWords } from "../text/date-in-words.ts";
import { counted } from "../text/in-words.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";

/** The `updated_at` at an instant: that of the last event by then, or that with which the record was restored. */
const updatedAt = (asOf: SQL<number>) => {
  const lastChange = select({ detected_at: events.detected_at })
    .from(events)
    .where(
      and(
        eq(events.opportunity_seq, opportunities.seq),
        lte(events.detected_at, asOf),
        isNull(events.imported_at),
        ne(events.type, "opportunity_added"),
      ),
    )
    .orderBy(desc(events.detected_at))
    .limit(1);
  const { updated_at, restored_updated_at, created_at } = opportunities;
  return fragment<number>`case when ${lte(updated_at, asOf)} then ${updated_at} else coalesce((${lastChange}), ${restored_updated_at}, ${created_at}) end`;
};
const recordsWith = (asOf: SQL<number>, which: SQL) =>
  select({ ...getTableColumns(opportunities), past_updated_at: updatedAt(asOf) })
    .from(opportunities)
    .where(which);
const recordsById = query({ ids: listOf(opportunities.id), asOf: opportunities.updated_at }, ({ ids, asOf }) =>
  recordsWith(asOf, inArray(opportunities.id, ids)),
);
const recordsBySeq = query({ seqs: listOf(opportunities.seq), asOf: opportunities.updated_at }, ({ seqs, asOf }) =>
  recordsWith(asOf, inArray(opportunities.seq, seqs)),
);
const isKnown = (asOf: SQL<number>) =>
  and(lte(opportunities.created_at, asOf), or(isNull(opportunities.restored_at), lte(opportunities.restored_at, asOf)));
const firstKnown = query({}, () =>
  select({ since: fragment<number | null>`min(coalesce(${opportunities.restored_at}, ${opportunities.created_at}))` }).from(opportunities),
);
const inPastOrder = (asOf: SQL<number>, which?: SQL) =>
  select({ seq: opportunities.seq, id: opportunities.id, updated_at: updatedAt(asOf) })
    .from(opportunities)
    .where(and(isKnown(asOf), which))
    .orderBy(fragment`updated_at`, asc(opportunities.id));
const pastOrder = query({ asOf: opportunities.updated_at }, ({ asOf }) => inPastOrder(asOf));
const pastOrderOfSources = query({ asOf: opportunities.updated_at, codes: listOf(opportunities.source) }, ({ asOf, codes }) =>
  inPastOrder(asOf, inArray(opportunities.source, codes)),
);
const inOrder = [asc(events.opportunity_seq), asc(events.detected_at), asc(events.seq)];
const historiesOfRows = query({ seqs: listOf(events.opportunity_seq), asOf: events.detected_at }, ({ seqs, asOf }) =>
  selectFrom(events, "opportunity_seq", "document")
    .where(and(inArray(events.opportunity_seq, seqs), lte(fragment`coalesce(${events.imported_at}, ${events.detected_at})`, asOf)))
    .orderBy(...inOrder),
);
const undoneOfRows = query({ seqs: listOf(events.opportunity_seq), asOf: events.detected_at }, ({ seqs, asOf }) =>
  selectFrom(events, "opportunity_seq", "detected_at", "document")
    .where(and(inArray(events.opportunity_seq, seqs), gt(events.detected_at, asOf), isNull(events.imported_at)))
    .orderBy(...inOrder),
);
const sidecarsOfRows = query({ seqs: listOf(earlierSidecars.opportunity_seq) }, ({ seqs }) =>
  selectFrom(earlierSidecars, "opportunity_seq", "until", "status_basis", "sidecar")
    .where(inArray(earlierSidecars.opportunity_seq, seqs))
    .orderBy(asc(earlierSidecars.opportunity_seq), asc(earlierSidecars.until)),
);

type StoredRow = RowsOf<typeof recordsById>;
type UndoneEvent = RowsOf<typeof undoneOfRows>;
type EarlierSidecar = RowsOf<typeof sidecarsOfRows>;
type Reading = Pick<CatalogSql, "all">;

/** With its events by then, the oldest first. `erased`: when contacts were erased that it may have had. */
export type PastRow = Pick<StoredRow, "seq" | "id" | "lineage" | "source_opportunity_id" | "status_basis" | "turns_at"> & {
  document: Uint8Array;
  sidecar: Uint8Array;
  updated_at: EpochMs;
  stored_at: EpochMs;
  history: Uint8Array[];
  erased: EpochMs | null;
};

const ROWS_AT_ONCE = 200;

/** Calls `take` with batches of all rows, or of the sources `codes`, as they were, by `updated_at`. `histories` adds events. */
export async function eachPastRow(
  sql: CatalogSql,
  asOf: EpochMs,
  { codes, histories = false }: { codes?: readonly string[] | undefined; histories?: boolean | undefined },
  take: (rows: PastRow[]) => void | Promise<void>,
): Promise<void> {
  const takeAll = async (ordered: readonly { seq: number }[]) => {
    for (let first = 0; first < ordered.length; first += ROWS_AT_ONCE) {
      const seqs = ordered.slice(first, first + ROWS_AT_ONCE).map(({ seq }) => seq);
      const rows = await foldRows(sql, await sql.all(recordsBySeq, { seqs, asOf }), asOf, histories);
      const bySeq = new Map(rows.map((row) => [row.seq, row]));
      await take(seqs.flatMap((seq) => bySeq.get(seq) ?? []));
    }
  };
  if (codes === undefined) await sql.each(pastOrder, { asOf }, takeAll);
  else await sql.each(pastOrderOfSources, { asOf, codes }, takeAll);
}

export type PastOpportunity = { opportunity: WholeOpportunity; history: OpportunityEvent[]; erased: EpochMs | null };

/** The opportunities with these ids as they were at an instant, in this order. Those that were not stored then are left out. */
export async function readPast(sql: Reading, ids: readonly string[], asOf: EpochMs): Promise<PastOpportunity[]> {
  const rows = await foldRows(sql, await sql.all(recordsById, { ids, asOf }), asOf, true);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    if (row === undefined) return [];
    const history = row.history.map((document) => parseStored<OpportunityEvent>(document));
    return [{ opportunity: wholeOpportunity(shownAt(row, asOf)), history, erased: row.erased }];
  });
}

function knownSince({ created_at, restored_at }: Pick<StoredRow, "created_at" | "restored_at">): EpochMs {
  return restored_at ?? created_at;
}

/** A record that was not written since `asOf` stays as it is. */
async function foldRows(sql: Reading, rows: readonly StoredRow[], asOf: EpochMs, withHistories: boolean): Promise<PastRow[]> {
  const known = rows.filter((row) => knownSince(row) <= asOf);
  const changed = known.filter(({ stored_at }) => stored_at > asOf).map(({ seq }) => seq);
  const seqs = withHistories ? known.map(({ seq }) => seq) : [];
  const histories = byRow(seqs.length === 0 ? [] : await sql.all(historiesOfRows, { seqs, asOf }));
  const undone = byRow(changed.length === 0 ? [] : await sql.all(undoneOfRows, { seqs: changed, asOf }));
  const sidecars = byRow(changed.length === 0 ? [] : await sql.all(sidecarsOfRows, { seqs: changed }));
  return known.map((row) => {
    const history = (histories.get(row.seq) ?? []).map(({ document }) => document);
    if (row.stored_at <= asOf) return { ...row, history, erased: null };
    return { ...foldRow(row, undone.get(row.seq) ?? [], sidecars.get(row.seq) ?? [], asOf), history };
  });
}

function byRow<Of extends { opportunity_seq: number }>(found: readonly Of[]): Map<number, Of[]> {
  return Map.groupBy(found, ({ opportunity_seq }) => opportunity_seq);
}

function foldRow(row: StoredRow, undone: readonly UndoneEvent[], sidecars: readonly EarlierSidecar[], asOf: EpochMs) {
  const { seq, id, lineage, created_at, past_updated_at: updated_at } = row;
  const earlier = sidecars.find(({ until }) => until > asOf);
  const changes = undone.map(({ document }) => foldedChanges(document));
  const erased = undone.find((_, n) => changes[n]?.some((change) => Bun.deepEquals(change, erasure)));
  const content = unapply(contentBefore(row, earlier), changes.flat().reverse());
  const status_basis = earlier?.status_basis ?? row.status_basis;
  const rendered = render(content, status_basis);
  return {
    seq,
    id,
    lineage,
    source_opportunity_id: content.source.opportunity_id,
    status_basis,
    turns_at: clockTurnsAt(content, status_basis, asOf),
    document: documentOf(rendered, { ...content, id, createdAt: created_at, updatedAt: updated_at }),
    sidecar: sidecarOf(rendered, content),
    updated_at,
    stored_at: Math.max(updated_at, knownSince(row), sidecars.findLast(({ until }) => until <= asOf)?.until ?? updated_at),
    erased: erased?.detected_at ?? null,
  };
}

/** No event has the changes of the sidecar, but for attachments and questions. */
function contentBefore({ document, sidecar }: StoredRow, earlier: EarlierSidecar | undefined): Content {
  if (earlier === undefined) return readContent(document, sidecar);
  const { attachments, questions } = parseStored<Sidecar>(sidecar);
  const before = { ...noSidecar, attachments, questions, ...parseStored<object>(earlier.sidecar) };
  return readContent(document, Buffer.from(JSON.stringify(before)));
}

/** Why a record that is stored now is not shown as of an earlier instant. */
export async function notKnownInWords(sql: Reading, id: string): Promise<string> {
  const [row] = await sql.all(recordsById, { ids: [id], asOf: 0 });
  if (row === undefined) return "it is not stored";
  const since = timeInWords(formatInstant(knownSince(row)));
  return row.restored_at === null
    ? `it was first stored on ${since}, and what it said before is not known`
    : `it was restored from an export on ${since}, and an export has no earlier versions`;
}

/** "nothing was stored then: …" if the instant is before the first record; `undefined` if it is later, or if the catalog is empty. */
export async function nothingKnownInWords(sql: Pick<CatalogSql, "get">, asOf: EpochMs): Promise<string | undefined> {
  const { since: first = null } = (await sql.get(firstKnown)) ?? {};
  if (first === null || first <= asOf) return undefined;
  return `nothing was stored then: the first record came on ${timeInWords(formatInstant(first))}, and what was before is not known`;
}

/** "its contacts were erased on Mar 2, 2026, 12:00 PM UTC, and are not known" */
export function erasedInWords(erased: EpochMs): string {
  return `its contacts were erased on ${timeInWords(formatInstant(erased))}, and are not known`;
}

/** "The contacts of 3 records were erased since then and are not known" */
export function contactsErasedInWords(records: number): string {
  return `The contacts of ${counted(records, "record")} were erased since then and are not known`;
}

export type Undone = { importId: number; since: EpochMs } | { since: EpochMs };

const bounds = { source: opportunities.source, since: events.detected_at };
const eventsOf = (source: SQL, since: SQL, which?: SQL) =>
  select({ id: opportunities.id, type: events.type, document: events.document })
    .from(events)
    .innerJoin(opportunities, eq(opportunities.seq, events.opportunity_seq))
    .where(and(gte(events.detected_at, since), eq(opportunities.source, source), eq(events.origin, "detected"), which))
    .orderBy(asc(events.detected_at), asc(events.seq));
const ofPeriod = query(bounds, ({ source, since }) => eventsOf(source, since));
const ofImport = query({ ...bounds, importId: events.import_id }, ({ source, since, importId }) =>
  eventsOf(source, since, eq(events.import_id, importId)),
);

/** Returns a function that returns a record's earlier content, or null if the record is newer. Keeps the changes to undo in memory. */
export async function earlierOf(
  sql: CatalogSql,
  source: string,
  undone: Undone,
): Promise<(id: string, content: Content) => Content | null> {
  const added = new Set<string>();
  const changes = new Map<string, Change[]>();
  const take = (rows: readonly { id: string; type: string; document: Uint8Array }[]) => {
    for (const { id, type, document } of rows) {
      if (type === "opportunity_added") added.add(id);
      if (added.has(id)) continue;
      changes.getOrInsert(id, []).push(...foldedChanges(document));
    }
  };
  if ("importId" in undone) await sql.each(ofImport, { source, ...undone }, take);
  else await sql.each(ofPeriod, { source, ...undone }, take);
  return (id, content) => (added.has(id) ? null : unapply(content, (changes.get(id) ?? []).toReversed()));
}

/** The changes of a stored event that can be undone: those of fields that are compared. */
export function foldedChanges(document: Uint8Array): Change[] {
  return parseStored<OpportunityEvent>(document).changes.filter(({ field }) => folded.has(field));
}
const folded = new Set([...comparedFields, "funding"]);
