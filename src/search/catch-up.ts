/**
 * Brings the search index up to date with the catalog. Records are read in the order in which they were last stored, with changes that are
 * not served (E-56), and each batch is written together with the new position, so a kill at any point loses nothing. (E-44)
 */
import type { Database } from "bun:sqlite";
import { and, count, desc, eq, inArray, sql } from "drizzle-orm";
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { listOf, parameter, pick, query, type RowsOf, select } from "../../db/query.ts";
import { Failure } from "../../db/reason.ts";
import { opportunities, sightings } from "../../db/schema/sqlite/catalog.ts";
import { instantCell } from "../filter/columns.ts";
import { shownAt } from "../opportunities/clock.ts";
import { dueOf } from "../opportunities/due.ts";
import { isSightingOf, SEEN_FOR_MS, seenColumns } from "../opportunities/last-seen.ts";
import { obstacleOf } from "../opportunities/obstacle.ts";
import { type WholeOpportunity, wholeOpportunity } from "../opportunities/opportunity.ts";
import type { Position } from "../opportunities/page.ts";
import { catalogIdentity } from "../opportunities/read-model.ts";
import { readDuplicates } from "../opportunities/related.ts";
import { type EpochMs, isFuture, parseInstantMs } from "../text/instant.ts";
import { lastRow } from "./common-rows.ts";
import { createIndexTables, type SearchFile } from "./search-file.ts";
import { countAgain, finishBuild, writeRecords } from "./write.ts";

/** Records written in one transaction: few while the index is in use, so that requests are not delayed; many while it is built. */
const [BATCH, BUILD_BATCH] = [500, 20_000];
/** Bytes of documents after which a batch ends. */
const BATCH_BYTES = 64 << 20;

const { stored_at, id } = pick(opportunities, "stored_at", "id");
const searched = { ...pick(opportunities, "id", "stored_at", "document", "sidecar", "status_basis", "turns_at"), ...seenColumns };
const isAfter = (time: unknown, last: unknown) => sql`(${stored_at}, ${id}) > (${time}, ${last})`;
const recordsAfter = query({ time: stored_at, last: id, limit: parameter<number>() }, ({ time, last, limit }) =>
  select(searched).from(opportunities).leftJoin(sightings, isSightingOf).where(isAfter(time, last)).orderBy(stored_at, id).limit(limit),
);
const recordsByIds = query({ ids: listOf(id) }, ({ ids }) =>
  select(searched).from(opportunities).leftJoin(sightings, isSightingOf).where(inArray(id, ids)),
);
const countAfter = query({ time: stored_at, last: id }, ({ time, last }) =>
  select({ records: count() }).from(opportunities).where(isAfter(time, last)),
);
const recordAt = query({ time: stored_at, last: id }, ({ time, last }) =>
  select({ id })
    .from(opportunities)
    .where(and(eq(stored_at, time), eq(id, last))),
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

type StoredRow = RowsOf<typeof recordsAfter>;
type Checksum = RowsOf<typeof checksum>;
type State = {
  identity: string;
  stored_at: number;
  id: string;
  is_built: number;
  is_checked: number;
  is_same: number;
  judged_until: EpochMs;
  counted_until: number;
};

/** `report` is called after each batch, with the number of records written and the total to write. The next batch waits for it. */
export type Report = (done: number, total: number) => unknown;

/**
 * Returns the number of records that were written. With `now`, the index has each record as it is at that instant (D-37), even if the catalog
 * was not updated yet. (E-64)
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
      whileAt(sqlite, state, () => finish(sqlite, identity, step.checksum, state));
    } else {
      total ??= done + ((await catalog.get(countAfter, { time: state.stored_at, last: state.id }))?.records ?? 0);
      whileAt(sqlite, state, () => writeBatch(sqlite, step, state, now));
      done += step.rows.length;
      await report(done, Math.max(done, total));
    }
  }
}

/** The next step: nothing, a rebuild, a batch of records, or the check at the end. */
async function readStep(
  catalog: CatalogSql,
  state: State,
  identity: string,
  due: readonly string[],
  now: EpochMs | undefined,
): Promise<"current" | "rebuild" | Turn | Batch | { checksum: Checksum | undefined }> {
  if (state.identity !== identity || isOlder(await catalog.get(newest), state)) return "rebuild";
  if (now !== undefined && isFuture(state.judged_until, now)) return "rebuild"; // The clock was ahead.
  if (due.length > 0) return await readTurn(catalog, due, now);
  const rows = await readBatch(catalog, state);
  if (rows.length > 0) return { rows, isSame: (await catalog.get(recordAt, { time: state.stored_at, last: state.id })) !== undefined };
  if (state.is_checked === 1) return "current";
  return { checksum: state.is_same === 1 ? undefined : ((await catalog.get(checksum)) ?? { records: 0, sum: 0 }) };
}

/**
 * Records to write. `isSame`: the catalog and the index have the same version of the index's last record. Because commits are ordered, all
 * records are then the same.
 */
type Batch = { rows: readonly StoredRow[]; isSame: boolean };

/** The next records; many of them during a build. */
async function readBatch(catalog: CatalogSql, { stored_at: time, id: last, is_built }: State): Promise<StoredRow[]> {
  const rows: StoredRow[] = [];
  for (let [from, bytes] = [{ time, last }, 0]; ; ) {
    const read = await catalog.all(recordsAfter, { ...from, limit: BATCH });
    for (const row of read) bytes += row.document.length;
    rows.push(...read);
    const end = read.at(-1);
    if (is_built === 1 || end === undefined || read.length < BATCH || rows.length >= BUILD_BATCH || bytes >= BATCH_BYTES) return rows;
    from = { time: end.stored_at, last: end.id };
  }
}

/** Whether a backup was restored: the catalog then ends before the position. */
function isOlder(newest: (Pick<Position, "id"> & { stored_at: number }) | undefined, state: State): boolean {
  if (state.id === "") return false;
  if (newest === undefined || newest.stored_at < state.stored_at) return true;
  return newest.stored_at === state.stored_at && newest.id < state.id;
}

function stateOf(sqlite: Database): State {
  const state = sqlite
    .query<State, []>("select identity, stored_at, id, is_built, is_checked, is_same, judged_until, counted_until from progress")
    .get();
  if (state === null) throw new Failure("Cannot search: search.db is not whole; delete it, and the next search builds it again");
  return state;
}

/** Writes in one transaction. If another process was faster, reads its state and continues from there. */
function whileAt(sqlite: Database, state: State, write: () => void): void {
  sqlite
    .transaction(() => {
      if (Bun.deepEquals(stateOf(sqlite), state)) write();
    })
    .immediate();
}

/**
 * Finishes a build, and compares the index with the catalog after a catch-up, unless `expected` is undefined. They differ if a backup was
 * restored and records were imported into it before this index noticed. The index is then built again. It is also built again once a fifth of
 * its rows are outdated. Words are counted again once the index has twice the rows that it had at the last count.
 */
function finish(sqlite: Database, identity: string, expected: Checksum | undefined, { is_built, counted_until }: State): void {
  if (is_built === 0) {
    finishBuild(sqlite);
    sqlite.run("update progress set is_built = 1");
  }
  const found = sqlite.query<Checksum, []>(`select count(*) as records, coalesce(sum(stored_at % ${REMAINDER}), 0) as sum from records`);
  const isSame = expected === undefined || Bun.deepEquals(found.get(), expected);
  const { records } = sqlite.query<{ records: number }, []>("select count(*) as records from records").get() ?? { records: 0 };
  const last = lastRow(sqlite);
  const isWorn = is_built === 1 && last > ROWS_WORN_MIN && records < last * LIVING_SHARE_MIN;
  if (!isSame || isWorn) createIndexTables(sqlite, identity);
  else {
    if (is_built === 1 && last > 2 * counted_until) countAgain(sqlite);
    sqlite.run("update progress set is_checked = 1, is_same = 1");
  }
}

/** A larger index is built again if less than this share of its rows is still in use. */
const [ROWS_WORN_MIN, LIVING_SHARE_MIN] = [100_000, 0.8];

/** The first records whose state at `now` differs from the index. */
function dueIds(sqlite: Database, now: EpochMs | undefined): string[] {
  if (now === undefined) return [];
  const rows = sqlite.query<{ id: string }, [number, number]>("select id from records where turns_at <= ? order by turns_at limit ?");
  return rows.all(now, BATCH).map(({ id }) => id);
}

/** Records that are due, as the catalog has them. A restored catalog may lack one, which is then no longer due. */
type Turn = { due: readonly string[]; turned: readonly StoredRow[]; duplicates: ReadonlyMap<string, readonly WholeOpportunity[]> };

async function readTurn(catalog: CatalogSql, due: readonly string[], now = Number.NEGATIVE_INFINITY): Promise<Turn> {
  return { due, turned: await catalog.all(recordsByIds, { ids: due }), duplicates: await readDuplicates(catalog, due, now) };
}

/** Writes the columns that changed because time passed, but not the texts. */
function turnRecords(sqlite: Database, { due, turned, duplicates }: Turn, now: EpochMs | undefined): void {
  const settle = sqlite.query("update records set turns_at = null where id = ?");
  for (const id of due) settle.run(id);
  const update = sqlite.query("update records set status = ?, due_at = ?, obstacle = ?, turns_at = ? where id = ?");
  for (const row of turned) {
    const { opportunity, due_at, obstacle, turns_at } = timed(row, now, duplicates.get(row.id));
    update.run(opportunity.status, due_at, obstacle, turns_at, row.id);
  }
  noteJudged(sqlite, now);
}

function noteJudged(sqlite: Database, now: EpochMs | undefined): void {
  if (now !== undefined) sqlite.query("update progress set judged_until = max(judged_until, ?)").run(now);
}

/** A record at an instant, with its next due date, the reason why it cannot be applied for, and when any of these changes. */
function timed(row: StoredRow, now = Number.NEGATIVE_INFINITY, duplicates: readonly WholeOpportunity[] = []) {
  const shown = shownAt(row, now);
  const opportunity = wholeOpportunity(shown);
  const { at, dates } = dueOf(opportunity, now, duplicates);
  const unseen_at = shown.seen_at === null ? null : shown.seen_at + SEEN_FOR_MS + 1;
  const turns = [shown.turns_at, unseen_at, ...dates.map(({ at }) => parseInstantMs(at))]
    .filter((at) => at != null)
    .filter((at) => at > now);
  const obstacle = obstacleOf(opportunity, now, duplicates);
  return { opportunity, due_at: instantCell(at), obstacle, turns_at: turns.length === 0 ? null : Math.min(...turns) };
}

function writeBatch(sqlite: Database, { rows, isSame }: Batch, { is_built, is_same }: State, now: EpochMs | undefined): void {
  const written = rows.map((row) => ({ ...timed(row, now), stored_at: row.stored_at }));
  writeRecords(sqlite, written, is_built === 0);
  noteJudged(sqlite, now);
  const last = rows.at(-1);
  if (last === undefined) return;
  const moveTo = sqlite.query("update progress set stored_at = ?, id = ?, is_checked = 0, is_same = ?");
  moveTo.run(last.stored_at, last.id, isSame ? is_same : 0);
}
