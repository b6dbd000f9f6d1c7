/** How many events there are in each bucket of a period, by severity. */
import { and, eq, gt, inArray, lte, max, type SQL, sql } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { listOf, query, select } from "../../db/query.ts";
import { events, opportunities } from "../../db/schema/sqlite/catalog.ts";
import type { EpochMs } from "../text/instant.ts";
import { eventTypes, type Severity, severities } from "./event.ts";
import { shownType } from "./list.ts";

/** `since` is exclusive, `until` inclusive. The first bucket begins after `origin`, or `since`. */
type CountedPeriod = { since: EpochMs; until: EpochMs; bucketMs: number; origin?: EpochMs; types?: readonly string[] | undefined };

export type EventCounts = Record<Severity, number>;

const period = { since: events.detected_at, until: events.detected_at, types: listOf(events.type) };
type Placeholders = Record<keyof typeof period, SQL>;
const isInPeriod = ({ since, until }: Placeholders) => and(gt(events.detected_at, since), lte(events.detected_at, until));
const counted = {
  detected_at: events.detected_at,
  ...(Object.fromEntries(
    severities.map((severity) => [
      severity,
      sql<number>`cast(sum(case when ${events.severity} = ${sql.raw(`'${severity}'`)} then 1 else 0 end) as bigint)`,
    ]),
  ) as Record<Severity, SQL<number>>),
};

const ofAll = (withTypes: boolean) =>
  query(period, (values) =>
    select(counted)
      .from(events)
      .where(and(isInPeriod(values), withTypes ? inArray(shownType, values.types) : undefined))
      .groupBy(events.detected_at),
  );
const [everyType, someTypes] = [ofAll(false), ofAll(true)];
const ofOpportunities = query({ ...period, ids: listOf(opportunities.id) }, (values) =>
  select(counted)
    .from(opportunities)
    .innerJoin(events, eq(events.opportunity_seq, opportunities.seq))
    .where(and(inArray(opportunities.id, values.ids), isInPeriod(values), inArray(shownType, values.types)))
    .groupBy(events.detected_at),
);
const newest = query({}, () => select({ detected_at: max(events.detected_at) }).from(events));

/** Counts the events of a period; with `ids`, only those of these opportunities. The cost follows the period, or the opportunities. */
export async function countEvents(
  db: CatalogDb,
  { since, until, bucketMs, types, origin = since }: CountedPeriod,
  ids?: readonly string[],
): Promise<EventCounts[]> {
  const values = { since, until, types: types ?? eventTypes };
  const statement = types === undefined ? everyType : someTypes;
  const rows = ids === undefined ? await db.all(statement, values) : await db.all(ofOpportunities, { ...values, ids });
  const buckets = Array.from({ length: Math.ceil((until - origin) / bucketMs) }, () => ({ ...NO_COUNTS }));
  for (const { detected_at, ...counts } of rows) {
    const bucket = buckets[Math.ceil((detected_at - origin) / bucketMs) - 1];
    if (bucket !== undefined) for (const severity of severities) bucket[severity] += counts[severity];
  }
  return buckets;
}

const NO_COUNTS: EventCounts = { noise: 0, cosmetic: 0, informational: 0, material: 0, critical: 0, unknown: 0 };

export async function newestDetection(db: CatalogDb): Promise<EpochMs | undefined> {
  return (await db.get(newest))?.detected_at ?? undefined;
}
