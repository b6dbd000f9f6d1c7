/**
 * Finds everything in the search index that meets a filter: every word must occur, exactly as it is. Of the records of one opportunity that
 * match, one is shown: the canonical one, else the first by id. (E-57) `search.ts` also has the best matches.
 */
import type { Database } from "bun:sqlite";
import { conditionOf, type Filter } from "../filter/filter.ts";
import type { Condition } from "../filter/kinds.ts";
import type { EpochMs } from "../text/instant.ts";
import type { CursorKey, CursorPlace } from "./cursor.ts";
import type { SearchFile } from "./search-file.ts";

type SortKey = { sql: string; isDescending?: boolean };

/** How results are sorted. Each order ends with the id, so that it is the same every time. */
const orders = {
  /** The next deadline first, then records without one, then the deadlines that have passed, the latest of them first. */
  closes: [{ sql: "case when due_at >= $now then 0 when due_at is null then 1 else 2 end" }, { sql: "coalesce(abs(due_at - $now), 0)" }],
  // Null is the smallest value, so it comes last.
  posted: [{ sql: "posted_at", isDescending: true }],
  updated: [{ sql: "updated_at", isDescending: true }],
  amount: [{ sql: "amount_high", isDescending: true }],
} as const satisfies Record<string, readonly SortKey[]>;

export type Order = keyof typeof orders;

export const orderNames = Object.keys(orders) as Order[];

type OrderedSearch = {
  filter: Filter;
  limit: number;
  order: Order;
  /** Show every record, also several of one opportunity. */
  allSources?: boolean | undefined;
  /** Count no further than this: counting every match takes as long as finding them. */
  countAtMost?: number | undefined;
};

/**
 * A page of ids, how many rows there are in all, how many more records match and are twins of those, and the sort keys after which the next
 * page begins; null on the last one. `twins` is 0 if the count of rows ended early.
 */
type FoundIds = { total: number; twins: number; ids: string[]; next: CursorKey[] | null };

/** The opportunities that match, in order. As long as the index stays the same, a walk through the pages returns each of them once. */
export function find({ sqlite }: SearchFile, search: OrderedSearch, place: CursorPlace): FoundIds {
  const { filter, limit, order, countAtMost, allSources = false } = search;
  const keys: SortKey[] = [...orders[order].map((key) => ({ ...key, sql: key.sql.replaceAll("$now", `${place.now}`) })), { sql: "id" }];
  const matching = conditionOf(filter, place.now);
  const shown = allSources ? EVERY_ROW : isShown(matching);
  const rest = place.keys.length === 0 ? EVERY_ROW : followingRows(keys, place.keys);
  const by = keys.map(({ sql, isDescending }) => (isDescending ? `${sql} desc` : sql));
  const where = [matching, rest, shown].map(({ sql }) => sql).join(" and ");
  const rows = sqlite
    .query<CursorKey[], CursorKey[]>(`select ${keys.map(({ sql }) => sql)} from records where ${where} order by ${by} limit ?`)
    .values(...matching.values, ...rest.values, ...shown.values, limit + 1) as CursorKey[][]; // The last key is the id.
  const first = rows.slice(0, limit);
  const last = rows.length > limit ? first.at(-1) : undefined;
  return {
    ...countRows(sqlite, matching, { countAtMost, allSources }),
    ids: first.map((row) => `${row.at(-1)}`),
    next: last ?? null,
  };
}

type Counting = Pick<OrderedSearch, "countAtMost" | "allSources">;

/** Twins are few, so counting all that match and taking them away is faster than looking at each row. */
function countRows(sqlite: Database, matching: Condition, { countAtMost, allSources }: Counting) {
  if (allSources) return { total: count(sqlite, matching, countAtMost), twins: 0 };
  if (countAtMost === undefined) {
    const twins = countTwins(sqlite, matching);
    return { total: count(sqlite, matching) - twins, twins };
  }
  const shown = isShown(matching);
  const total = count(sqlite, { sql: `${matching.sql} and ${shown.sql}`, values: [...matching.values, ...shown.values] }, countAtMost);
  return { total, twins: total < countAtMost ? countTwins(sqlite, matching) : 0 };
}

/** How many records match and are not shown, because another one of their group is. */
export function countTwins(sqlite: Database, matching: Condition): number {
  const preceded = isPreceded(matching);
  return count(sqlite, {
    sql: `twin_of is not null and ${matching.sql} and ${preceded.sql}`,
    values: [...matching.values, ...preceded.values],
  });
}

function count(sqlite: Database, { sql, values }: Clause, most = -1): number {
  const counted = sqlite.query<{ total: number }, CursorKey[]>(
    `select count(*) as total from (select 1 from records where ${sql} limit ?)`,
  );
  return counted.get(...values, most)?.total ?? 0;
}

/** The ids of all rows that match, the least recently updated first. */
export function findAll({ sqlite }: SearchFile, filter: Filter, now: EpochMs, allSources = false): string[] {
  const matching = conditionOf(filter, now);
  const shown = allSources ? EVERY_ROW : isShown(matching);
  return sqlite
    .query<{ id: string }, CursorKey[]>(`select id from records where ${matching.sql} and ${shown.sql} order by updated_at, id`)
    .all(...matching.values, ...shown.values)
    .map(({ id }) => id);
}

/** The groups of records, by id. Those that the index does not have are alone in theirs. */
export function groupsOf({ sqlite }: SearchFile, ids: readonly string[]): Map<string, string> {
  const sql = 'select id, twin_of as "group" from records where id in (select value from json_each(?)) and twin_of is not null';
  const twins = new Map(
    sqlite
      .query<{ id: string; group: string }, [string]>(sql)
      .all(JSON.stringify(ids))
      .map(({ id, group }) => [id, group]),
  );
  return new Map(ids.map((id) => [id, twins.get(id) ?? id]));
}

/** The versions that match, and those that the index does not have. */
export function whichMayMatch<Version extends { id: string; stored_at: EpochMs }>(
  { sqlite }: SearchFile,
  filter: Filter,
  versions: readonly Version[],
  now: EpochMs,
): readonly Version[] {
  const { sql, values } = conditionOf(filter, now);
  const unmatched = sqlite
    .query<unknown, CursorKey[]>(
      `select id, stored_at from records where id in (select value from json_each(?)) and not coalesce((${sql}), false)`,
    )
    .values(JSON.stringify(versions.map(({ id }) => id)), ...values) as [string, EpochMs][];
  const storedAt = new Map(unmatched);
  return versions.filter(({ id, stored_at }) => storedAt.get(id) !== stored_at);
}

type Clause = { sql: string; values: readonly CursorKey[] };

const EVERY_ROW: Clause = { sql: "true", values: [] };

/** The records of a group that come before the present one and match: the canonical record, else those with smaller ids. */
function isPreceded({ sql, values }: Condition): Condition {
  const isBefore = "other.id = records.twin_of or (other.twin_of = records.twin_of and other.id < records.id)";
  return { sql: `exists (select 1 from records as other where (${isBefore}) and ${sql})`, values }; // The columns are those of `other`.
}

/** The condition that a record that matches is the one of its group that is shown. */
export function isShown(matching: Condition): Condition {
  const { sql, values } = isPreceded(matching);
  return { sql: `(records.twin_of is null or not ${sql})`, values };
}

/** The condition that a record or one of its group matches. */
export function isInMatchingGroup({ sql, values }: Condition): Condition {
  const group = `select coalesce(twin_of, id) from records where ${sql}`;
  return { sql: `coalesce(twin_of, id) in (${group})`, values };
}

/** The rows after a place: greater in the first key that differs. */
function followingRows(keys: readonly SortKey[], place: readonly CursorKey[]): Clause {
  const clauses = keys.map(({ sql, isDescending }, n): Clause => {
    const value = place[n] ?? null;
    const before = keys.slice(0, n).map((key) => `${key.sql} is ?`);
    const comparison = !isDescending ? `${sql} > ?` : `(${sql} < ? or (${sql} is null and ? is not null))`;
    return {
      sql: [...before, comparison].join(" and "),
      values: [...place.slice(0, n), ...(isDescending ? [value, value] : [value])],
    };
  });
  return { sql: `(${clauses.map(({ sql }) => `(${sql})`).join(" or ")})`, values: clauses.flatMap(({ values }) => values) };
}

/**
 * The ids of opportunities with this number, or whose id begins so; of one source, if it is given; at most `limit`. A number that ends with "…"
 * was cut by a table, so its beginning is enough.
 */
export function findByNumber({ sqlite }: SearchFile, text: string, limit: number, source: string | null = null): string[] {
  const number = text.trim().toUpperCase();
  const beginning = /.…$/.test(number) ? number.slice(0, -1) : undefined; // "…" alone would be the beginning of every number.
  const where = beginning === undefined ? "number = $sought" : "substr(number, 1, length($sought)) = $sought";
  const numbered = idsWhere(sqlite, where, { sought: beginning ?? number, source, limit });
  const isIdBeginning = /^[0-9a-f]{8}[0-9a-f-]*$/i.test(text);
  return numbered.length > 0 || !isIdBeginning
    ? numbered
    : idsWhere(sqlite, "id >= $sought and id < $sought || '~'", { sought: text.toLowerCase(), source, limit });
}

type Sought = { sought: string; source: string | null; limit: number };

function idsWhere(sqlite: Database, where: string, values: Sought): string[] {
  const sql = `select id from records where ${where} and ($source is null or source = $source) order by id limit $limit`;
  return sqlite
    .query<{ id: string }, Sought>(sql)
    .all(values)
    .map(({ id }) => id);
}
