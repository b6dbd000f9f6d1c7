/** Counts the opportunities of index rows, because several records may be of one opportunity. (E-57) */
import type { Database } from "bun:sqlite";
import { lastRow } from "./common-rows.ts";
import { keptUntilChanged } from "./kept-counts.ts";
import { MATCH, PARTIAL } from "./masks.ts";

/** Opportunities that match, further ones that have only some of the words, and how many extra rows all of them have. */
export type GroupCounts = { matching: number; partial: number; duplicates: number };

type Rows = { kinds: Uint8Array; matching: number; partial: number };

/** Counts the groups of rows. A group matches if one of its records does. */
export function countGroups(sqlite: Database, { kinds, matching, partial }: Rows): GroupCounts {
  const counts = { matching, partial, duplicates: 0 };
  const { rows, groups } = kept(sqlite, () => membersOf(sqlite));
  for (let first = 0, end = 0; first < rows.length; first = end) {
    let [matches, partials] = [0, 0];
    for (end = first; groups[end] === groups[first] && end < rows.length; end++) {
      const kind = kinds[rows[end] ?? 0];
      if (kind === MATCH) matches++;
      else if (kind === PARTIAL) partials++;
    }
    const [moreMatches, morePartials] = [Math.max(0, matches - 1), matches > 0 ? partials : Math.max(0, partials - 1)];
    counts.matching -= moreMatches;
    counts.partial -= morePartials;
    counts.duplicates += moreMatches + morePartials;
  }
  return counts;
}

/** The rows of opportunities with several records, grouped by opportunity, with a number for each group. */
type Members = { rows: Int32Array; groups: Int32Array };

const kept = keptUntilChanged<Members>();

function membersOf(sqlite: Database): Members {
  const found = sqlite
    .query<{ seq: number; opportunity: string }, []>(
      `select seq, coalesce(duplicate_of, id) as opportunity from records
        where duplicate_of is not null or id in (select duplicate_of from records where duplicate_of is not null) order by opportunity`,
    )
    .all();
  const numbers = new Map<string, number>();
  for (const { opportunity } of found) numbers.getOrInsert(opportunity, numbers.size);
  return {
    rows: Int32Array.from(found, ({ seq }) => seq),
    groups: Int32Array.from(found, ({ opportunity }) => numbers.get(opportunity) ?? 0),
  };
}

/** How many opportunities some rows are of. */
export function opportunitiesIn(sqlite: Database, rows: readonly number[]): number {
  const kinds = new Uint8Array(lastRow(sqlite) + 1);
  for (const row of rows) kinds[row] = PARTIAL;
  return countGroups(sqlite, { kinds, matching: 0, partial: rows.length }).partial;
}
