/** Row numbers follow the order of commits, as there is one writer (D-31); `detected_at` does not: histories bring old events. (E-47) */
import { and, asc, desc, gt, inArray, lt, lte, min, type SQL, sql } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { listOf, parameter, pick, query, type RowsOf, select, selectAmong, selectFrom, selectSome } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { events, opportunities, sightings } from "../../db/schema/sqlite/catalog.ts";
import { type Filter, matches } from "../filter/filter.ts";
import { shownAt } from "../opportunities/clock.ts";
import { type Due, dueOf } from "../opportunities/due.ts";
import { isSightingOf, seenColumns } from "../opportunities/last-seen.ts";
import { type WholeOpportunity, wholeOpportunity } from "../opportunities/opportunity.ts";
import { PAGE_BYTES_MAX } from "../opportunities/page.ts";
import { markSilent } from "../opportunities/records.ts";
import { readGroups } from "../opportunities/related.ts";
import { readSilentSources, type SilentSources } from "../sources/freshness.ts";
import { type EpochMs, parseStoredMs } from "../text/instant.ts";
import { parseStored } from "../text/stored-json.ts";
import { eventTypes, type OpportunityEvent, type Severity, severities, severityRank } from "./event.ts";
import { type GroupEvent, isRepeat } from "./repeats.ts";

export type FeedPosition = { seq: number; id: string } | null;

/** The same in the order of a window, and valid for that one. */
export type WindowPosition = { detected_at: EpochMs; seq: number } | null;

export type FeedEntry = {
  seq: number;
  event: OpportunityEvent;
  /** The canonical record if that matches, else the first record that does. */
  opportunity: WholeOpportunity;
  due: Due;
  duplicates: readonly WholeOpportunity[];
  /** The source at which it changed, if that is not the one of `opportunity`. */
  at: string | null;
};

/** `filter` has its sources resolved (`filter/known.ts`). `since` is exclusive (D-11), `until` inclusive: consecutive periods share no event. */
export type FeedFilter = {
  filter: Filter;
  /** One wanted record of a group is enough. Documents of other groups are not read. */
  wanted?: ((opportunities: readonly OpportunityVersion[]) => readonly OpportunityVersion[]) | undefined;
  /** Every record counts, and repeated changes are reported again. */
  allSources?: boolean | undefined;
  types?: readonly string[] | undefined;
  atLeast?: Severity | undefined;
  since?: EpochMs | undefined;
  until?: EpochMs | undefined;
};

export type OpportunityVersion = { seq: number; id: string; stored_at: EpochMs };

/** `repeats`: events that another record reported before. `position`: of the last event examined. A page may be empty before the end. */
export type FeedPage<Position> = { entries: FeedEntry[]; repeats: number; position: Position; atEnd: boolean; isFull: boolean };

export const windowOrders = ["oldest", "newest"] as const;
export type WindowOrder = (typeof windowOrders)[number];

export class LostPositionError extends Failure {}

const EXAMINED_MAX = 1000;
const DOCUMENTS = 100;
/** Earlier and later than any date, and after any row number. */
const [FIRST, LAST, LAST_SEQ] = [-8.64e15, 8.64e15, Number.MAX_SAFE_INTEGER];

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
const idAt = selectSome(events, ["id"], "seq");
const newestBefore = query(pick(events, "seq"), ({ seq }) =>
  selectFrom(events, "seq", "id").where(lt(events.seq, seq)).orderBy(desc(events.seq)).limit(1),
);
const firstSince = query({ since: events.detected_at }, ({ since }) =>
  select({ seq: min(events.seq) })
    .from(events)
    .where(gt(events.detected_at, since)),
);
const eventDocuments = selectAmong(events, ["seq", "document"], "seq");
const versionsBySeq = selectAmong(opportunities, ["seq", "id", "stored_at"], "seq");
const versionsById = selectAmong(opportunities, ["seq", "id", "stored_at"], "id");
const eventsOfRecords = selectAmong(events, ["seq", "opportunity_seq", "document"], "opportunity_seq");
const opportunityDocuments = query({ seqs: listOf(opportunities.seq) }, ({ seqs }) =>
  select({ ...pick(opportunities, "seq", "document", "sidecar", "status_basis", "turns_at"), ...seenColumns })
    .from(opportunities)
    .leftJoin(sightings, isSightingOf)
    .where(inArray(opportunities.seq, seqs)),
);

type Head = RowsOf<typeof headsAfter>;

/** At most `limit` stored events after a position. Repeat until `atEnd`: a call examines a bounded number. May throw LostPositionError. */
export async function readFeed(
  db: CatalogDb,
  after: FeedPosition,
  filter: FeedFilter,
  now: EpochMs,
  limit: number,
): Promise<FeedPage<FeedPosition>> {
  const heads = async (sql: CatalogSql) => {
    if (after !== null) await requirePosition(sql, after);
    const { since } = filter;
    const seq = after?.seq ?? (since === undefined ? 0 : ((await sql.get(firstSince, { since }))?.seq ?? LAST_SEQ) - 1);
    return sql.all(headsAfter, { after: seq, limit: EXAMINED_MAX });
  };
  return readPage(db, heads, filter, now, limit, (last) => (last === undefined ? after : { seq: last.seq, id: last.id }));
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

/** The same for a period, by (`detected_at`, order of storing). The cost follows the period, not the catalog. */
export async function readWindow(
  db: CatalogDb,
  after: WindowPosition,
  filter: FeedFilter,
  now: EpochMs,
  limit: number,
  order: WindowOrder = "oldest",
): Promise<FeedPage<WindowPosition>> {
  const { since = FIRST, until = LAST } = filter;
  const { detected_at: time, seq } = after ?? { detected_at: order === "oldest" ? since : until, seq: LAST_SEQ };
  const start = { time, seq, limit: EXAMINED_MAX };
  const heads = (sql: CatalogSql) =>
    order === "oldest" ? sql.all(windowHeads.oldest, { ...start, until }) : sql.all(windowHeads.newest, { ...start, since });
  return readPage(db, heads, filter, now, limit, (last) => (last === undefined ? after : { detected_at: last.detected_at, seq: last.seq }));
}

/** Throws a LostPositionError if the event is not there. Row numbers are given again after a restore, so the id decides. */
export async function requirePosition(sql: CatalogSql, { seq, id }: NonNullable<FeedPosition>): Promise<void> {
  const found = await sql.get(idAt, { seq });
  if (found?.id === id) return;
  const reason = "the catalog does not have it there: a backup was restored, or this is another catalog. Start without a position";
  throw new LostPositionError(`Cannot continue after event ${id}: ${reason}`);
}

type Today = { now: EpochMs; silent: SilentSources };

/** The first `limit` entries that match, out of these events; fewer if they are long. */
async function readPage<Position>(
  db: CatalogDb,
  readHeads: (sql: CatalogSql) => Promise<Head[]>,
  filter: FeedFilter,
  now: EpochMs,
  limit: number,
  positionAfter: (last: Head | undefined) => Position,
): Promise<FeedPage<Position>> {
  const today = { now, silent: await readSilentSources(db, now) };
  return db.readTransaction(async (sql) => {
    const heads = await readHeads(sql);
    const candidates = heads.filter((each) => isWanted(each, filter));
    const groups = await groupsOf(sql, candidates, filter.allSources ?? false);
    const wanted = wantedRecords(groups, filter.wanted);
    const rest = candidates.filter(({ opportunity_seq }) => groups.get(opportunity_seq)?.some(({ seq }) => wanted?.has(seq) ?? true));
    const entries: FeedEntry[] = [];
    let repeats = 0;
    let bytes = 0;
    const pageAt = (last: Head | undefined, isFull: boolean) => {
      const atEnd = last === heads.at(-1) && heads.length < EXAMINED_MAX;
      return { entries, repeats, position: positionAfter(last), atEnd, isFull };
    };
    for (let first = 0; first < rest.length; first += DOCUMENTS) {
      const batch = rest.slice(first, first + DOCUMENTS);
      const isRow: IsRow = (record, seq, duplicates) => (wanted?.has(seq) ?? true) && matches(filter.filter, record, today.now, duplicates);
      for (const [n, entry] of (await readEntries(sql, batch, { groups, ...today }, isRow)).entries()) {
        if (entry === "repeat") repeats++;
        else if (entry !== "unmatched") {
          entries.push(entry.entry);
          bytes += entry.bytes;
        }
        if (entries.length === limit || bytes >= PAGE_BYTES_MAX) return pageAt(batch[n], true);
      }
    }
    return pageAt(heads.at(-1), false);
  });
}

/** By the row number of the record that changed: the canonical record first. */
type Groups = ReadonlyMap<number, readonly OpportunityVersion[]>;

async function groupsOf(sql: CatalogSql, heads: readonly Head[], allSources: boolean): Promise<Groups> {
  const changed = await sql.all(versionsBySeq, { seq: [...new Set(heads.map(({ opportunity_seq }) => opportunity_seq))] });
  const ids = changed.map(({ id }) => id);
  const groups = allSources ? new Map<string, readonly string[]>() : await readGroups(sql, ids);
  const duplicates = groups.size === 0 ? [] : await sql.all(versionsById, { id: [...new Set([...groups.values()].flat())] });
  const byId = new Map([...changed, ...duplicates].map((version) => [version.id, version]));
  return new Map(changed.map(({ seq, id }) => [seq, (groups.get(id) ?? [id]).flatMap((each) => byId.get(each) ?? [])]));
}

function wantedRecords(groups: Groups, wanted: FeedFilter["wanted"]): Set<number> | undefined {
  if (wanted === undefined) return undefined;
  const records = new Map([...groups.values()].flat().map((version) => [version.seq, version]));
  return new Set(wanted([...records.values()]).map(({ seq }) => seq));
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
    (atLeast === undefined || severityRank(shown(severity, severities)) >= severityRank(atLeast))
  );
}

function shown<Known extends string>(given: string, known: readonly (Known | "unknown")[]): Known | "unknown" {
  return known.find((each) => each === given) ?? "unknown";
}

type IsRow = (record: WholeOpportunity, seq: number, duplicates: readonly WholeOpportunity[]) => boolean;

async function readEntries(
  sql: CatalogSql,
  heads: readonly Head[],
  { groups, now, silent }: Today & { groups: Groups },
  isRow: IsRow,
): Promise<({ entry: FeedEntry; bytes: number } | "unmatched" | "repeat")[]> {
  const eventRows = await sql.all(eventDocuments, { seq: heads.map(({ seq }) => seq) });
  const ofEvents = new Map(eventRows.map(({ seq, document }) => [seq, parseStored<OpportunityEvent>(document)]));
  const seqs = new Set(heads.flatMap(({ opportunity_seq }) => (groups.get(opportunity_seq) ?? []).map(({ seq }) => seq)));
  const records = await sql.all(opportunityDocuments, { seqs: [...seqs] });
  const shown = records.map((stored) => wholeOpportunity(shownAt(stored, now)));
  markSilent(shown, silent);
  const ofRecords = new Map(records.flatMap(({ seq }, n) => (shown[n] === undefined ? [] : [[seq, shown[n]] as const])));
  const bytesOf = new Map(records.map(({ seq, document, sidecar }) => [seq, document.length + sidecar.length]));
  const bytesOfEvents = new Map(eventRows.map(({ seq, document }) => [seq, document.length]));
  const groupEvents = await readGroupEvents(sql, heads, groups);
  return heads.map(({ seq, id, opportunity_seq }) => {
    const [event, changed] = [ofEvents.get(seq), ofRecords.get(opportunity_seq)];
    if (event === undefined || changed === undefined)
      throw new Failure(`Cannot read event ${id}: its record is missing. Run fundfeed check to see what else is wrong`);
    const group = (groups.get(opportunity_seq) ?? []).flatMap(({ seq }) => ofRecords.get(seq) ?? []);
    const duplicatesOf = (record: WholeOpportunity) => group.filter((each) => each !== record);
    const row = (groups.get(opportunity_seq) ?? []).find(({ seq }) => {
      const record = ofRecords.get(seq);
      return record !== undefined && isRow(record, seq, duplicatesOf(record));
    });
    const opportunity = row === undefined ? undefined : ofRecords.get(row.seq);
    if (opportunity === undefined) return "unmatched";
    if (group.length > 1 && isRepeat({ seq, record: opportunity_seq, event }, eventsIn(groups, groupEvents, opportunity_seq)))
      return "repeat";
    const duplicates = duplicatesOf(opportunity);
    const at = changed === opportunity ? null : changed.source.name;
    const bytes = (bytesOfEvents.get(seq) ?? 0) + (bytesOf.get(row?.seq ?? opportunity_seq) ?? 0);
    return { entry: { seq, event, opportunity, due: dueOf(opportunity, now, duplicates), duplicates, at }, bytes };
  });
}

/** In the order of storing, by the row number of the record. Groups of one record have none. */
async function readGroupEvents(sql: CatalogSql, heads: readonly Head[], groups: Groups): Promise<Map<number, GroupEvent[]>> {
  const several = heads.map(({ opportunity_seq }) => groups.get(opportunity_seq) ?? []).filter((group) => group.length > 1);
  const seqs = new Set(several.flat().map(({ seq }) => seq));
  if (seqs.size === 0) return new Map();
  const rows = await sql.all(eventsOfRecords, { opportunity_seq: [...seqs] });
  return Map.groupBy(
    rows.map(({ seq, opportunity_seq, document }) => ({ seq, record: opportunity_seq, event: parseStored<OpportunityEvent>(document) })),
    ({ record }) => record,
  );
}

function eventsIn(groups: Groups, groupEvents: ReadonlyMap<number, readonly GroupEvent[]>, opportunitySeq: number): GroupEvent[] {
  const events = (groups.get(opportunitySeq) ?? []).flatMap(({ seq }) => groupEvents.get(seq) ?? []);
  return events.sort((one, other) => one.seq - other.seq);
}
