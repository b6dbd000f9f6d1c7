/** Counts shown with the results: how many have each status, source, department and type, and, if nothing is found, which filters to drop. */
import type { Database } from "bun:sqlite";
import { conditionOf, type FieldName, type Filter, fieldNames } from "../filter/filter.ts";
import { withoutPhrases } from "../filter/question.ts";
import { withCommas } from "../text/in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import { lookFor } from "./best-match.ts";
import type { Budget } from "./budget.ts";
import { COUNTED_MAX, candidatesFor } from "./candidates.ts";
import { lastRow } from "./common-rows.ts";
import { matchingRows, spanCondition, spansFrom } from "./find.ts";
import { opportunitiesIn } from "./group-counts.ts";
import { NONE } from "./masks.ts";
import { spellQuestion } from "./question.ts";
import type { SearchFile } from "./search-file.ts";
import { vocabularyOf } from "./vocabulary.ts";

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

/** `isPartial`: records with some of the words count, too. `meeting`: the newest rows that meet all filters but the words, if they are known. */
type Dropping = { isPartial: boolean; allSources: boolean; meeting?: readonly number[] | undefined };

/**
 * The filters without which the others would find something, with the number of opportunities, or with `allSources` of records, the largest
 * first. None if the budget was spent before that was known.
 */
export function filtersToDrop(
  { sqlite }: SearchFile,
  filter: Filter,
  now: EpochMs,
  { isPartial, allSources, meeting }: Dropping,
  budget: Budget,
): { name: FieldName; records: number }[] {
  const { words, ...others } = filter;
  if (fieldNames.filter((name) => filter[name] !== undefined).length < 2) return [];
  const readings = isPartial && words !== undefined ? readingsOf(sqlite, words, budget) : undefined;
  const without = rowsWithoutOne(sqlite, filter, now, readings, budget);
  if (without === undefined) return [];
  if (words !== undefined) without.set("words", meeting ?? matchingRows(sqlite, others, now, COUNTED_MAX, budget).rows);
  const countOf = (rows: readonly number[]) => (allSources ? rows.length : opportunitiesIn(sqlite, rows));
  const found = [...without].map(([name, rows]) => {
    if (readings === undefined || name === "words") return { name, records: rows.length < COUNTED_MAX ? countOf(rows) : COUNTED_MAX };
    const [some = []] = readings.map((kinds) => rows.filter((row) => kinds[row] !== NONE)).filter(({ length }) => length > 0);
    return { name, records: countOf(some) };
  });
  return found.filter(({ records }) => records > 0).sort((left, right) => right.records - left.records);
}

/** For each way to read words, which rows have some of them: if nothing has a phrase, its words may stand anywhere. */
function readingsOf(sqlite: Database, words: string, budget: Budget): Uint8Array[] {
  const { candidates, understood } = lookFor(sqlite, words, undefined, 0, budget);
  const loose = withoutPhrases(words);
  if (loose === words || understood.loosened !== null) return [candidates.kinds];
  const wanted = { condition: undefined, most: 0, isDemanding: false };
  return [candidates.kinds, candidatesFor(sqlite, spellQuestion(loose, vocabularyOf(sqlite)), wanted, budget).kinds];
}

/**
 * For each filter but the words, the rows that meet the others: those that a reading has; without readings, the newest of those that match the
 * words. The table is read once for all filters. Undefined if the budget was spent before.
 */
function rowsWithoutOne(
  sqlite: Database,
  filter: Filter,
  now: EpochMs,
  readings: readonly Uint8Array[] | undefined,
  budget: Budget,
): Map<FieldName, readonly number[]> | undefined {
  const names = fieldNames.filter((name) => name !== "words" && filter[name] !== undefined);
  const found = new Map(names.map((name): [FieldName, number[]] => [name, []]));
  const conditions = names.map((name) => conditionOf({ [name]: filter[name] }, now));
  const columns = conditions.map(({ sql }, n) => `coalesce(${sql}, false) as meets_${n}`);
  const inSpan = spanCondition(sqlite, readings === undefined && filter.words !== undefined ? { words: filter.words } : {}, now);
  for (const { end, width } of spansFrom(lastRow(sqlite))) {
    const isFull = names.map((name) => readings === undefined && (found.get(name)?.length ?? 0) >= COUNTED_MAX);
    if (!isFull.includes(false)) break;
    if (budget.isSpent()) return undefined;
    const among = readings?.flatMap((kinds) => rowsIn(kinds, end - width, end));
    const isSparse = among !== undefined && among.length * SPARSE < width;
    const { sql, values } = inSpan(end, width);
    const needed = [
      sql,
      ...(isSparse ? ["seq in (select value from json_each(?))"] : []),
      ...names.flatMap((_, n) => (isFull[n] ? [`meets_${n}`] : [])),
      `${names.map((_, n) => `meets_${n}`).join(" + ")} >= ${names.length - 1}`,
    ];
    const rows = sqlite
      .query<unknown, (string | number)[]>(`select seq, ${columns.join(", ")} from records where ${needed.join(" and ")} order by seq desc`)
      .values(
        ...conditions.flatMap((each) => each.values),
        ...(values as (string | number)[]),
        ...(isSparse ? [JSON.stringify(among)] : []),
      );
    for (const [row = 0, ...meets] of rows as number[][]) {
      if (readings?.every((kinds) => kinds[row] === NONE)) continue;
      const lacking = names[meets.indexOf(0)];
      for (const name of lacking === undefined ? names : [lacking]) found.get(name)?.push(row);
    }
  }
  return found;
}

/** Looking up one row takes as long as reading this many in order. */
const SPARSE = 6;

/** The rows after `begin` and up to `end` that are of any kind. */
function rowsIn(kinds: Uint8Array, begin: number, end: number): number[] {
  const rows: number[] = [];
  for (let row = Math.max(0, begin) + 1; row <= end; row++) if (kinds[row] !== NONE) rows.push(row);
  return rows;
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
