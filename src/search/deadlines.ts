/** The deadlines of a period. */
import type { Database } from "bun:sqlite";
import { conditionOf, type Filter } from "../filter/filter.ts";
import type { Condition } from "../filter/kinds.ts";
import type { EpochMs } from "../text/instant.ts";
import { countTwins, isShown } from "./find.ts";
import type { SearchFile } from "./search-file.ts";

export type Deadline = { id: string; due_at: EpochMs };

/** Deadlines, and how many more records of the same opportunities match. */
type Deadlines = { deadlines: Deadline[]; twins: number };

type Period = { since: EpochMs; until: EpochMs };

/** The opportunities that match and are due at `since` or later and before `until`, the next one first; at most `limit`. */
export function listDeadlines(
  { sqlite }: SearchFile,
  filter: Filter,
  period: Period,
  now: EpochMs,
  { limit, allSources }: { limit: number; allSources: boolean },
): Deadlines {
  const matching = matchingIn(filter, period, now);
  return {
    deadlines: deadlinesWhere(sqlite, matching, { limit, allSources }),
    twins: allSources ? 0 : countTwins(sqlite, matching),
  };
}

/** The next deadlines of what matches; at most `limit`. */
export function nextDeadlines({ sqlite }: SearchFile, filter: Filter, now: EpochMs, limit: number): Deadline[] {
  const period = { since: now, until: Number.MAX_SAFE_INTEGER };
  return deadlinesWhere(sqlite, matchingIn(filter, period, now), { limit, allSources: false });
}

function matchingIn(filter: Filter, { since, until }: Period, now: EpochMs): Condition {
  const { sql, values } = conditionOf(filter, now);
  return { sql: `due_at >= ? and due_at < ? and ${sql}`, values: [since, until, ...values] };
}

function deadlinesWhere(sqlite: Database, matching: Condition, { limit, allSources }: { limit: number; allSources: boolean }): Deadline[] {
  const shown = allSources ? { sql: "true", values: [] } : isShown(matching);
  return sqlite
    .query<Deadline, (string | number)[]>(
      `select id, due_at from records where ${matching.sql} and ${shown.sql} order by due_at, id limit ?`,
    )
    .all(...matching.values, ...shown.values, limit);
}
