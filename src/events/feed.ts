/**
 * The events of all opportunities. `readFeed` continues from a position and returns every event exactly once. `readWindow` reads a period.
 *
 * The feed is in the order in which events were stored: there is one writer at a time, so the row numbers of events follow the order of
 * commits (D-31). `detected_at` does not: an imported history brings events from long ago. (E-47)
 */

import { and, asc, desc, eq, gt, inArray, lt, lte, min, type SQL, sql } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { listOf, parameter, pick, query, type RowsOf, select } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import { type Filter, matches } from "../filter/filter.ts";
import { type WholeOpportunity, wholeOpportunity } from "../opportunities/opportunity.ts";
import { type EpochMs, parseStoredMs } from "../text/instant.ts";
import { eventTypes, type OpportunityEvent, type Severity, severities } from "./event.ts";

/** A place in the feed: after this event. `null` is the beginning. */
export type FeedPosition = { seq: number; id: string } | null;

/** A place in a window: after this event in the window's order. `null` is the beginning. Valid for one window and order. */
export type WindowPosition = { detected_at: EpochMs; seq: number } | null;

/** An event, and its opportunity as it is now. */
export type FeedEntry = { seq: number; event: OpportunityEvent; opportunity: WholeOpportunity };

/**
 * `filter`, with its sources resolved (`filter/known.ts`), is compared with the opportunity as it is now. `types` are as the API returns them. `since` is exclusive (D-11) and `until` is
 * inclusive, so that consecutive periods have no event in common.
 */
export type FeedFilter = {
  filter: Filter;
  /** Returns those of the opportunities that are wanted. Documents of the others are not read. */
  wanted?: ((opportunities: readonly OpportunityVersion[]) => readonly OpportunityVersion[]) | undefined;
  types?: readonly string[] | undefined;
  atLeast?: Severity | undefined;
  since?: EpochMs | undefined;
  until?: EpochMs | undefined;
};

/** An opportunity as it is now, known by when it was last stored. */
export type OpportunityVersion = { seq: number; id: string; stored_at: EpochMs };

/**
 * The matching entries in order, the position after the last event that was examined, and whether there was no event after it. A page may be
 * empty although there are more.
 */
export type FeedPage<Position> = { entries: FeedEntry[]; position: Position; atEnd: boolean };

export const windowOrders = ["oldest", "newest"] as const;
/** Which events of a window come first. */
export type WindowOrder = (typeof windowOrders)[number];

/** The catalog does not have the event at a position, or has another one there. */
export class LostPositionError extends Failure {}

/** Events examined by one call. */
const EXAMINED_MAX = 1000;
/** Events whose documents are read at a time. */
const DOCUMENTS = 100;
/** Earlier and later than any date, and after any row number. */
const [FIRST, LAST, LAST_SEQ] = [-8.64e15, 8.64e15, Number.MAX_SAFE_INTEGER];

/** What decides about an event without its document. */
const head = pick(events, "seq", "id", "opportunity_seq", "detected_at", "type", "severity");

const headsAfter = query({ after: events.seq, limit: parameter<number>() }, ({ after, limit }) =>
  select(head).from(events).where(gt(events.seq, after)).orderBy(asc(events.seq)).limit(limit),
);
const bounds = { time: events.detected_at, seq: events.seq, limit: parameter<number>() };
const place = ({ time, seq }: { time: SQL; seq: SQL }) => sql`(${time}, ${seq})`;
const eventPlace = sql`(${events.detected_at}, ${events.seq})`;
const windowHeads = {
  oldest: query({ ...bounds, until: events.detected_at }, ({ until, limit, ...after }) =>
    select(head)
      .from(events)
      .where(and(sql`${eventPlace} > ${place(after)}`, lte(events.detected_at, until)))
      .orderBy(asc(events.detected_at), asc(events.seq))
      .limit(limit),
  ),
  newest: query({ ...bounds, since: events.detected_at }, ({ since, limit, ...before }) =>
    select(head)
      .from(events)
      .where(and(sql`${eventPlace} < ${place(before)}`, gt(events.detected_at, since)))
      .orderBy(desc(events.detected_at), desc(events.seq))
      .limit(limit),
  ),
};
const idAt = query(pick(events, "seq"), ({ seq }) => select(pick(events, "id")).from(events).where(eq(events.seq, seq)));
const newestBefore = query(pick(events, "seq"), ({ seq }) =>
  select(pick(events, "seq", "id"))
    .from(events)
    .where(lt(events.seq, seq))
    .orderBy(desc(events.seq))
    .limit(1),
);
const firstSince = query({ since: events.detected_at }, ({ since }) =>
  select({ seq: min(events.seq) })
    .from(events)
    .where(gt(events.detected_at, since)),
);
const eventDocuments = query({ seqs: listOf(events.seq) }, ({ seqs }) =>
  select(pick(events, "seq", "document"))
    .from(events)
    .where(inArray(events.seq, seqs)),
);
const opportunityVersions = query({ seqs: listOf(opportunities.seq) }, ({ seqs }) =>
  select(pick(opportunities, "seq", "id", "stored_at"))
    .from(opportunities)
    .where(inArray(opportunities.seq, seqs)),
);
const opportunityDocuments = query({ seqs: listOf(opportunities.seq) }, ({ seqs }) =>
  select(pick(opportunities, "seq", "document", "sidecar"))
    .from(opportunities)
    .where(inArray(opportunities.seq, seqs)),
);

type Head = RowsOf<typeof headsAfter>;

/**
 * The next stored events after a position, in the order of storing, at most `limit`. Every call examines a bounded number of events: repeat
 * it until `atEnd`. Throws a LostPositionError if the catalog is not the one that the position is from.
 */
export async function readFeed(
  db: CatalogDb,
  after: FeedPosition,
  filter: FeedFilter,
  now: EpochMs,
  limit: number,
): Promise<FeedPage<FeedPosition>> {
  return db.readTransaction(async (sql) => {
    if (after !== null) await requirePosition(sql, after);
    const seq = after?.seq ?? (await startOf(sql, filter));
    const heads = await sql.all(headsAfter, { after: seq, limit: EXAMINED_MAX });
    const { entries, last, isComplete } = await entriesOf(sql, heads, filter, now, limit);
    const position = last === undefined ? after : { seq: last.seq, id: last.id };
    return { entries, position, atEnd: isComplete && heads.length < EXAMINED_MAX };
  });
}

/** The position after the newest event: what is stored later comes after it. */
export async function latestPosition(db: CatalogDb): Promise<FeedPosition> {
  return (await db.get(newestBefore, { seq: LAST_SEQ })) ?? null;
}

/** The position before the first stored event that was detected after `since`; the latest one if there is none. */
export async function positionAt(db: CatalogDb, since: EpochMs): Promise<FeedPosition> {
  return db.readTransaction(async (sql) => {
    const first = (await sql.get(firstSince, { since }))?.seq ?? LAST_SEQ;
    return (await sql.get(newestBefore, { seq: first })) ?? null;
  });
}

/**
 * The events that were detected in a period, by (`detected_at`, order of storing), at most `limit`. Its cost follows the period, not the
 * catalog. Every call examines a bounded number of events: repeat it until `atEnd`.
 */
export async function readWindow(
  db: CatalogDb,
  after: WindowPosition,
  filter: FeedFilter,
  now: EpochMs,
  limit: number,
  order: WindowOrder = "oldest",
): Promise<FeedPage<WindowPosition>> {
  return db.readTransaction(async (sql) => {
    const { since = FIRST, until = LAST } = filter;
    const { detected_at: time, seq } = after ?? { detected_at: order === "oldest" ? since : until, seq: LAST_SEQ };
    const start = { time, seq, limit: EXAMINED_MAX };
    const heads =
      order === "oldest" ? await sql.all(windowHeads.oldest, { ...start, until }) : await sql.all(windowHeads.newest, { ...start, since });
    const { entries, last, isComplete } = await entriesOf(sql, heads, filter, now, limit);
    const position = last === undefined ? after : { detected_at: last.detected_at, seq: last.seq };
    return { entries, position, atEnd: isComplete && heads.length < EXAMINED_MAX };
  });
}

/** Row numbers are given again after a restore, so the id decides whether the position is still the same event. */
async function requirePosition(sql: CatalogSql, { seq, id }: NonNullable<FeedPosition>): Promise<void> {
  const found = await sql.get(idAt, { seq });
  if (found?.id === id) return;
  const reason = "the catalog does not have it there: a backup was restored, or this is another catalog. Start without a position";
  throw new LostPositionError(`Cannot continue after event ${id}: ${reason}`);
}

/** The row number after which the first event of a period can be. */
async function startOf(sql: CatalogSql, { since }: FeedFilter): Promise<number> {
  if (since === undefined) return 0;
  return ((await sql.get(firstSince, { since }))?.seq ?? LAST_SEQ) - 1;
}

/** `last` is the last event that was examined. */
type Examined = { entries: FeedEntry[]; last: Head | undefined; isComplete: boolean };

/** The first `limit` entries that match, out of these events. */
async function entriesOf(sql: CatalogSql, heads: readonly Head[], filter: FeedFilter, now: EpochMs, limit: number): Promise<Examined> {
  const candidates = heads.filter((each) => isWanted(each, filter));
  const wanted = await ofWantedOpportunities(sql, candidates, filter.wanted);
  const entries: FeedEntry[] = [];
  for (let first = 0; first < wanted.length; first += DOCUMENTS) {
    const batch = wanted.slice(first, first + DOCUMENTS);
    for (const [n, entry] of (await readEntries(sql, batch)).entries()) {
      if (!matches(filter.filter, entry.opportunity, now)) continue;
      entries.push(entry);
      if (entries.length === limit) return { entries, last: batch[n], isComplete: batch[n] === heads.at(-1) };
    }
  }
  return { entries, last: heads.at(-1), isComplete: true };
}

async function ofWantedOpportunities(sql: CatalogSql, heads: readonly Head[], wanted: FeedFilter["wanted"]): Promise<readonly Head[]> {
  if (wanted === undefined) return heads;
  const seqs = new Set(heads.map(({ opportunity_seq }) => opportunity_seq));
  const found = await sql.all(opportunityVersions, { seqs: [...seqs] });
  const unwanted = new Set(found).difference(new Set(wanted(found)));
  for (const { seq } of unwanted) seqs.delete(seq);
  return heads.filter(({ opportunity_seq }) => seqs.has(opportunity_seq));
}

/** Whether an event meets the conditions on events. Those on its opportunity are not compared. */
export function meets({ type, severity, detected_at }: OpportunityEvent, conditions: Omit<FeedFilter, "filter" | "wanted">): boolean {
  return isWanted({ type, severity, detected_at: parseStoredMs(detected_at) ?? Number.NaN }, conditions);
}

function isWanted(
  { type, severity, detected_at }: Pick<Head, "type" | "severity" | "detected_at">,
  { types, atLeast, since = FIRST, until = LAST }: Omit<FeedFilter, "filter" | "wanted">,
): boolean {
  return (
    detected_at > since &&
    detected_at <= until &&
    (types === undefined || types.includes(shown(type, eventTypes))) &&
    (atLeast === undefined || rankOf(shown(severity, severities)) >= rankOf(atLeast))
  );
}

/** A type or severity as the API returns it. */
function shown<Known extends string>(given: string, known: readonly (Known | "unknown")[]): Known | "unknown" {
  return known.find((each) => each === given) ?? "unknown";
}

function rankOf(severity: Severity): number {
  return severities.indexOf(severity);
}

async function readEntries(sql: CatalogSql, heads: readonly Head[]): Promise<FeedEntry[]> {
  const eventRows = await sql.all(eventDocuments, { seqs: heads.map(({ seq }) => seq) });
  const ofEvents = new Map(eventRows.map(({ seq, document }) => [seq, JSON.parse(utf8.decode(document)) as OpportunityEvent]));
  const records = await sql.all(opportunityDocuments, { seqs: [...new Set(heads.map(({ opportunity_seq }) => opportunity_seq))] });
  const ofRecords = new Map(records.map(({ seq, ...stored }) => [seq, wholeOpportunity(stored)]));
  return heads.map(({ seq, id, opportunity_seq }) => {
    const [event, opportunity] = [ofEvents.get(seq), ofRecords.get(opportunity_seq)];
    if (event === undefined || opportunity === undefined)
      throw new Failure(`Cannot read event ${id}: its record is missing. Run fundfeed check to see what else is wrong`);
    return { seq, event, opportunity };
  });
}

const utf8 = new TextDecoder();
