/**
 * Finds everything in the search index that matches a filter. Of the records of one opportunity that match, one is shown: the canonical one,
 * else the first by id. (E-57) `search.ts` also has the best matches.
 */
import type { Database } from "bun:sqlite";
import { conditionOf, type Filter } from "../filter/filter.ts";
import type { Condition } from "../filter/kinds.ts";
import { readQuestion } from "../filter/question.ts";
import { matchesOf, queryOf } from "../filter/words.ts";
import type { EpochMs } from "../text/instant.ts";
import { type Budget, SPAN_ROWS } from "./budget.ts";
import { lastRow } from "./common-rows.ts";
import type { CursorKey, CursorPlace } from "./cursor.ts";
import type { SearchFile } from "./search-file.ts";

/** A part of an order: rows sorted by a column, forwards or backwards, then by row number. */
type Run = { column: string; where: string; isDescending: boolean; isNull: boolean };

const isNull = (column: string): Run => ({ column, where: `${column} is null`, isDescending: true, isNull: true });
const descending = (column: string, where = `${column} is not null`): Run => ({ column, where, isDescending: true, isNull: false });

/** How results are sorted. */
const orders = {
  /** The next deadline first, then records without one, then the deadlines that have passed, the latest of them first. */
  closes: (now) => [
    { column: "due_at", where: `due_at >= ${now}`, isDescending: false, isNull: false },
    isNull("due_at"),
    descending("due_at", `due_at < ${now}`),
  ],
  posted: () => [descending("posted_at"), isNull("posted_at")],
  updated: () => [descending("updated_at"), isNull("updated_at")],
  amount: () => [descending("amount_high"), isNull("amount_high")],
} as const satisfies Record<string, (now: EpochMs) => readonly Run[]>;

export type Order = keyof typeof orders;

export const orderNames = Object.keys(orders) as Order[];

type OrderedSearch = {
  filter: Filter;
  limit: number;
  order: Order;
  /** Shows every record, even if several are of one opportunity. */
  allSources?: boolean | undefined;
  /** Counting stops here, because counting every match takes as long as finding them. */
  countAtMost?: number | undefined;
};

/**
 * A page of ids, each with its keys. `total` opportunities match in all, with `duplicates` further records of the same ones; 0 if the count ended
 * early. `next`: the keys after which the next page begins; null on the last one. `rows`: those of all records that match; null if there are
 * too many. `isWhole` is false if the budget was spent before all was found or counted.
 */
type FoundIds = {
  total: number;
  duplicates: number;
  ids: string[];
  keys: CursorKey[][];
  next: CursorKey[] | null;
  rows: number[] | null;
  isWhole: boolean;
};

/** Up to this many matches are sorted. If there are more, rows are tested in result order. */
const FEW = 20_000;

/** The opportunities that match, in order. As long as the index stays the same, a walk through the pages returns each of them once. */
export function find({ sqlite }: SearchFile, search: OrderedSearch, place: CursorPlace, budget: Budget): FoundIds {
  const { filter, limit, order, countAtMost, allSources = false } = search;
  const gathered = matchingRows(sqlite, filter, place.now, FEW + 1, budget);
  const isFew = gathered.rows.length <= FEW;
  const matching = isFew ? isAmong(gathered.rows) : probing(sqlite, filter, place.now);
  const shown = allSources ? EVERY_ROW : isShown(matching);
  const all = shownOf(matching, allSources);
  const walked = walk(sqlite, orders[order](place.now), all, { isFew, most: limit + 1, from: place.keys }, budget);
  const page = walked.rows.slice(0, limit);
  const counted = isFew
    ? countFew(sqlite, gathered.rows, matching, { countAtMost, allSources })
    : countAtMost !== undefined && leastShown(sqlite, gathered.rows) >= countAtMost
      ? { total: countAtMost, duplicates: 0, isWhole: true }
      : countMany(sqlite, spanCondition(sqlite, filter, place.now), shown, countAtMost, budget);
  return {
    total: counted.total,
    duplicates: counted.duplicates,
    ids: page.map(({ id }) => id),
    keys: page.map(({ keys }) => keys),
    next: walked.rows.length > limit ? (page.at(-1)?.keys ?? null) : walked.next,
    rows: isFew && gathered.isAll ? gathered.rows : null,
    isWhole: gathered.isAll && walked.isWhole && counted.isWhole,
  };
}

/** The newest rows that match, at most `most` of them. `isAll` is false if the budget was spent before all rows were looked at. */
export function matchingRows(
  sqlite: Database,
  filter: Filter,
  now: EpochMs,
  most: number,
  budget: Budget,
): { rows: number[]; isAll: boolean } {
  const rows: number[] = [];
  const last = lastRow(sqlite);
  const inSpan = spanCondition(sqlite, filter, now);
  for (const { end, width } of spansFrom(last)) {
    if (rows.length >= most) break;
    if (end < last && budget.isSpent()) return { rows, isAll: false };
    const { sql, values } = inSpan(end, width);
    const statement = sqlite.query<unknown, CursorKey[]>(`select seq from records where ${sql} order by seq desc limit ?`);
    for (const [row] of statement.values(...values, most - rows.length) as [number][]) rows.push(row);
  }
  return { rows, isAll: true };
}

/** Spans of rows from the last one back to the first. They begin short, because the newest rows may be enough. */
export function* spansFrom(last: number): Generator<{ end: number; width: number }> {
  for (let [end, width] = [last, 1 << 15]; end > 0; end -= width, width = Math.min(2 * width, SPAN_ROWS)) yield { end, width };
}

/** Returns the condition of a filter for `width` rows up to an end. Its words are looked up only in these rows. */
export function spanCondition(
  sqlite: Database,
  { words = "", ...others }: Filter,
  now: EpochMs,
): (end: number, width: number) => Condition {
  const { sql, values } = conditionOf(others, now);
  const { included, excluded } = queriesOf(sqlite, words);
  const rows = "(select rowid from texts where texts match ? and rowid > ? and rowid <= ?)";
  const parts = [sql, ...(included === undefined ? [] : [`seq in ${rows}`]), ...(excluded === undefined ? [] : [`seq not in ${rows}`])];
  return (end, width) => {
    const span = [Math.max(0, end - width), end];
    const queries = [included, excluded].flatMap((query) => (query === undefined ? [] : [query, ...span]));
    return { sql: [...parts, "seq > ?", "seq <= ?"].join(" and "), values: [...values, ...queries, ...span] };
  };
}

/** The condition of a filter for rows that are tested one by one: its words are looked for in each row. */
function probing(sqlite: Database, { words = "", ...others }: Filter, now: EpochMs): Condition {
  const condition = conditionOf(others, now);
  const { included, excluded } = queriesOf(sqlite, words);
  const has = "exists (select 1 from texts where texts match ? and rowid = seq)";
  return {
    sql: [condition.sql, ...(included === undefined ? [] : [has]), ...(excluded === undefined ? [] : [`not ${has}`])].join(" and "),
    values: [...condition.values, ...[included, excluded].filter((query) => query !== undefined)],
  };
}

/** The FTS5 queries for required and for excluded words; undefined if there are none. */
function queriesOf(sqlite: Database, words: string): { included: string | undefined; excluded: string | undefined } {
  const { included, excluded } = matchesOf(readQuestion(words));
  return { included: included && queryOf(sqlite, included), excluded: excluded && queryOf(sqlite, excluded) };
}

function isAmong(rows: readonly number[]): Condition {
  return { sql: "seq in (select value from json_each(?))", values: [JSON.stringify(rows)] };
}

/** A row in the order of a result, and its keys: the number of its run, its value, and its place in the index. */
type Walked = { id: string; keys: [run: number, value: CursorKey, seq: number] };

type Walking = { isFew: boolean; most: number; from: readonly CursorKey[] };

/** Rows that are tested at once: few at first, because most of them may match. */
const [WINDOW_MIN, WINDOW_MAX] = [1 << 10, 1 << 16];

/** The rows that meet a condition, from a place on. If the budget is spent, `next` is the place where to continue. */
function walk(
  sqlite: Database,
  runs: readonly Run[],
  condition: Condition,
  { isFew, most, from }: Walking,
  budget: Budget,
): { rows: Walked[]; next: CursorKey[] | null; isWhole: boolean } {
  const found: Walked[] = [];
  const [firstRun = 0, value = null, row] = from;
  for (const [n, run] of runs.entries()) {
    if (n < Number(firstRun)) continue;
    let begin: Place | undefined = n === firstRun && row !== undefined ? { value, seq: Number(row) } : undefined;
    for (let width = WINDOW_MIN; found.length < most; width = Math.min(4 * width, WINDOW_MAX)) {
      const end = isFew ? undefined : endOfWindow(sqlite, run, begin, width);
      const within = [between(run, begin, end), condition];
      const by = inOrder(run);
      const rows = sqlite
        .query<{ id: string } & Place, CursorKey[]>(
          `select id, seq, ${run.column} as value from records ${isFew ? "" : indexedBy(run)} where ${within.map(({ sql }) => sql).join(" and ")} order by ${by} limit ?`,
        )
        .all(...within.flatMap(({ values }) => values), most - found.length);
      found.push(...rows.map(({ id, seq, value }): Walked => ({ id, keys: [n, value, seq] })));
      if (end === undefined) break;
      if (found.length < most && budget.isSpent()) return { rows: found, next: [n, end.value, end.seq], isWhole: false };
      begin = end;
    }
  }
  return { rows: found, next: null, isWhole: true };
}

type Place = { value: CursorKey; seq: number };

/** The place `width` rows further; undefined if the run ends before that. */
function endOfWindow(sqlite: Database, run: Run, begin: Place | undefined, width: number): Place | undefined {
  const { sql, values } = between(run, begin, undefined);
  const statement = `select ${run.column} as value, seq from records ${indexedBy(run)} where ${sql} order by ${inOrder(run)} limit 1 offset ?`;
  return sqlite.query<Place, CursorKey[]>(statement).get(...values, width - 1) ?? undefined;
}

function indexedBy({ column }: Run): string {
  return `indexed by records_by_${column}`;
}

function inOrder({ column, isDescending, isNull }: Run): string {
  const direction = isDescending ? "desc" : "asc";
  return isNull ? `seq ${direction}` : `${column} ${direction}, seq ${direction}`;
}

/** The rows of a run after a place, and up to another one. */
function between({ column, where, isDescending, isNull }: Run, begin: Place | undefined, end: Place | undefined): Condition {
  const isBeyond = (place: Place | undefined, operator: string): Condition[] => {
    if (place === undefined) return [];
    return isNull
      ? [{ sql: `seq ${operator} ?`, values: [place.seq] }]
      : [{ sql: `(${column}, seq) ${operator} (?, ?)`, values: [place.value ?? 0, place.seq] }];
  };
  const parts = [{ sql: where, values: [] }, ...isBeyond(begin, isDescending ? "<" : ">"), ...isBeyond(end, isDescending ? ">=" : "<=")];
  return { sql: parts.map(({ sql }) => sql).join(" and "), values: parts.flatMap(({ values }) => values) };
}

type Counted = { total: number; duplicates: number; isWhole: boolean };

/** Few records are linked, so counting all matches and subtracting the linked ones is faster than looking at each row. */
function countFew(
  sqlite: Database,
  rows: readonly number[],
  matching: Condition,
  { countAtMost = rows.length + 1, allSources = false }: Pick<OrderedSearch, "countAtMost" | "allSources">,
): Counted {
  const duplicates = allSources ? 0 : countDuplicates(sqlite, matching);
  const total = rows.length - duplicates;
  return total < countAtMost ? { total, duplicates, isWhole: true } : { total: countAtMost, duplicates: 0, isWhole: true };
}

/** A minimum for how many of these rows are shown, whatever the other records of their opportunities are. */
function leastShown(sqlite: Database, rows: readonly number[]): number {
  const { sql, values } = isAmong(rows);
  const alone = sqlite.query<{ rows: number }, CursorKey[]>(`select count(*) as rows from records where ${sql} and duplicate_of is null`);
  return alone.get(...values)?.rows ?? 0;
}

function countMany(
  sqlite: Database,
  inSpan: ReturnType<typeof spanCondition>,
  shown: Condition,
  countAtMost = Number.POSITIVE_INFINITY,
  budget: Budget,
): Counted {
  const last = lastRow(sqlite);
  let [total, records] = [0, 0];
  for (let end = last; end > 0; end -= SPAN_ROWS) {
    if (total >= countAtMost) return { total: countAtMost, duplicates: 0, isWhole: true };
    if (end < last && budget.isSpent()) return { total, duplicates: 0, isWhole: false };
    const { sql, values } = inSpan(end, SPAN_ROWS);
    const counted = sqlite
      .query<{ records: number; total: number }, CursorKey[]>(
        `select count(*) as records, coalesce(sum(${shown.sql}), 0) as total from records where ${sql}`,
      )
      .get(...shown.values, ...values);
    total += counted?.total ?? 0;
    records += counted?.records ?? 0;
  }
  return total < countAtMost ? { total, duplicates: records - total, isWhole: true } : { total: countAtMost, duplicates: 0, isWhole: true };
}

/** How many records match but are not shown, because another record of their group is. */
export function countDuplicates(sqlite: Database, matching: Condition): number {
  const preceded = isPreceded(matching);
  return (
    sqlite
      .query<{ duplicates: number }, CursorKey[]>(
        `select count(*) as duplicates from records where duplicate_of is not null and ${matching.sql} and ${preceded.sql}`,
      )
      .get(...matching.values, ...preceded.values)?.duplicates ?? 0
  );
}

/** The ids of all rows that match, the least recently updated first. */
export function findAll({ sqlite }: SearchFile, filter: Filter, now: EpochMs, allSources = false): string[] {
  const { sql, values } = shownOf(conditionOf(filter, now), allSources);
  return sqlite
    .query<{ id: string }, CursorKey[]>(`select id from records where ${sql} order by updated_at, id`)
    .all(...values)
    .map(({ id }) => id);
}

/** The groups of records, by id. A record that is not in the index is a group of its own. */
export function groupsOf({ sqlite }: SearchFile, ids: readonly string[]): Map<string, string> {
  const sql = 'select id, duplicate_of as "group" from records where id in (select value from json_each(?)) and duplicate_of is not null';
  const duplicates = new Map(
    sqlite
      .query<{ id: string; group: string }, [string]>(sql)
      .all(JSON.stringify(ids))
      .map(({ id, group }) => [id, group]),
  );
  return new Map(ids.map((id) => [id, duplicates.get(id) ?? id]));
}

/** The versions that match, and those that are not in the index. */
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

const EVERY_ROW: Condition = { sql: "true", values: [] };

/** The records of a group that come before the present one and match: the canonical record, else those with smaller ids. */
function isPreceded({ sql, values }: Condition): Condition {
  const isBefore = "other.id = records.duplicate_of or (other.duplicate_of = records.duplicate_of and other.id < records.id)";
  return { sql: `exists (select 1 from records as other where (${isBefore}) and ${sql})`, values }; // The columns are those of `other`.
}

/** The condition that a record matches and is the one shown for its group. With `allSources`, every record is shown. */
export function shownOf(matching: Condition, allSources: boolean): Condition {
  if (allSources) return matching;
  const shown = isShown(matching);
  return { sql: `${matching.sql} and ${shown.sql}`, values: [...matching.values, ...shown.values] };
}

/** The condition that a matching record is the one shown for its group. */
function isShown(matching: Condition): Condition {
  const { sql, values } = isPreceded(matching);
  return { sql: `(records.duplicate_of is null or not ${sql})`, values };
}

/** The condition that a record or one of its group matches. */
export function isInMatchingGroup({ sql, values }: Condition): Condition {
  const group = `select coalesce(duplicate_of, id) from records where ${sql}`;
  return { sql: `coalesce(duplicate_of, id) in (${group})`, values };
}

/**
 * The ids of opportunities with this number, or whose id begins so; of one source, if it is given; at most `limit`. A number that ends with "…"
 * was shortened in a table, so its beginning is enough.
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
