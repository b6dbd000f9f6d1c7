/** The deadlines of a period. */
import type { Database } from "bun:sqlite";
import { conditionOf, type Filter } from "../filter/filter.ts";
import type { Condition } from "../filter/kinds.ts";
import type { EpochMs } from "../text/instant.ts";
import type { Budget } from "./budget.ts";
import { countTwins, isShown } from "./find.ts";
import type { SearchFile } from "./search-file.ts";

export type Deadline = { id: string; due_at: EpochMs };

/** Deadlines, and how many more records of the same opportunities match; 0 if `isWhole` is false, because the budget was spent before. */
type Deadlines = { deadlines: Deadline[]; twins: number; isWhole: boolean };

type Period = { since: EpochMs; until: EpochMs };

type Most = { limit: number; allSources: boolean };

/** The opportunities that match and are due at `since` or later and before `until`, the next one first; at most `limit`. */
export function listDeadlines({ sqlite }: SearchFile, filter: Filter, period: Period, now: EpochMs, most: Most, budget: Budget): Deadlines {
  const matching = matchingIn(filter, period, now);
  const deadlines = deadlinesWhere(sqlite, matching, most);
  const isWhole = !budget.isSpent();
  return { deadlines, twins: most.allSources || !isWhole ? 0 : countTwins(sqlite, matching), isWhole };
}

/** The same deadlines alone: twins take longer to count than deadlines to list. */
export function deadlinesIn({ sqlite }: SearchFile, filter: Filter, period: Period, now: EpochMs, most: Most): Deadline[] {
  return deadlinesWhere(sqlite, matchingIn(filter, period, now), most);
}

function matchingIn(filter: Filter, { since, until }: Period, now: EpochMs): Condition {
  const { sql, values } = conditionOf(filter, now);
  return { sql: `due_at >= ? and due_at < ? and ${sql}`, values: [since, until, ...values] };
}

function deadlinesWhere(sqlite: Database, matching: Condition, { limit, allSources }: Most): Deadline[] {
  const shown = allSources ? { sql: "true", values: [] } : isShown(matching);
  return sqlite
    .query<Deadline, (string | number)[]>(
      `select id, due_at from records where ${matching.sql} and ${shown.sql} order by due_at, id limit ?`,
    )
    .all(...matching.values, ...shown.values, limit);
}
