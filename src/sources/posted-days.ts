/** The days on which a source posted records. */
import { and, desc, eq, gt, lte } from "drizzle-orm";
import type { CatalogDb } from "../../db/engine.ts";
import { parameter, query, select } from "../../db/query.ts";
import { postedDays } from "../../db/schema/sqlite/catalog.ts";

const newestPostedDays = query(
  { source: postedDays.source, today: postedDays.posted_on, limit: parameter<number>() },
  ({ source, today, limit }) =>
    select({ day: postedDays.posted_on })
      .from(postedDays)
      .where(and(eq(postedDays.source, source), lte(postedDays.posted_on, today), gt(postedDays.records, 0)))
      .orderBy(desc(postedDays.posted_on))
      .limit(limit),
);

/** The newest days, not later than `today`, on which a source posted a record: YYYY-MM-DD, the newest first. */
export async function listPostedDays(db: CatalogDb, source: string, today: string, limit: number): Promise<string[]> {
  return (await db.all(newestPostedDays, { source, today, limit })).map(({ day }) => day);
}
