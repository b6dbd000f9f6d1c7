/**
 * Brings the search index up to date with the catalog. Records are read in the order in which they were last stored, with changes that are
 * not served (E-56), and each batch is written together with the new position, so a kill at any point loses nothing. (E-44)
 */

import type { Database } from "bun:sqlite";
import { count, desc, inArray, sql } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { listOf, parameter, pick, query, type RowsOf, select } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { opportunities } from "../../db/schema/sqlite/catalog.ts";
import { columns } from "../filter/columns.ts";
import { INSERT_TEXTS, textsOf } from "../filter/texts.ts";
import { dueDateOf, shownAt } from "../opportunities/clock.ts";
import { wholeOpportunity } from "../opportunities/opportunity.ts";
import type { Position } from "../opportunities/page.ts";
import { catalogIdentity } from "../opportunities/read-model.ts";
import { groupOf } from "../opportunities/related.ts";
import { type EpochMs, isFuture, parseStoredMs } from "../text/instant.ts";
import { numberOf } from "./number.ts";
import { createIndexTables, type SearchFile } from "./search-file.ts";

/** Records written in one transaction. */
const BATCH = 500;

const { stored_at, id } = pick(opportunities, "stored_at", "id");
const searched = pick(opportunities, "id", "stored_at", "document", "sidecar", "status_basis", "due_at");
const isAfter = (time: unknown, last: unknown) => sql`(${stored_at}, ${id}) > (${time}, ${last})`;
const recordsAfter = query({ time: stored_at, last: id, limit: parameter<number>() }, ({ time, last, limit }) =>
  select(searched).from(opportunities).where(isAfter(time, last)).orderBy(stored_at, id).limit(limit),
);
const recordsByIds = query({ ids: listOf(id) }, ({ ids }) => select(searched).from(opportunities).where(inArray(id, ids)));
const countAfter = query({ time: stored_at, last: id }, ({ time, last }) =>
  select({ records: count() }).from(opportunities).where(isAfter(time, last)),
);
const newest = query({}, () =>
  select(pick(opportunities, "stored_at", "id"))
    .from(opportunities)
    .orderBy(desc(stored_at), desc(id))
    .limit(1),
);
/** Equal sums almost certainly mean equal records. The remainder keeps the sum small. */
const REMAINDER = 65_521;
const checksum = query({}, () =>
  select({
    records: count(),
    sum: sql<number>`cast(coalesce(sum(${stored_at} % ${sql.raw(`${REMAINDER}`)}), 0) as bigint)`,
  }).from(opportunities),
);

type Row = RowsOf<typeof recordsAfter>;
type Checksum = RowsOf<typeof checksum>;
type State = { identity: string; stored_at: number; id: string; is_checked: number; judged_until: EpochMs };

/** `report` is called after each batch, with the records written and those that there were to write. The next batch waits for it. */
export type Report = (done: number, total: number) => unknown;

/**
 * Returns the number of records that were written. With `now`, the index has each record as it is at that instant (D-37), whether or not
 * the catalog has it so. (E-64)
 */
export async function catchUp(
  catalog: CatalogDb,
  { sqlite }: SearchFile,
  report: Report = () => undefined,
  now?: EpochMs,
): Promise<number> {
  const identity = await catalogIdentity(catalog);
  let done = 0;
  let total: number | undefined;
  for (;;) {
    const state = stateOf(sqlite);
    const step = await catalog.readTransaction((reading) => readStep(reading, state, identity, dueIds(sqlite, now), now));
    if (step === "current") return done;
    if (step === "rebuild") {
      whileAt(sqlite, state, () => createIndexTables(sqlite, identity));
      total = undefined;
    } else if ("turned" in step) {
      whileAt(sqlite, state, () => turnRecords(sqlite, step, now));
      await report(done, Math.max(done, total ?? 0));
    } else if ("checksum" in step) {
      whileAt(sqlite, state, () => finish(sqlite, identity, step.checksum));
    } else {
      total ??= done + ((await catalog.get(countAfter, { time: state.stored_at, last: state.id }))?.records ?? 0);
      whileAt(sqlite, state, () => writeBatch(sqlite, step.rows, now));
      done += step.rows.length;
      await report(done, Math.max(done, total));
    }
  }
}

/** What is to be done next: nothing, a rebuild, a batch of records, or the check at the end. */
async function readStep(
  catalog: CatalogSql,
  state: State,
  identity: string,
  due: readonly string[],
  now: EpochMs | undefined,
): Promise<"current" | "rebuild" | Turn | { rows: Row[] } | { checksum: Checksum }> {
  if (state.identity !== identity || isOlder(await catalog.get(newest), state)) return "rebuild";
  if (now !== undefined && isFuture(state.judged_until, now)) return "rebuild"; // The clock was ahead.
  if (due.length > 0) return { due, turned: await catalog.all(recordsByIds, { ids: due }) };
  const rows = await catalog.all(recordsAfter, { time: state.stored_at, last: state.id, limit: BATCH });
  if (rows.length > 0) return { rows };
  if (state.is_checked === 1) return "current";
  return { checksum: (await catalog.get(checksum)) ?? { records: 0, sum: 0 } };
}

/** Whether a backup was restored: the catalog ends before the position. */
function isOlder(newest: (Pick<Position, "id"> & { stored_at: number }) | undefined, state: State): boolean {
  if (state.id === "") return false;
  if (newest === undefined || newest.stored_at < state.stored_at) return true;
  return newest.stored_at === state.stored_at && newest.id < state.id;
}

function stateOf(sqlite: Database): State {
  const state = sqlite.query<State, []>("select identity, stored_at, id, is_checked, judged_until from progress").get();
  if (state === null) throw new Failure("Cannot search: search.db is not whole; delete it, and the next search builds it again");
  return state;
}

/** Writes in one transaction, unless another process was faster: then its state is read and followed. */
function whileAt(sqlite: Database, state: State, write: () => void): void {
  sqlite
    .transaction(() => {
      if (Bun.deepEquals(stateOf(sqlite), state)) write();
    })
    .immediate();
}

/**
 * Compares the index with the catalog after a catch-up. They differ if a backup was restored and records were imported into it before this
 * index noticed. The index is then built again.
 */
function finish(sqlite: Database, identity: string, expected: Checksum): void {
  const found = sqlite
    .query<Checksum, []>(`select count(*) as records, coalesce(sum(stored_at % ${REMAINDER}), 0) as sum from records`)
    .get();
  if (found?.records === expected.records && found.sum === expected.sum) sqlite.run("update progress set is_checked = 1");
  else createIndexTables(sqlite, identity);
}

/** The first records that are another at `now` than the index has them. */
function dueIds(sqlite: Database, now: EpochMs | undefined): string[] {
  if (now === undefined) return [];
  const rows = sqlite.query<{ id: string }, [number, number]>("select id from records where turns_at <= ? order by turns_at limit ?");
  return rows.all(now, BATCH).map(({ id }) => id);
}

/** Records that are due, and as the catalog has them. A catalog that was restored may lack one, which is then due no more. */
type Turn = { due: readonly string[]; turned: readonly Row[] };

/** Writes what the clock has changed, without the texts. */
function turnRecords(sqlite: Database, { due, turned }: Turn, now: EpochMs | undefined): void {
  const settle = sqlite.query("update records set turns_at = null where id = ?");
  for (const id of due) settle.run(id);
  const update = sqlite.query("update records set status = ?, due_at = ?, turns_at = ? where id = ?");
  for (const row of turned) {
    const { opportunity, due_at, turns_at } = timed(row, now);
    update.run(opportunity.status, due_at, turns_at, row.id);
  }
  noteJudged(sqlite, now);
}

function noteJudged(sqlite: Database, now: EpochMs | undefined): void {
  if (now !== undefined) sqlite.query("update progress set judged_until = max(judged_until, ?)").run(now);
}

/** A record at an instant, what it is called due at then, and when that or its status changes. */
function timed(row: Row, now = Number.NEGATIVE_INFINITY) {
  const shown = shownAt(row, now);
  const opportunity = wholeOpportunity(shown);
  const { dates } = opportunity;
  const turns = [shown.due_at, instantOf(dates.response_at)].filter((at) => at !== null).filter((at) => at > now);
  return { opportunity, due_at: instantOf(dueDateOf(dates, now)), turns_at: turns.length === 0 ? null : Math.min(...turns) };
}

function instantOf(date: string | null): EpochMs | null {
  return date === null ? null : (parseStoredMs(date) ?? null);
}

function writeBatch(sqlite: Database, rows: readonly Row[], now: EpochMs | undefined): void {
  for (const row of rows) writeRecord(sqlite, row, now);
  const last = rows.at(-1);
  if (last !== undefined) sqlite.query("update progress set stored_at = ?, id = ?, is_checked = 0").run(last.stored_at, last.id);
  noteJudged(sqlite, now);
}

const columnNames = ["stored_at", "due_at", "turns_at", "number", "canonical_id", ...Object.keys(columns)];
const INSERT = `insert into records (id, ${columnNames.join(", ")}) values (?, ${columnNames.map(() => "?").join(", ")})
  on conflict (id) do update set ${columnNames.map((name) => `${name} = excluded.${name}`).join(", ")} returning seq`;

function writeRecord(sqlite: Database, stored: Row, now: EpochMs | undefined): void {
  const { opportunity, due_at, turns_at } = timed(stored, now);
  const { id } = opportunity;
  const before = groupIn(sqlite, id);
  const cells = Object.values(columns).map((cell) => cell(opportunity));
  const row = sqlite
    .query<{ seq: number }, (string | number | null)[]>(INSERT)
    .get(
      id,
      stored.stored_at,
      due_at,
      turns_at,
      numberOf(opportunity)?.toUpperCase() ?? "",
      opportunity.relationships.canonical_id,
      ...cells,
    );
  const seq = row?.seq ?? 0;
  if (groupOf(id, canonicalIdsIn(sqlite)) !== before) moveToGroup(sqlite, id);
  sqlite.query("delete from texts where rowid = ?").run(seq);
  sqlite.query(INSERT_TEXTS).run(seq, ...textsOf(opportunity));
}

/** The group that the records of the index follow from, if they name this record. */
function groupIn(sqlite: Database, id: string): string {
  return sqlite.query<{ twin_of: string | null }, [string]>("select twin_of from records where id = ?").get(id)?.twin_of ?? id;
}

function canonicalIdsIn(sqlite: Database): (id: string) => string | null | undefined {
  const canonical = sqlite.query<{ canonical_id: string | null }, [string]>("select canonical_id from records where id = ?");
  return (id) => canonical.get(id)?.canonical_id;
}

/** Writes the group of a record, and of all that name it, directly or through others: their rows do not change when it moves. */
function moveToGroup(sqlite: Database, id: string): void {
  const naming = sqlite.query<{ id: string }, [string]>("select id from records where canonical_id = ?");
  const setGroup = sqlite.query<unknown, [string, string]>("update records set twin_of = nullif(?, id) where id = ?");
  const moving = new Set([id]);
  for (const each of moving) {
    setGroup.run(groupOf(each, canonicalIdsIn(sqlite)), each);
    for (const { id } of naming.all(each)) moving.add(id);
  }
}
