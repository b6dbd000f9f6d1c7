/** Statuses are judged (D-37) never before the last `updated_at` (D-31), which stays ahead after a clock that was ahead. (E-14) */
import type { CatalogSql } from "../../db/engine.ts";
import { noteInstant, readInstants } from "../sources/instants.ts";
import { type EpochMs, formatInstant, isFuture } from "../text/instant.ts";
import { newestInstant } from "./stored.ts";

/** When statuses are judged. A minute ahead does not count: they must not go back and forth between two machines' clocks. */
export function judgingInstant(instant: EpochMs, clock: EpochMs): EpochMs {
  return isFuture(instant, clock) ? clock : instant;
}

/** Notes that statuses were judged at `now`, in the transaction that stores them. */
export async function noteJudged(sql: CatalogSql, now: EpochMs): Promise<void> {
  if (now > ((await readJudgedUntil(sql)) ?? Number.NEGATIVE_INFINITY)) await noteInstant(sql, "", "judged_until", now);
}

export async function isJudgedAhead(sql: CatalogSql, now: EpochMs): Promise<boolean> {
  return isFuture((await readJudgedUntil(sql)) ?? now, now);
}

/** A warning if the newest change is ahead of the clock. */
export async function warningOfChangesAhead(sql: CatalogSql, now: EpochMs): Promise<string | undefined> {
  const newest = await newestInstant(sql);
  if (newest === undefined || !isFuture(newest, now)) return undefined;
  return `The newest change in the catalog is dated ${formatInstant(newest)}, but this machine's clock says ${formatInstant(now)}. One of the two is wrong. Statuses follow the clock; the instants of new changes follow the newest one`;
}

async function readJudgedUntil(sql: CatalogSql): Promise<EpochMs | undefined> {
  return (await readInstants(sql, "")).judged_until;
}
