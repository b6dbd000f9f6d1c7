/** One import: judge the whole input, then store what differs, chunk by chunk (D-30 to D-36). */
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { atNextInstant, insertRecord, redactEvents, saveSourceDigest, updateRecord } from "../changes/commit.ts";
import type { IndexedFields, PreparedRecord } from "../changes/content.ts";
import { afterStatusTurn, type Decision, decideImport, decideLink, decideRemoval } from "../changes/decide.ts";
import { countLinks, listUnlinked, mayBeLinked } from "../changes/link.ts";
import { turnStatusesWhenDue } from "../changes/status-turns.ts";
import {
  findStored,
  getStored,
  listLive,
  needsHistoryRedaction,
  newestInstant,
  nextInstant,
  type StoredRecord,
} from "../changes/stored.ts";
import { countUpstreamHistory, storeUpstreamHistory } from "../changes/upstream-history.ts";
import { saveVersion } from "../changes/versions.ts";
import { formatInstant } from "../text/instant.ts";
import { advance, digestsOf, type ImportContext, type Options, type Outcome, withInputs } from "./context.ts";
import { type Judged, judgeAll, unstaged } from "./first-pass.ts";
import type { Format } from "./format.ts";
import { type Begun, beginImport, emptySummary, findUnfinished, finishImport, recordProgress, type Summary } from "./import-log.ts";
import { listNewLinks, type NewLink } from "./links.ts";
import type { Placed } from "./placing.ts";
import type { Staged, Staging } from "./staging.ts";

/**
 * Records in one transaction: some 0.6 s, for which other writers wait, and no more than that is lost when an import is killed.
 * In each, nearly every page of an index on ids or hashes is written once: smaller chunks write them more often.
 */
export const CHUNK = 4000;
/** Records between two looks at whether the import is to end. */
const REPORTED_TOGETHER = 500;
/** Between two transactions, so that whoever else wants to write (the clock of a server) gets in. */
const OTHERS_TURN_MS = 10;
/** A snapshot that would remove more of a source's live records than this is refused (D-34). */
const REMOVALS_MAX = 0.2;

/** Imports files as one unit. Throws, with nothing changed, when the input as a whole cannot be taken. */
export async function importFiles(context: ImportContext, format: Format, options: Options): Promise<Outcome> {
  return withInputs(context, format, options, async ({ inputs, staging, rejects }) => {
    const judged = await judgeAll(context, format, inputs, options, staging, rejects);
    const begun: Begun = {
      format: format.name,
      files: await digestsOf(inputs),
      sources: [...judged.sources].sort(),
      snapshot: options.snapshot,
      asOf: options.asOf,
      startedAt: context.now(),
    };
    await refuseEarlierInstant(context.db, begun);
    const missing = options.snapshot ? await findMissing(context.db, judged.sources, staging, options) : [];
    // What the files say themselves is restored as it is: an export has its links.
    const links = judged.newestRestored === undefined ? await listNewLinks(context.db, { format, staging, isFirst: judged.isFirst }) : [];
    const work = { begun, judged, staging, missing, links };
    return options.dryRun ? rehearse(context, work) : store(context, work);
  });
}

/** History is backfilled forwards: `--as-of` must be later than all there is (D-31), unless this very import is being run again. */
async function refuseEarlierInstant(db: CatalogDb, begun: Begun): Promise<void> {
  const newest = await newestInstant(db);
  if (begun.asOf !== undefined && begun.asOf > begun.startedAt) {
    throw new Error(`Cannot import as of ${formatInstant(begun.asOf)}: --as-of is for history, and that is still to come`);
  }
  if (begun.asOf === undefined || newest === undefined || begun.asOf > newest) return;
  if (((await findUnfinished(db, begun))?.last_instant ?? Number.NEGATIVE_INFINITY) >= newest) return;
  throw new Error(
    `Cannot import as of ${formatInstant(begun.asOf)}: the catalog holds changes up to ${formatInstant(newest)}, and --as-of must be later`,
  );
}

/** Row numbers of the live records that a snapshot lacks. Throws when they are too many to be believed. */
async function findMissing(db: CatalogDb, sources: ReadonlySet<string>, staging: Staging, { allowRemovals }: Options): Promise<number[]> {
  const missing: number[] = [];
  for (const source of sources) {
    const live = await listLive(db, source);
    const gone = live.filter(({ lineage }) => !staging.has(source, lineage));
    if (gone.length > live.length * REMOVALS_MAX && !allowRemovals) {
      throw new Error(
        `Cannot import this snapshot: it would remove ${gone.length} of the ${live.length} live ${source} records, more than 20 %; --allow-removals says that this is right`,
      );
    }
    missing.push(...gone.map(({ seq }) => seq));
  }
  return missing;
}

/** An import that has been judged. `missing` and `links` are about stored records, by row number. */
type Work = { begun: Begun; judged: Judged; staging: Staging; missing: readonly number[]; links: readonly NewLink[] };

/** The summary that the import would have: the same decisions at the same instant, stored nowhere. */
async function rehearse(context: ImportContext, { begun, judged, staging, missing, links }: Work): Promise<Summary> {
  return context.db.readTransaction(async (sql) => {
    const summary = summaryOf(judged, staging);
    const total = staging.counts().toWrite;
    let done = 0;
    const instant = await nextInstant(sql, begun.asOf ?? begun.startedAt);
    const arriving = new Map<string, IndexedFields>();
    for (const prepared of everyOne(staging)) {
      const before = await stored(sql, prepared);
      const replayed = before === undefined || begun.asOf === undefined ? before : afterStatusTurn(before, begun.asOf - 1);
      const decision = decideImport(replayed, prepared, instant, await needsHistoryRedaction(sql, replayed, prepared));
      count(summary, decision);
      summary.events += await countUpstreamHistory(sql, prepared, instant);
      if (mayBeLinked(decision.indexed)) arriving.set(decision.id, decision.indexed);
      if (++done % REPORTED_TOGETHER === 0) await advance(context, { step: "comparing", done, total, share: done / total });
    }
    for (const seq of missing) countRemoval(summary, decideRemoval(await getStored(sql, seq), instant));
    if (judged.newestRestored === undefined) countLinked(summary, links.length + (await countLinks(sql, judged.sources, arriving)));
    return summary;
  });
}

async function store(context: ImportContext, { begun, judged, staging, missing, links }: Work): Promise<Summary> {
  const { db, now } = context;
  if (begun.asOf !== undefined) await turnStatusesWhenDue(db, begun.asOf - 1);
  const importId = await beginImport(db, begun);
  const summary = summaryOf(judged, staging);
  const { toWrite } = staging.counts();
  const total = toWrite + missing.length;
  const wanted = () => Math.max(begun.asOf ?? now(), (judged.newestRestored ?? Number.NEGATIVE_INFINITY) + 1);
  const write = async (work: (sql: CatalogSql, instant: number) => Promise<void>) => {
    await atNextInstant(db, wanted(), async (sql, instant) => {
      await work(sql, instant);
      await recordProgress(sql, importId, summary, instant);
    });
    await Bun.sleep(OTHERS_TURN_MS);
  };
  const byParent = Map.groupBy(links, ({ parent_id }) => parent_id);
  const link = async (sql: CatalogSql, { seq, ...named }: NewLink, instant: number) => {
    const { events } = await changeOne(sql, seq, (before) => decideLink(before, named, instant), instant, importId);
    countLinked(summary, events.length);
  };

  // A restored catalog is one transaction (D-31): its instants are its own.
  const transactions = judged.newestRestored === undefined ? inChunks(staging) : [everyOne(staging)];
  let done = 0;
  for (const chunk of transactions) {
    const committed = done;
    await write(async (sql, instant) => {
      if (judged.newestRestored !== undefined && (await newestInstant(sql)) !== undefined)
        throw new Error("Cannot restore these records: the catalog was empty, and somebody has written to it meanwhile");
      for (const prepared of chunk) {
        const before = judged.isFirst ? undefined : await stored(sql, prepared); // None is staged twice, and no other import writes meanwhile.
        const decision = await storeOne(sql, before, prepared, staging, instant, importId);
        count(summary, decision);
        summary.events += await storeUpstreamHistory(sql, prepared, importId);
        for (const child of byParent.get(decision.id) ?? []) await link(sql, child, instant); // With its parent: running a killed import again finds only new ones.
        byParent.delete(decision.id);
        if (++done % REPORTED_TOGETHER === 0) await advance(context, { step: "writing", done, total, share: done / total }, committed);
      }
    });
  }
  for (const rows of slices(missing)) {
    await write(async (sql, instant) => {
      for (const seq of rows)
        countRemoval(summary, await changeOne(sql, seq, (before) => decideRemoval(before, instant), instant, importId));
    });
  }
  // After the records, so that no record changes twice at one instant.
  const waiting = judged.newestRestored === undefined ? await listUnlinked(db, judged.sources) : [];
  for (const rest of [[...byParent.values()].flat(), waiting]) {
    for (const slice of slices<NewLink>(rest)) {
      await write(async (sql, instant) => {
        for (const each of slice) await link(sql, each, instant);
      });
    }
  }
  for (const versions of staging.placements.unnoted()) {
    await db.transaction(async (sql) => {
      for (const version of versions) await noteVersionOf(sql, version);
    });
  }
  for (const chunk of staging.reread(CHUNK)) {
    await db.transaction(async (sql) => {
      for (const unchanged of chunk) await saveSourceDigest(sql, unchanged);
    });
    await Bun.sleep(OTHERS_TURN_MS);
  }
  await finishImport(db, importId, summary, now());
  return summary;
}

async function storeOne(
  sql: CatalogSql,
  before: StoredRecord | undefined,
  prepared: PreparedRecord,
  staging: Staging,
  instant: number,
  importId: number,
): Promise<Decision> {
  const decision = decideImport(before, prepared, instant, await needsHistoryRedaction(sql, before, prepared));
  const seq = before?.seq ?? (await insertRecord(sql, decision, prepared, instant, importId));
  if (before !== undefined) await updateRecord(sql, before, decision, prepared.earlier_ids, instant, importId);
  if (before !== undefined && prepared.redacted) await redactEvents(sql, seq);
  for (const version of staging.placements.unnotedOf(prepared.indexed.source.code, prepared.lineage))
    await saveVersion(sql, seq, version, prepared.indexed.source.opportunity_id);
  return decision;
}

/** Notes a version whose record has nothing else to be written. */
async function noteVersionOf(sql: CatalogSql, version: Placed): Promise<void> {
  const record = await findStored(sql, version.source, version.lineage);
  if (record !== undefined) await saveVersion(sql, record.seq, version, record.source_opportunity_id);
}

/** What becomes of a stored record that did not arrive itself. */
async function changeOne(
  sql: CatalogSql,
  seq: number,
  decideOn: (before: StoredRecord) => Decision,
  instant: number,
  importId: number,
): Promise<Decision> {
  const before = await getStored(sql, seq);
  const decision = decideOn(before);
  await updateRecord(sql, before, decision, [], instant, importId);
  return decision;
}

function stored(sql: CatalogSql, { indexed, lineage }: PreparedRecord) {
  return findStored(sql, indexed.source.code, lineage);
}

/** Each staged record is parsed only when its turn comes: a chunk at once would take a hundred megabytes. */
function* parsed(staged: Iterable<Staged>): Iterable<PreparedRecord> {
  for (const record of staged) yield unstaged(record);
}

function* slices<T>(items: readonly T[]): Iterable<readonly T[]> {
  for (let first = 0; first < items.length; first += CHUNK) yield items.slice(first, first + CHUNK);
}

function* inChunks(staging: Staging): Iterable<Iterable<PreparedRecord>> {
  for (const chunk of staging.chunks(CHUNK)) yield parsed(chunk);
}

function* everyOne(staging: Staging): Iterable<PreparedRecord> {
  for (const chunk of staging.chunks(CHUNK)) yield* parsed(chunk);
}

/** Before anything is written. Of the records of one opportunity in the input, one is staged and the others are merged into it. */
function summaryOf({ read, rejected }: Judged, staging: Staging): Summary {
  const { toWrite, unchanged } = staging.counts();
  return { ...emptySummary, read, unchanged, merged: read - rejected - toWrite - unchanged, rejected };
}

function count(summary: Summary, { outcome, events }: Decision): void {
  summary[outcome]++;
  summary.events += events.length;
}

function countRemoval(summary: Summary, { events }: Decision): void {
  summary.removed++;
  summary.events += events.length;
}

/** A link is one change of one record, and so one event. */
function countLinked(summary: Summary, links: number): void {
  summary.linked += links;
  summary.events += links;
}
