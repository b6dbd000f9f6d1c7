/** Finds opportunities in the search index, by words and filters. */
import type { Database } from "bun:sqlite";
import { conditionOf, type Filter } from "../filter/filter.ts";
import type { EpochMs } from "../text/instant.ts";
import { type SearchFile, textWeights } from "./search-file.ts";
import type { Words } from "./words.ts";

/** How results are sorted. Each order ends with the id, so that it is the same every time. */
const orders = {
  relevance: "rank, updated_at desc",
  /** The next deadline first, then records without one, then the deadlines that have passed, the latest of them first. */
  closes: "case when closes_at >= $now then 0 when closes_at is null then 1 else 2 end, abs(closes_at - $now)",
  posted: "posted_at desc nulls last",
  updated: "updated_at desc",
  amount: "amount_high desc nulls last",
} as const;

export type Sort = keyof typeof orders;

export const sorts = Object.keys(orders) as Sort[];

export type Search = { words: Words; filter: Filter; sort: Sort; limit: number };

/** The begin and the end of a match within a snippet. */
export const MATCH_BEGIN = "\u0002";
export const MATCH_END = "\u0003";

/** Words around a match. */
const SNIPPET_WORDS = 14;

export type Found = { id: string; number: string /** Where the words matched; null without words. */; snippet: string | null };

/** The first opportunities in the order of `sort`, and how many there are in all. */
export function find({ sqlite }: SearchFile, { words, filter, sort, limit }: Search, now: EpochMs): { total: number; found: Found[] } {
  const { include, exclude } = words;
  const condition = conditionOf(filter, now);
  const weights = Object.values(textWeights).join(", ");
  const from =
    include === undefined
      ? "(select null as rank) join records"
      : `(select rowid as matched, bm25(texts, ${weights}) as rank from texts where texts match ?) join records on seq = matched`;
  const where = [condition.sql, ...(exclude === undefined ? [] : ["seq not in (select rowid from texts where texts match ?)"])].join(
    " and ",
  );
  const values = [include, ...condition.values, exclude].filter((value) => value !== undefined);
  const order = `${orders[sort].replaceAll("$now", `${Math.trunc(now)}`)}, id`;

  const rows = sqlite
    .query<{ seq: number; id: string; number: string }, (string | number)[]>(
      `select seq, id, number from ${from} where ${where} order by ${order} limit ?`,
    )
    .all(...values, limit);
  const { total } = sqlite
    .query<{ total: number }, (string | number)[]>(`select count(*) as total from ${from} where ${where}`)
    .get(...values) ?? { total: 0 };
  const found = rows.map(({ seq, id, number }) => ({
    id,
    number,
    snippet: include === undefined ? null : snippetOf(sqlite, include, seq),
  }));
  return { total, found };
}

/** In a statement of its own, for the rows that are shown only: it reads the whole text. */
function snippetOf(sqlite: Database, include: string, seq: number): string | null {
  const sql = `select snippet(texts, -1, '${MATCH_BEGIN}', '${MATCH_END}', '…', ${SNIPPET_WORDS}) as snippet from texts where texts match ? and rowid = ?`;
  return sqlite.query<{ snippet: string }, [string, number]>(sql).get(include, seq)?.snippet ?? null;
}

/**
 * The ids of opportunities with this number, or whose id begins so; at most `limit`. A number that ends with "…" was cut by a table, so its
 * beginning is enough.
 */
export function findByNumber({ sqlite }: SearchFile, text: string, limit: number): string[] {
  const number = text.trim().toUpperCase();
  const beginning = number.endsWith("…") ? number.slice(0, -1) : undefined;
  const where = beginning === undefined ? "number = $sought" : "substr(number, 1, length($sought)) = $sought";
  const numbered = idsWhere(sqlite, where, beginning ?? number, limit);
  const isIdBeginning = /^[0-9a-f]{8}[0-9a-f-]*$/i.test(text);
  return numbered.length > 0 || !isIdBeginning
    ? numbered
    : idsWhere(sqlite, "id >= $sought and id < $sought || '~'", text.toLowerCase(), limit);
}

function idsWhere(sqlite: Database, where: string, sought: string, limit: number): string[] {
  const sql = `select id from records where ${where} order by id limit $limit`;
  return sqlite
    .query<{ id: string }, { sought: string; limit: number }>(sql)
    .all({ sought, limit })
    .map(({ id }) => id);
}
