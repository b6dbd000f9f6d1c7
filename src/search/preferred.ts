/** What a question prefers, in the index: which rows meet it, and how many a filter would leave. (E-242) */
import type { Database } from "bun:sqlite";
import { conditionOf, type Filter, fieldNames, readFilter } from "../filter/filter.ts";
import type { Condition } from "../filter/kinds.ts";
import type { Preference } from "../filter/preferences.ts";
import type { EpochMs } from "../text/instant.ts";
import { wordsOf } from "../text/words-of.ts";

/** What was asked, the filter that makes it strict, and how many of the results meet that; null if they are too many to count. */
export type Preferred = { asked: string; filter: Filter; opportunities: number | null };

/** A preference with the condition of its filter, and the condition by which a row is preferred. */
type Wanted = { asked: string; filter: Filter; strict: Condition; loose: Condition };

/** How much better a record is that meets a preference than another one that answers as well. Strict preferences lost whole answers. */
const PREFERRED_FACTOR = 1.5;

/** The preferences of a question but those that a filter decides. */
export function wantedOf(preferences: readonly Preference[], given: Omit<Filter, "words">, now: EpochMs): Wanted[] {
  return preferences.flatMap(({ asked, filter: filterAt, hint = "" }) => {
    const filter = readFilter(filterAt(now), "a preference");
    if (fieldNames.some((name) => name !== "words" && filter[name] !== undefined && given[name] !== undefined)) return [];
    const strict = conditionOf(filter, now);
    const phrase = wordsOf(hint).join(" ");
    if (phrase === "") return [{ asked, filter, strict, loose: strict }];
    const loose = {
      sql: `(${strict.sql}) or seq in (select rowid from texts where texts match ?)`,
      values: [...strict.values, `"${phrase}"`],
    };
    return [{ asked, filter, strict, loose }];
  });
}

/** By how much the weight of each of these rows is to be multiplied. */
export function factorsOf(sqlite: Database, wanted: readonly Wanted[], rows: readonly number[]): (row: number) => number {
  const among = JSON.stringify(rows);
  const met = wanted.map(({ loose: { sql, values } }) => {
    const statement = `select seq from records where seq in (select value from json_each(?)) and (${sql})`;
    return new Set((sqlite.query<unknown, (string | number)[]>(statement).values(among, ...values) as [number][]).map(([row]) => row));
  });
  return (row) => PREFERRED_FACTOR ** met.filter((each) => each.has(row)).length;
}

/** How many opportunities, or with `allSources` records, of these rows each filter would leave; null stands for too many. */
export function countPreferred(
  sqlite: Database,
  wanted: readonly Wanted[],
  rows: readonly number[] | null,
  allSources: boolean,
): Preferred[] {
  return wanted.map(({ asked, filter, strict: { sql, values } }) => {
    if (rows === null) return { asked, filter, opportunities: null };
    const statement = `select count(distinct ${allSources ? "id" : "coalesce(twin_of, id)"}) as n from records
      where seq in (select value from json_each(?)) and (${sql})`;
    const { n } = sqlite.query<{ n: number }, (string | number)[]>(statement).get(JSON.stringify(rows), ...values) ?? { n: 0 };
    return { asked, filter, opportunities: n };
  });
}
