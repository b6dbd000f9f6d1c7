/** When imports finished, and found something new. */
import type { CatalogSql } from "../../db/engine.ts";
import { dateAt, type EpochMs } from "../text/instant.ts";
import { listPostingDays } from "./counts.ts";
import { listDays, noteDay, noteInstant, readInstants } from "./instants.ts";
import { DAYS_SEEN, type News } from "./silence.ts";

/** Notes news of an import. Dates of a backfill say nothing about how often there are some. */
export async function noteChange(sql: CatalogSql, source: string, instant: EpochMs, isBackfill: boolean): Promise<void> {
  await noteInstant(sql, source, "changed", instant);
  if (!isBackfill) await noteDay(sql, source, "changed", instant);
}

/** Notes the end of an import; `asOf` is the instant of a backfill. */
export async function noteImport(sql: CatalogSql, source: string, finishedAt: EpochMs, asOf: EpochMs | null): Promise<void> {
  await noteInstant(sql, source, "imported", finishedAt);
  await noteInstant(sql, source, "known_until", asOf ?? finishedAt);
  if (asOf === null) await noteDay(sql, source, "imported", finishedAt);
}

type Reading = Pick<CatalogSql, "all">;

/** The news of a source up to `today`, and when an import last changed it, if known. */
export async function readNews(sql: Reading, source: string, today: string): Promise<News & { changed_at: EpochMs | null }> {
  const { changed: changed_at = null, known_until } = await readInstants(sql, source);
  const posted = await listPostedDays(sql, source, today, DAYS_SEEN);
  const changed = await listDays(sql, source, "changed", today, DAYS_SEEN);
  const import_days = await listDays(sql, source, "imported", today, DAYS_SEEN);
  const known_on = known_until === undefined ? null : dateAt(known_until);
  return {
    changed_at,
    news_days: [...new Set([...posted, ...changed])].sort().reverse().slice(0, DAYS_SEEN),
    import_days,
    known_on: known_on !== null && known_on > today ? (import_days[0] ?? null) : known_on, // The clock was ahead.
  };
}

/** The newest days on which a source posted a record. A day that was still to come at the last import was only planned. */
export async function listPostedDays(sql: Reading, source: string, today: string, limit: number): Promise<string[]> {
  const { known_until } = await readInstants(sql, source);
  const known = known_until === undefined ? today : dateAt(known_until);
  return listPostingDays(sql, source, known < today ? known : today, limit);
}
