/** The deadlines of a period. */
import { conditionOf, type Filter } from "../filter/filter.ts";
import type { EpochMs } from "../text/instant.ts";
import type { SearchFile } from "./search-file.ts";

export type Deadline = { id: string; closes_at: EpochMs };

/** The opportunities that match and close at `since` or later and before `until`, the next one first; at most `limit`. */
export function listDeadlines(
  { sqlite }: SearchFile,
  filter: Filter,
  { since, until }: { since: EpochMs; until: EpochMs },
  now: EpochMs,
  limit: number,
): Deadline[] {
  const { sql, values } = conditionOf(filter, now);
  return sqlite
    .query<Deadline, (string | number)[]>(
      `select id, closes_at from records where closes_at >= ? and closes_at < ? and ${sql} order by closes_at, id limit ?`,
    )
    .all(since, until, ...values, limit);
}
