/** The preferences in a question: which rows meet them, and how many rows each filter would leave. (E-242) */
import type { Database } from "bun:sqlite";
import { conditionOf, type Filter, fieldNames, readFilter } from "../filter/filter.ts";
import type { Condition } from "../filter/kinds.ts";
import type { Preference } from "../filter/preferences.ts";
import type { EpochMs } from "../text/instant.ts";
import { wordsOf } from "../text/words-of.ts";

/** What was asked, the filter that makes it strict, and how many results meet the filter; null if there are too many to count. */
export type Preferred = { asked: string; filter: Filter; opportunities: number | null };

/** A preference with the condition of its filter, and the condition by which a row is preferred. */
type Wanted = { asked: string; filter: Filter; strict: Condition; loose: Condition };

/**
 * What a preference adds to the weight of a record that meets it: a factor, and as much as a word that one in twenty records has. Strict
 * preferences lost good results.
 */
const [PREFERRED_FACTOR, PREFERRED_WEIGHT] = [1.5, 3];

/** The preferences of a question, without those that a filter already decides. */
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

/** The weight of a row, with what the preferences add that it meets. */
export type Worth = (weight: number, row: number) => number;

/** What the weights of these rows are worth. */
export function worthIn(sqlite: Database, wanted: readonly Wanted[], rows: readonly number[]): Worth {
  const among = JSON.stringify(rows);
  const met = wanted.map(({ loose: { sql, values } }) => {
    const statement = `select seq from records where seq in (select value from json_each(?)) and (${sql})`;
    return new Set((sqlite.query<unknown, (string | number)[]>(statement).values(among, ...values) as [number][]).map(([row]) => row));
  });
  return (weight, row) => {
    const times = met.filter((each) => each.has(row)).length;
    return weight * PREFERRED_FACTOR ** times + PREFERRED_WEIGHT * times;
  };
}

/** How many opportunities (with `allSources`, records) of these rows each filter would leave; null if there are too many rows. */
export function countPreferred(
  sqlite: Database,
  wanted: readonly Wanted[],
  rows: readonly number[] | null,
  allSources: boolean,
): Preferred[] {
  return wanted.map(({ asked, filter, strict: { sql, values } }) => {
    if (rows === null) return { asked, filter, opportunities: null };
    const statement = `select count(distinct ${allSources ? "id" : "coalesce(duplicate_of, id)"}) as n from records
      where seq in (select value from json_each(?)) and (${sql})`;
    const { n } = sqlite.query<{ n: number }, (string | number)[]>(statement).get(JSON.stringify(rows), ...values) ?? { n: 0 };
    return { asked, filter, opportunities: n };
  });
}
