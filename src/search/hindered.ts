/** How many opportunities cannot be applied for although their sources call them open, and why. (E-205) */
import { type Obstacle, obstacles } from "../opportunities/obstacle.ts";
import { openStatuses } from "../opportunities/status.ts";
import { withCommas } from "../text/in-words.ts";
import { COUNTED_MAX } from "./candidates.ts";
import type { SearchFile } from "./search-file.ts";

export type Hindered = { obstacle: Obstacle; opportunities: number };

type ObstacleRow = { opportunity: string; obstacle: Obstacle | null };

/**
 * Counts the opportunities whose open rows all have a reason against applying, by the reason of the first row. The most frequent reason comes
 * first.
 */
export function countObstacles(rows: readonly ObstacleRow[]): Hindered[] {
  const counts = new Map<Obstacle, number>();
  for (const records of Map.groupBy(rows, ({ opportunity }) => opportunity).values()) {
    const first = records[0]?.obstacle ?? null;
    if (first !== null && records.every(({ obstacle }) => obstacle !== null)) counts.set(first, (counts.get(first) ?? 0) + 1);
  }
  return [...counts]
    .map(([obstacle, opportunities]) => ({ obstacle, opportunities }))
    .sort((left, right) => right.opportunities - left.opportunities || (left.obstacle < right.obstacle ? -1 : 1));
}

const OPEN = openStatuses.map((status) => `'${status}'`).join(", ");

/** The given rows that are open according to their sources; none if there are too many rows to look at. */
export function countHindered({ sqlite }: SearchFile, rows: readonly number[] | null): Hindered[] {
  if (rows === null || rows.length > COUNTED_MAX) return [];
  const sql = `select coalesce(duplicate_of, id) as opportunity, obstacle from records
    where seq in (select value from json_each(?)) and status in (${OPEN}) order by duplicate_of, id`;
  return countObstacles(sqlite.query<ObstacleRow, [string]>(sql).all(JSON.stringify(rows)));
}

/** "140 are Dear Colleague Letters, 12 were last seen long ago"; "" without any. */
export function hinderedInWords(hindered: readonly Hindered[]): string {
  return hindered
    .map(({ obstacle, opportunities }) => `${withCommas(opportunities)} ${obstacles[obstacle][opportunities === 1 ? "one" : "many"]}`)
    .join(", ");
}

/** The same of results: "Of what is open by its source, 140 are Dear Colleague Letters"; "" without any. */
export function hinderedSentence(hindered: readonly Hindered[]): string {
  return hindered.length === 0 ? "" : `Of what their sources call open, ${hinderedInWords(hindered)}`;
}
