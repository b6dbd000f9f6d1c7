/** The deadlines of a period. */
import { conditionOf, type Filter } from "../filter/filter.ts";
import type { EpochMs } from "../text/instant.ts";
import { countTwins, isShown } from "./find.ts";
import type { SearchFile } from "./search-file.ts";

export type Deadline = { id: string; due_at: EpochMs };

/** Deadlines, and how many more records of the same opportunities match. */
type Deadlines = { deadlines: Deadline[]; twins: number };

/** The opportunities that match and are due at `since` or later and before `until`, the next one first; at most `limit`. */
export function listDeadlines(
  { sqlite }: SearchFile,
  filter: Filter,
  { since, until }: { since: EpochMs; until: EpochMs },
  now: EpochMs,
  { limit, allSources }: { limit: number; allSources: boolean },
): Deadlines {
  const { sql, values } = conditionOf(filter, now);
  const matching = { sql: `due_at >= ? and due_at < ? and ${sql}`, values: [since, until, ...values] };
  const shown = allSources ? { sql: "true", values: [] } : isShown(matching);
  const deadlines = sqlite
    .query<Deadline, (string | number)[]>(
      `select id, due_at from records where ${matching.sql} and ${shown.sql} order by due_at, id limit ?`,
    )
    .all(...matching.values, ...shown.values, limit);
  return { deadlines, twins: allSources ? 0 : countTwins(sqlite, matching) };
}
