/** Counts shown with the results: how many have each status, source, department and type, and, if nothing is found, which filters to drop. */
import { conditionOf, type FieldName, type Filter, fieldNames } from "../filter/filter.ts";
import { withCommas } from "../text/in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import { lookFor } from "./best-match.ts";
import type { Budget } from "./budget.ts";
import { COUNTED_MAX } from "./candidates.ts";
import { matchingRows } from "./find.ts";
import { countGroups, opportunitiesIn } from "./group-counts.ts";
import type { SearchFile } from "./search-file.ts";

/** The fields that are counted, with the SQL of their values. An agency counts for its department. */
const counted = {
  status: "status",
  source: "source",
  agency: "substr(agency_code, 1, instr(agency_code || '.', '.') - 1)",
  program_type: "program_type",
} as const;

/** For each field, its values with the number of results, the most frequent first. Null if there are too many results. */
export type ResultCounts = Record<keyof typeof counted, { value: string; records: number }[]> | null;

type CountedRow = Record<keyof typeof counted, string | null> & { opportunity: string };

/** Counts the opportunities of rows of the index, or with `allSources` the rows; null stands for too many. */
export function countRows({ sqlite }: SearchFile, rows: readonly number[] | null, allSources: boolean): ResultCounts {
  if (rows === null || rows.length > COUNTED_MAX) return null;
  const all = sqlite.query<CountedRow, [string]>(
    `select ${allSources ? "id" : "coalesce(duplicate_of, id)"} as opportunity, ${Object.entries(counted).map(([name, value]) => `${value} as ${name}`)} from records where seq in (select value from json_each(?))`,
  );
  const found = all.all(JSON.stringify(rows)); // One statement, because reading the rows takes most of the time.
  const countsOf = (name: keyof typeof counted) =>
    [...Map.groupBy(found, (row) => row[name] ?? "")]
      .filter(([value]) => value !== "")
      .map(([value, some]) => ({ value, records: new Set(some.map(({ opportunity }) => opportunity)).size }))
      .sort((left, right) => right.records - left.records || (left.value < right.value ? -1 : 1));
  return { status: countsOf("status"), source: countsOf("source"), agency: countsOf("agency"), program_type: countsOf("program_type") };
}

/**
 * The filters without which the others would find something, with the number of opportunities, or with `allSources` of records, the largest
 * first. With `isPartial`, records with some of the words count, too. Filters that were not tried before the budget was spent are left out.
 */
export function filtersToDrop(
  { sqlite }: SearchFile,
  filter: Filter,
  now: EpochMs,
  { isPartial, allSources }: { isPartial: boolean; allSources: boolean },
  budget: Budget,
): { name: FieldName; records: number }[] {
  const given = fieldNames.filter((name) => filter[name] !== undefined);
  if (given.length < 2) return [];
  const countOf = ({ words, ...others }: Filter) => {
    if (budget.isSpent()) return 0;
    if (isPartial && words !== undefined) {
      const { candidates } = lookFor(sqlite, words, conditionOf(others, now), 0, budget);
      const { matching, partial } = allSources ? candidates : countGroups(sqlite, candidates);
      return matching + partial;
    }
    const { rows } = matchingRows(sqlite, { ...others, ...(words !== undefined && { words }) }, now, COUNTED_MAX, budget);
    return allSources || rows.length === COUNTED_MAX ? rows.length : opportunitiesIn(sqlite, rows);
  };
  const found = given.map((name) => ({ name, records: countOf({ ...filter, [name]: undefined }) }));
  return found.filter(({ records }) => records > 0).sort((left, right) => right.records - left.records);
}

/** The most values of a field in a sentence. */
const SHOWN = 3;

/** "status: open 12, closed 3; source: NSF 9, …". */
export function resultCountsInWords(counts: NonNullable<ResultCounts>): string {
  const fields = Object.entries(counts).filter(([, values]) => values.length > 1);
  return fields
    .map(([name, values]) => {
      const shown = values.slice(0, SHOWN).map(({ value, records }) => `${value} ${withCommas(records)}`);
      return `${name.replace("_", " ")}: ${shown.join(", ")}${values.length > SHOWN ? ", …" : ""}`;
    })
    .join("; ");
}

/** "without the filter naics, 12 would be found", for each filter to drop. */
export function dropInWords(drop: readonly { name: FieldName; records: number }[]): string[] {
  return drop.map(({ name, records }) => {
    const found = records >= COUNTED_MAX ? `${withCommas(COUNTED_MAX)} or more` : withCommas(records);
    return `Without the filter ${name.replaceAll("_", "-")}, ${found} would be found`;
  });
}
