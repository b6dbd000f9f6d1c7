/**
 * Finds opportunities in the search index, by words and other filters. Of the records of one opportunity that match, one is shown: the
 * canonical one, else the first by id. (E-57)
 */
import type { Database } from "bun:sqlite";
import { conditionOf, type Filter, fieldNames } from "../filter/filter.ts";
import type { Condition } from "../filter/kinds.ts";
import { textWeights } from "../filter/texts.ts";
import { exclusionOf, queriesOf } from "../filter/words.ts";
import type { EpochMs } from "../text/instant.ts";
import { type CursorKey, type CursorPlace, decodePlace, encodePlace } from "./cursor.ts";
import type { SearchFile } from "./search-file.ts";

type SortKey = { sql: string; isDescending?: boolean };

/** How results are sorted. Each order ends with the id, so that it is the same every time. */
const orders = {
  relevance: [{ sql: "rank" }, { sql: "updated_at", isDescending: true }],
  /** The next deadline first, then records without one, then the deadlines that have passed, the latest of them first. */
  closes: [{ sql: "case when due_at >= $now then 0 when due_at is null then 1 else 2 end" }, { sql: "coalesce(abs(due_at - $now), 0)" }],
  // Null is the smallest value, so it comes last.
  posted: [{ sql: "posted_at", isDescending: true }],
  updated: [{ sql: "updated_at", isDescending: true }],
  amount: [{ sql: "amount_high", isDescending: true }],
} as const satisfies Record<string, readonly SortKey[]>;

export type Sort = keyof typeof orders;

export const sorts = Object.keys(orders) as Sort[];

/** `after` is the `next` of an earlier page of the same search. */
export type SearchRequest = {
  filter: Filter;
  limit: number;
  sort?: Sort | undefined;
  after?: string | null | undefined;
  /** Show every record, also several of one opportunity. */
  allSources?: boolean | undefined;
  /** Count no further than this: counting every match takes as long as finding them. */
  countAtMost?: number | undefined;
};

/** How results are sorted unless a search says it: by relevance if there are words that must occur. */
export function defaultSort({ words = "" }: Filter): Sort {
  return queriesOf(words).include === undefined ? "updated" : "relevance";
}

/** The begin and the end of a match within a snippet. */
export const MATCH_BEGIN = "\u0002";
export const MATCH_END = "\u0003";

/** Words around a match. */
const SNIPPET_WORDS = 14;

/** `snippet` shows where the words matched; it is null without words. */
export type Found = { id: string; number: string; snippet: string | null };

/**
 * A page of what was found, how many rows there are in all, how many more records match and are twins of those, and where the next page
 * begins; null on the last one. `twins` is 0 if the count of rows ended early.
 */
export type FoundPage<Next = string> = { total: number; twins: number; found: Found[]; next: Next | null };

/** A page with cursors as texts. Throws a BadCursor if `after` is none of this search. */
export function find(index: SearchFile, { after, ...search }: SearchRequest, now: EpochMs): FoundPage {
  const { filter, sort = defaultSort(filter) } = search;
  const request = [sort, search.allSources ?? false, ...fieldNames.map((name) => filter[name] ?? null)];
  const place = typeof after === "string" ? decodePlace(request, after) : { now: Math.trunc(now), keys: [] };
  const { next, ...page } = findFrom(index, search, place);
  return { ...page, next: next === null ? null : encodePlace(request, { now: place.now, keys: next }) };
}

/**
 * The opportunities that match, in the order of `sort`. As long as the index stays the same, a walk through the pages returns each of them
 * once.
 */
export function findFrom({ sqlite }: SearchFile, search: Omit<SearchRequest, "after">, place: CursorPlace): FoundPage<CursorKey[]> {
  const { filter, limit, sort = defaultSort(filter), countAtMost, allSources = false } = search;
  const { include } = queriesOf(filter.words ?? "");
  const keys: SortKey[] = [...orders[sort].map((key) => ({ ...key, sql: key.sql.replaceAll("$now", `${place.now}`) })), { sql: "id" }];
  const matching = matchingRows(filter, place.now, sort === "relevance" ? { limit, after: place.keys[0], allSources } : undefined);
  const shown = allSources ? EVERY_ROW : isShown(conditionOf(filter, place.now));
  const rest = place.keys.length === 0 ? { sql: "true", values: [] } : followingRows(keys, place.keys);
  const order = keys.map(({ sql, isDescending }) => (isDescending ? `${sql} desc` : sql));

  const rows = sqlite
    .query<Row, CursorKey[]>(
      `select seq, id, number, ${keys.map(({ sql }) => sql)} ${matching.sql} and ${rest.sql} and ${shown.sql} order by ${order} limit ?`,
    )
    .values(...matching.values, ...rest.values, ...shown.values, limit + 1) as Row[];
  const first = rows.slice(0, limit);
  const last = rows.length > limit ? first.at(-1) : undefined;
  return {
    ...countRows(sqlite, filter, place.now, { countAtMost, allSources }),
    found: first.map(([seq, id, number]) => ({ id, number, snippet: include === undefined ? null : snippetOf(sqlite, include, seq) })),
    next: last === undefined ? null : (last.slice(3) as CursorKey[]),
  };
}

type Counting = Pick<SearchRequest, "countAtMost" | "allSources">;

/** Twins are few, so counting all that match and taking them away is faster than looking at each row. */
function countRows(sqlite: Database, filter: Filter, now: EpochMs, { countAtMost, allSources }: Counting) {
  const matching = matchingRows(filter, now);
  if (allSources) return { total: count(sqlite, matching, countAtMost), twins: 0 };
  const condition = conditionOf(filter, now);
  if (countAtMost === undefined) {
    const twins = countTwins(sqlite, condition);
    return { total: count(sqlite, matching) - twins, twins };
  }
  const shown = isShown(condition);
  const rows = { sql: `${matching.sql} and ${shown.sql}`, values: [...matching.values, ...shown.values] };
  const total = count(sqlite, rows, countAtMost);
  return { total, twins: total < countAtMost ? countTwins(sqlite, condition) : 0 };
}

/** How many records match and are not shown, because another one of their group is. */
export function countTwins(sqlite: Database, matching: Condition): number {
  const { sql, values } = hiddenTwins(matching);
  return count(sqlite, { sql: `from (${sql})`, values });
}

function count(sqlite: Database, { sql, values }: Clause, most = -1): number {
  const counted = sqlite.query<{ total: number }, CursorKey[]>(`select count(*) as total from (select 1 ${sql} limit ?)`);
  return counted.get(...values, most)?.total ?? 0;
}

/** The ids of all rows that match, the least recently updated first. */
export function findAll({ sqlite }: SearchFile, filter: Filter, now: EpochMs, allSources = false): string[] {
  const matching = matchingRows(filter, now);
  const shown = allSources ? EVERY_ROW : isShown(conditionOf(filter, now));
  return sqlite
    .query<{ id: string }, CursorKey[]>(`select id ${matching.sql} and ${shown.sql} order by updated_at, id`)
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

type Row = [seq: number, id: string, number: string, ...keys: CursorKey[]];
type Clause = { sql: string; values: readonly CursorKey[] };

/** A page of rows sorted by rank: how many it has, and the rank of the last row of the page before. */
type RankedPage = { limit: number; after: CursorKey | undefined; allSources: boolean };

/** The tables and the conditions. Ranks are computed only where they are sorted by, because they take longest. */
function matchingRows({ words = "", ...others }: Filter, now: EpochMs, page?: RankedPage): Clause {
  const { include } = queriesOf(words);
  if (page === undefined || include === undefined) {
    const { sql, values } = conditionOf(words === "" ? others : { ...others, words }, now);
    return { sql: `from (select 0 as rank) join records where ${sql}`, values };
  }
  const { sql, values } = conditionOf(others, now);
  const exclusion = exclusionOf(words);
  const weights = Object.values(textWeights).join(", ");
  const ranked = `select rowid as matched, bm25(texts, ${weights}) as rank from texts where texts match ?`;
  if (sql === "true" && exclusion.sql === "true") {
    // Without other conditions, the rank of the last row is known before the rows are read. There may be several of this rank.
    const last = "select rank from ranked where rank > ? order by rank limit 1 offset ?";
    const hidden = page.allSources ? NO_ROW : hiddenTwins(conditionOf({ words }, now));
    const best = `with ranked as materialized (${ranked} and rowid not in (${hidden.sql})) select * from ranked where rank <= coalesce((${last}), 9e999)`;
    return {
      sql: `from (${best}) join records on seq = matched where true`,
      values: [include, ...hidden.values, page.after ?? Number.NEGATIVE_INFINITY, page.limit],
    };
  }
  return {
    sql: `from (${ranked}) join records on seq = matched where ${sql} and ${exclusion.sql}`,
    values: [include, ...values, ...exclusion.values],
  };
}

const EVERY_ROW: Clause = { sql: "true", values: [] };
const NO_ROW: Clause = { sql: "select null where false", values: [] };

/** The records of a group that come before the present one and match: the canonical record, else those with smaller ids. */
function isPreceded({ sql, values }: Condition, present: string): Condition {
  const isBefore = `other.id = ${present}.twin_of or (other.twin_of = ${present}.twin_of and other.id < ${present}.id)`;
  return { sql: `exists (select 1 from records as other where (${isBefore}) and ${sql})`, values }; // The columns are those of `other`.
}

/** The condition that a record that matches is the one of its group that is shown. */
export function isShown(matching: Condition): Condition {
  const { sql, values } = isPreceded(matching, "records");
  return { sql: `(records.twin_of is null or not ${sql})`, values };
}

/** The condition that a record or one of its group matches. */
export function isInMatchingGroup({ sql, values }: Condition): Condition {
  const group = `select coalesce(twin_of, id) from records where ${sql}`;
  return { sql: `coalesce(twin_of, id) in (${group})`, values };
}

/** The records that match and are not shown. */
function hiddenTwins(matching: Condition): Clause {
  const preceded = isPreceded(matching, "twin");
  const sql = `select seq from records as twin where twin_of is not null and ${matching.sql} and ${preceded.sql}`;
  return { sql, values: [...matching.values, ...preceded.values] };
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

/** In a statement of its own, for the rows that are shown only: it reads the whole text. */
function snippetOf(sqlite: Database, include: string, seq: number): string | null {
  const sql = `select snippet(texts, -1, '${MATCH_BEGIN}', '${MATCH_END}', '…', ${SNIPPET_WORDS}) as snippet from texts where texts match ? and rowid = ?`;
  return sqlite.query<{ snippet: string }, [string, number]>(sql).get(include, seq)?.snippet ?? null;
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
