/**
 * Writes records to the index. A record's row is its place in the order of changes: a changed record gets a new row at the end, and its old
 * one is deleted. So rows are only appended, which is what FTS5 does best, and the newest are the last. (E-65)
 */
import type { Database } from "bun:sqlite";
import { columns, publishedWords, requirementsCell } from "../filter/columns.ts";
import { INSERT_TEXTS, indexedTexts, titleAndText } from "../filter/texts.ts";
import { tagsOf } from "../filter/words.ts";
import type { Obstacle } from "../opportunities/obstacle.ts";
import { numberKeyOf, numberOf, type WholeOpportunity } from "../opportunities/opportunity.ts";
import { groupOf } from "../opportunities/related.ts";
import { unendedStatuses } from "../opportunities/status.ts";
import type { EpochMs } from "../text/instant.ts";
import { stemOf, wordsOf } from "../text/words-of.ts";
import { ACCEPTING_TAG, IS_UNENDED } from "./accepting.ts";
import { chooseCommonStems, coverFullRanges, lastCommonRow, lastRow, titleTag } from "./common-rows.ts";
import { addWords, countWords } from "./vocabulary.ts";

const columnNames = [
  "seq",
  "id",
  "stored_at",
  "due_at",
  "obstacle",
  "turns_at",
  "number",
  "number_key",
  "canonical_id",
  ...Object.keys(columns),
];
const cellOf = (name: string) => (name === "agency" ? "(select row from agency_names where words = ?)" : "?");
const INSERT_RECORD = `insert into records (${columnNames.join(", ")}) values (${columnNames.map(cellOf).join(", ")})`;

/** Indexes that a build adds at the end: random ids would make each batch write everywhere. */
const INDEXES = [
  "records_by_id on records (id)",
  "records_by_number on records (number)",
  "records_by_number_key on records (number_key) where number_key <> ''",
  "records_by_canonical_id on records (canonical_id) where canonical_id is not null",
  "records_by_duplicate_of on records (duplicate_of, id) where duplicate_of is not null",
  "records_by_updated_at on records (updated_at)",
  "records_by_agency_code on records (agency_code)",
  "records_by_stored_at on records (stored_at)", // Covers the check after each catch-up.
  "records_by_due_at on records (due_at)",
  "records_by_posted_at on records (posted_at)",
  "records_by_amount_high on records (amount_high)",
  "records_by_turns_at on records (turns_at) where turns_at is not null",
  `records_unended on records (duplicate_of, id, status, obstacle, due_at, agency_code, amount_high) where ${IS_UNENDED}`,
];

/** How much FTS5 keeps in memory while an index is built, and later. */
const [BUILDING_BYTES, BYTES] = [64 << 20, 1 << 20];

/** Prepares empty tables for a build. */
export function beginBuild(sqlite: Database): void {
  configure(sqlite, { hashsize: BUILDING_BYTES });
}

/**
 * Finishes a build with everything that needs all records: indexes, word counts, and the rows of common words. Removes the old rows of records
 * that changed meanwhile.
 */
export function finishBuild(sqlite: Database): void {
  for (const index of INDEXES) sqlite.run(`create index ${index}`);
  const replaced = "select seq from records as r where exists (select 1 from records as n where n.id = r.id and n.seq > r.seq)";
  deleteRows(sqlite, rowsOf(sqlite, `${replaced} order by seq`));
  const naming = sqlite.query<{ id: string }, []>("select id from records where canonical_id is not null").all();
  for (const { id } of naming) moveToGroup(sqlite, id);
  markGroups(sqlite, naming);
  countAgain(sqlite);
  configure(sqlite, { hashsize: BYTES, automerge: 8, deletemerge: 0 });
}

/** Counts the words of all records, and makes the rows of those that are common now. */
export function countAgain(sqlite: Database): void {
  countWords(sqlite);
  chooseCommonStems(sqlite);
  coverFullRanges(sqlite);
  sqlite.query("update progress set counted_until = ?").run(lastRow(sqlite));
}

/** A record with its next due date, the reason why it cannot be applied for, and when any of these changes next. */
type Written = {
  opportunity: WholeOpportunity;
  stored_at: EpochMs;
  due_at: EpochMs | null;
  obstacle: Obstacle | null;
  turns_at: EpochMs | null;
};

/** Writes a batch in the order of changes. With `isBuilding` (until `finishBuild`), it does not look for old rows of the same records. */
export function writeRecords(sqlite: Database, records: readonly Written[], isBuilding: boolean): void {
  const words = new Set<string>();
  const opportunities = records.map(({ opportunity }) => opportunity);
  let seq = lastRow(sqlite); // Read before rows are deleted, because the bytes of common words still have their numbers.
  if (!isBuilding) {
    markGroups(sqlite, opportunities); // The groups that a record leaves.
    const ids = JSON.stringify(opportunities.map(({ id }) => id));
    // All deletes first, in the order of rows: FTS5 flushes its memory for each row that does not follow the last one.
    deleteRows(sqlite, rowsOf(sqlite, "select seq from records where id in (select value from json_each(?)) order by seq", ids));
  }
  const [insertRecord, insertTexts] = [sqlite.query(INSERT_RECORD), sqlite.query(INSERT_TEXTS)];
  const insertAgency = sqlite.query("insert or ignore into agency_names (words) values (?)");
  const insertEligibility = sqlite.query("insert into eligibilities values (?, ?)");
  for (const { opportunity, stored_at, due_at, obstacle, turns_at } of records) {
    const number = numberOf(opportunity) ?? "";
    const cells = Object.values(columns).map((cell) => cell(opportunity));
    const texts = indexedTexts(opportunity);
    insertAgency.run(publishedWords(opportunity));
    insertRecord.run(
      ++seq,
      opportunity.id,
      stored_at,
      due_at,
      obstacle,
      turns_at,
      number.toUpperCase(),
      numberKeyOf(number),
      opportunity.relationships.canonical_id,
      ...cells,
    );
    insertTexts.run(seq, ...texts, allTagsOf(opportunity, obstacle, texts).join(" "));
    const requirements = requirementsCell(opportunity);
    if (requirements !== "") insertEligibility.run(seq, requirements);
    if (!isBuilding) for (const text of texts) for (const word of wordsOf(text)) words.add(word);
  }
  if (isBuilding) return;
  addWords(sqlite, words);
  for (const { id } of opportunities) moveToGroup(sqlite, id);
  markGroups(sqlite, opportunities);
  coverFullRanges(sqlite);
}

function allTagsOf(opportunity: WholeOpportunity, obstacle: Obstacle | null, texts: readonly string[]): string[] {
  const isAccepting = obstacle === null && unendedStatuses.includes(opportunity.status);
  const [title = ""] = titleAndText(texts);
  const stems = new Set(wordsOf(title).map(stemOf));
  return [...(isAccepting ? [ACCEPTING_TAG] : []), ...tagsOf(opportunity), ...[...stems].map(titleTag)];
}

/** Writes the group of a record and of all records linked to it, directly or through others. Their rows do not change when it does. */
function moveToGroup(sqlite: Database, id: string): void {
  const canonical = sqlite.query<{ canonical_id: string | null }, [string]>("select canonical_id from records where id = ?");
  const naming = sqlite.query<{ id: string }, [string]>("select id from records where canonical_id = ?");
  // Writes nothing for the many records that are alone.
  const setGroup = sqlite.query<unknown, [string, string]>(
    "update records set duplicate_of = nullif(?1, id) where id = ?2 and duplicate_of is not nullif(?1, id)",
  );
  const moving = new Set([id]);
  for (const each of moving) {
    const group = groupOf(each, (id) => canonical.get(id)?.canonical_id);
    setGroup.run(group, each);
    for (const { id } of naming.all(each)) moving.add(id);
  }
}

/** Updates all records in the groups of some records at the same instant, because due dates of one record apply to the others, too. (E-64) */
function markGroups(sqlite: Database, records: readonly { id: string }[]): void {
  const ids = JSON.stringify(records.map(({ id }) => id));
  sqlite
    .query(
      `with changed as (select duplicate_of, id from records where id in (select value from json_each(?))),
        groups as (select duplicate_of as id from changed where duplicate_of is not null
          union select id from changed where exists (select 1 from records where duplicate_of = changed.id))
        update records set turns_at = 0 where duplicate_of in (select id from groups) or id in (select id from groups)`,
    )
    .run(ids);
}

function rowsOf(sqlite: Database, sql: string, ...values: string[]): number[] {
  return (sqlite.query<unknown, string[]>(sql).values(...values) as [number][]).map(([row]) => row);
}

function deleteRows(sqlite: Database, rows: readonly number[]): void {
  const statements = ["texts where rowid", "records where seq", "eligibilities where row"].map((rows) =>
    sqlite.query(`delete from ${rows} = ?`),
  );
  for (const statement of statements) for (const row of rows) statement.run(row);
  const [addDeleted, lastCommon] = [sqlite.query("insert into deleted_rows values (?)"), lastCommonRow(sqlite)];
  for (const row of rows) if (row <= lastCommon) addDeleted.run(row);
}

function configure(sqlite: Database, values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) sqlite.query("insert into texts (texts, rank) values (?, ?)").run(name, value);
}
