/** What was added, removed and changed between two instants, net: a date that moved twice is one change, one that moved back is none. */
import { and, asc, eq, gt, inArray } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { listOf, query, type RowsOf, selectFrom } from "../../db/query.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import { classify, recordEvent } from "../changes/classify.ts";
import { type Content, contentOfWhole, wholeOfContent } from "../changes/content.ts";
import { detect, unapply } from "../changes/detect.ts";
import { added, removed } from "../changes/rules.ts";
import type { Change, OpportunityEvent } from "../events/event.ts";
import type { FeedEntry } from "../events/feed.ts";
import { type Filter, matches } from "../filter/filter.ts";
import { dueOf } from "../opportunities/due.ts";
import { type WholeOpportunity, wholeOpportunity } from "../opportunities/opportunity.ts";
import type { EpochMs } from "../text/instant.ts";
import { foldedChanges } from "./as-of.ts";

/** Every event of a period is later than `since`, and no record was changed later than its last event. */
const changedRecords = query({ since: opportunities.updated_at }, ({ since }) =>
  selectFrom(opportunities, "seq", "document", "sidecar")
    .where(gt(opportunities.updated_at, since))
    .orderBy(asc(opportunities.updated_at), asc(opportunities.id)),
);
const eventsSince = query({ seqs: listOf(events.opportunity_seq), since: events.detected_at }, ({ seqs, since }) =>
  selectFrom(events, "opportunity_seq", "detected_at", "type", "document")
    .where(and(inArray(events.opportunity_seq, seqs), gt(events.detected_at, since), eq(events.origin, "detected")))
    .orderBy(asc(events.opportunity_seq), asc(events.detected_at), asc(events.seq)),
);

const RECORDS_AT_ONCE = 200;

type PastEvent = Omit<RowsOf<typeof eventsSince>, "opportunity_seq">;

/** `filter` is compared with the opportunity as it was at `until`. `since` is exclusive, `until` inclusive. */
export type Period = { since: EpochMs; until: EpochMs; filter: Filter };

/** Calls `take` with batches of the net changes of a period, as feed entries dated `until`, without those of imported histories. */
export async function eachNetChange(db: CatalogDb, period: Period, take: (entries: FeedEntry[]) => void | Promise<void>): Promise<void> {
  await db.readTransaction(async (sql) => {
    await sql.each(changedRecords, { since: period.since }, async (rows) => {
      for (let first = 0; first < rows.length; first += RECORDS_AT_ONCE)
        await take(await entriesOf(sql, rows.slice(first, first + RECORDS_AT_ONCE), period));
    });
  });
}

async function entriesOf(sql: CatalogSql, rows: readonly RowsOf<typeof changedRecords>[], period: Period): Promise<FeedEntry[]> {
  const found = await sql.all(eventsSince, { seqs: rows.map(({ seq }) => seq), since: period.since });
  const histories = Map.groupBy(found, ({ opportunity_seq }) => opportunity_seq);
  return rows.flatMap((row) => entriesOfRecord(row.seq, wholeOpportunity(row), histories.get(row.seq) ?? [], period));
}

function entriesOfRecord(seq: number, record: WholeOpportunity, past: readonly PastEvent[], { until, filter }: Period): FeedEntry[] {
  const [within, later] = [past.filter(({ detected_at }) => detected_at <= until), past.filter(({ detected_at }) => detected_at > until)];
  if (within.length === 0 || later.some(isAddition)) return [];
  const end = unapply(contentOfWhole(record), undoing(later));
  const opportunity = wholeOfContent(record, end);
  if (!matches(filter, opportunity, until)) return [];
  const entry = { seq, opportunity, due: dueOf(opportunity, until, []), duplicates: [], at: null };
  return eventsOf(record.id, within, end, until).map((event) => ({ ...entry, event }));
}

function eventsOf(id: string, within: readonly PastEvent[], end: Content, until: EpochMs): OpportunityEvent[] {
  const isGone = end.status === "archived" && within.some(({ type }) => type === "opportunity_removed");
  if (within.some(isAddition)) return isGone ? [] : [recordEvent(added, id, [], until)];
  const changes = detect(unapply(end, undoing(within)), end);
  if (changes.length === 0) return [];
  return isGone ? [recordEvent(removed, id, changes, until)] : classify(id, changes, until);
}

function isAddition({ type }: PastEvent): boolean {
  return type === "opportunity_added";
}

function undoing(past: readonly PastEvent[]): Change[] {
  return past.flatMap(({ document }) => foldedChanges(document)).reverse();
}
