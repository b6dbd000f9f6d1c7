/** The deadlines of a period. */
import { conditionOf, type Filter } from "../filter/filter.ts";
import type { Condition } from "../filter/kinds.ts";
import type { EpochMs } from "../text/instant.ts";
import type { Budget } from "./budget.ts";
import { countDuplicates, shownOf } from "./find.ts";
import type { SearchFile } from "./search-file.ts";

export type Deadline = { id: string; due_at: EpochMs };

/** Deadlines, and how many more records of the same opportunities match; 0 if `isWhole` is false, because the budget was spent before. */
type Deadlines = { deadlines: Deadline[]; duplicates: number; isWhole: boolean };

type Period = { since: EpochMs; until: EpochMs };

type Most = { limit: number; allSources: boolean };

/** The deadlines of `deadlinesIn`, and the number of linked records. */
export function listDeadlines(index: SearchFile, filter: Filter, period: Period, now: EpochMs, most: Most, budget: Budget): Deadlines {
  const deadlines = deadlinesIn(index, filter, period, now, most);
  const isWhole = !budget.isSpent();
  const duplicates = most.allSources || !isWhole ? 0 : countDuplicates(index.sqlite, matchingIn(filter, period, now));
  return { deadlines, duplicates, isWhole };
}

/**
 * The opportunities that match and are due at `since` or later and before `until`, the next one first; at most `limit`. Counting their linked
 * records takes longer than listing them.
 */
export function deadlinesIn({ sqlite }: SearchFile, filter: Filter, period: Period, now: EpochMs, most: Most): Deadline[] {
  const { sql, values } = shownOf(matchingIn(filter, period, now), most.allSources);
  return sqlite
    .query<Deadline, (string | number)[]>(`select id, due_at from records where ${sql} order by due_at, id limit ?`)
    .all(...values, most.limit);
}

function matchingIn(filter: Filter, { since, until }: Period, now: EpochMs): Condition {
  const { sql, values } = conditionOf(filter, now);
  return { sql: `due_at >= ? and due_at < ? and ${sql}`, values: [since, until, ...values] };
}
