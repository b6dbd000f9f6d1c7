/**
 * The rows of common words, as bytes: FTS5 takes 40 to 150 ns to hand out a row, and these take some 3. They are made from FTS5 for ranges of
 * rows that are full, which never change. Rows after the last full range are read from FTS5. Readers skip the `deleted_rows`. (E-65)
 */
import type { Database } from "bun:sqlite";
import { agencyTag } from "../filter/agency-words.ts";
import { ACCEPTING_TAG } from "./accepting.ts";
import { recordsByAgency } from "./agencies.ts";
import { keptUntilChanged } from "./kept-counts.ts";
import { gapsOf } from "./masks.ts";

/** Rows in a range. */
export const RANGE_ROWS = 1 << 13;

export const COMMON_TABLES = `
create table common_stems (stem text primary key, query text not null) without rowid;
create table common_rows (
  stem text not null, range integer not null, rows blob not null, titled blob not null, primary key (stem, range)
) without rowid;
create table deleted_rows (seq integer primary key)`;

/** A stem is common if at least 1 in 200 records and at least 1,000 records contain it. */
const [ONE_IN, RECORDS_MIN] = [200, 1000];
/** Ranges that are read from FTS5 at once. */
const RANGES_AT_ONCE = 64;

/**
 * The tag of a stem that the title has. Asked for a common word in titles, FTS5 reads all rows that have it in any column until enough have it
 * in the title. A tag lists only those.
 */
export function titleTag(stem: string): string {
  return `\ue003${stem}`;
}

/** Chooses the stems that get bytes from now on, and deletes the earlier bytes. */
export function chooseCommonStems(sqlite: Database): void {
  for (const table of ["common_stems", "common_rows", "deleted_rows"]) sqlite.run(`delete from ${table}`);
  const records = sqlite.query<{ records: number }, []>("select count(*) as records from records").get()?.records ?? 0;
  const least = Math.max(RECORDS_MIN, records / ONE_IN);
  const stems = sqlite
    .query<{ stem: string; words: string }, [number]>(
      "select stem, json_group_array(word order by records desc) as words from words group by stem having sum(records) >= ?",
    )
    .all(least);
  const add = sqlite.query("insert into common_stems values (?, ?)");
  for (const { stem, words } of stems) add.run(stem, anyOf(JSON.parse(words) as string[]));
  const agencies = [...recordsByAgency(sqlite)].filter(([, ofAgency]) => ofAgency >= least);
  for (const tag of [ACCEPTING_TAG, ...agencies.map(([code]) => agencyTag(code))]) add.run(tag, anyOf([tag]));
}

/** Makes the bytes of each full range that has none yet. */
export function coverFullRanges(sqlite: Database): void {
  const first = lastCommonRow(sqlite) / RANGE_ROWS;
  const ranges = Math.floor(lastRow(sqlite) / RANGE_ROWS);
  if (first >= ranges) return;
  const stems = sqlite.query<{ stem: string; query: string }, []>("select stem, query from common_stems").all();
  const addRows = sqlite.query("insert into common_rows values (?, ?, ?, ?)");
  for (let begin = first; begin < ranges; begin += RANGES_AT_ONCE) {
    const end = Math.min(ranges, begin + RANGES_AT_ONCE);
    for (const { stem, query } of stems) {
      const [rows, titled] = [bytesOf(sqlite, query, begin, end), bytesOf(sqlite, anyOf([titleTag(stem)]), begin, end)];
      rows.forEach((bytes, n) => {
        addRows.run(stem, begin + n, bytes, titled[n] ?? new Uint8Array());
      });
    }
  }
}

/** The number of the last row; 0 if there is none. */
export function lastRow(sqlite: Database): number {
  return sqlite.query<{ last: number }, []>("select coalesce(max(seq), 0) as last from records").get()?.last ?? 0;
}

/** A query of FTS5 for any of these words. */
export function anyOf(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(" OR ");
}

/** The last row of the ranges that have bytes. */
export function lastCommonRow(sqlite: Database): number {
  // The tag is always among the common stems, and has bytes in each range, if only empty ones.
  const ranges = sqlite.query<{ ranges: number }, [string]>("select coalesce(max(range) + 1, 0) as ranges from common_rows where stem = ?");
  return (ranges.get(ACCEPTING_TAG)?.ranges ?? 0) * RANGE_ROWS;
}

/** The bytes of a common stem in the ranges from `begin` to before `end`, by range. */
export function commonRowsOf(sqlite: Database, stem: string, begin: number, end: number) {
  const rows = sqlite
    .query<{ range: number; rows: Uint8Array; titled: Uint8Array }, [string, number, number]>(
      "select range, rows, titled from common_rows where stem = ? and range >= ? and range < ?",
    )
    .all(stem, begin, end);
  return new Map(rows.map((each) => [each.range, each]));
}

const kept = keptUntilChanged<Map<number, Uint8Array>>();

/** The rows that were deleted after their range got bytes, by range, as the gaps between them. */
export function deletedRowsOf(sqlite: Database): Map<number, Uint8Array> {
  const read = () => {
    const rows = sqlite.query<unknown, []>("select seq from deleted_rows order by seq").values() as [number][];
    const ranges = Map.groupBy(rows, ([row]) => Math.floor((row - 1) / RANGE_ROWS));
    return new Map([...ranges].map(([range, some]) => [range, gapsOf(some, range * RANGE_ROWS + 1)]));
  };
  return kept(sqlite, read, lastRow(sqlite)); // Row numbers are new after each write.
}

/** For each range from `begin` to before `end`: the gaps between its rows. */
function bytesOf(sqlite: Database, query: string, begin: number, end: number): Uint8Array[] {
  const rows = sqlite
    .query<unknown, [string, number, number]>("select rowid from texts where texts match ? and rowid > ? and rowid <= ?")
    .values(query, begin * RANGE_ROWS, end * RANGE_ROWS) as [number][];
  let at = 0;
  return Array.from({ length: end - begin }, (_, n) => {
    const [first, from] = [(begin + n) * RANGE_ROWS + 1, at];
    while (at < rows.length && (rows[at]?.[0] ?? 0) < first + RANGE_ROWS) at++;
    return gapsOf(rows.slice(from, at), first);
  });
}
