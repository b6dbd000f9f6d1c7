/** One import: a first pass over the whole input, then the changes are stored, chunk by chunk (D-30 to D-36). */
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { Failure } from "../../db/reason.ts";
import { describeNewest } from "../changes/backfill.ts";
import {
  atInstantAfter,
  atNextInstant,
  insertEvent,
  insertRecord,
  LaterChange,
  redactEvents,
  saveSourceDigest,
  touchRecords,
  updateRecord,
  type Writing,
} from "../changes/commit.ts";
import { type PreparedRecord, type Relationships, readContent } from "../changes/content.ts";
import { afterStatusTurn, type Decision, decideImport, decideRelationships, decideRemoval } from "../changes/decide.ts";
import { judgingInstant, warningOfChangesAhead } from "../changes/judging.ts";
import { findLinks, forgetMovedKeys, listMovedKeys, listSeekers, storedHolders } from "../changes/link.ts";
import { turnStatuses, turnStatusesWhenDue } from "../changes/status-turns.ts";
import {
  findStored,
  getStored,
  listLive,
  needsHistoryRedaction,
  newestInstant,
  nextInstant,
  type StoredRecord,
} from "../changes/stored.ts";
import { listUpstreamHistory } from "../changes/upstream-history.ts";
import { saveVersion } from "../changes/versions.ts";
import type { OpportunityEvent } from "../events/event.ts";
import { acrossLayouts, forgetSeen, isLongUnseen, listSightings, noteSeen, noteSeenIn, type Sighting } from "../opportunities/last-seen.ts";
import { unendedStatuses } from "../opportunities/status.ts";
import { noteChange } from "../sources/news.ts";
import { withCommas } from "../text/in-words.ts";
import { type EpochMs, formatInstant } from "../text/instant.ts";
import { advance, digestsOf, failedAfter, type ImportContext, type ImportOptions, type ImportOutcome, withInputs } from "./context.ts";
import { type FirstPass, runFirstPass } from "./first-pass.ts";
import type { Format } from "./format.ts";
import {
  type Begun,
  beginImport,
  countsBefore,
  emptySummary,
  findUnfinished,
  finishImport,
  inTotal,
  recordProgress,
  type Summary,
} from "./import-log.ts";
import type { Staging, UpstreamId } from "./staging.ts";
import { listNewParents, type NewParent } from "./versions/parents.ts";
import type { PlacedVersion } from "./versions/placing.ts";

/** Records in one transaction of some 0.6 s, for which other writers wait. Fewer would write the pages of four indexes more often. */
export const CHUNK = 4000;
/** Records between two progress reports, at which an import can be stopped. */
const REPORT_EVERY = 500;
/** Pause between transactions, in which other writers, such as a server's status turns, get the lock. */
const PAUSE_MS = 10;
/** A snapshot that would remove more of a source's live records is refused (D-34). */
const REMOVALS_MAX = 0.2;

/** Imports files as one unit. Throws if the input as a whole is refused; nothing is changed then. */
export async function importFiles(context: ImportContext, format: Format, options: ImportOptions): Promise<ImportOutcome> {
  const { db } = context;
  const warning = await warningOfChangesAhead(db, context.now());
  if (warning !== undefined) context.notify(warning);
  return withInputs(context, format, options, async ({ inputs, staging, rejects }) => {
    const firstPass = await runFirstPass(context, format, inputs, options, staging, rejects);
    const begun: Begun = {
      format: format.name,
      files: await digestsOf(inputs),
      sources: [...firstPass.sources].sort(),
      snapshot: options.snapshot === true,
      asOf: options.asOf,
      startedAt: context.now(),
    };
    await refuseEarlierInstant(db, begun);
    const missing = options.snapshot ? await findMissing(db, firstPass, staging, options) : [];
    if (options.dryRun) return countOnly(context, { begun, firstPass, staging, missing });
    const parents = await listNewParents(db, staging, { format, ...firstPass });
    return store(context, { begun, firstPass, staging, missing, parents });
  });
}

/** `--as-of` must be later than every stored change (D-31), unless this import is resumed. Returns the newest instant. */
async function refuseEarlierInstant(sql: CatalogSql, begun: Begun): Promise<EpochMs | undefined> {
  const newest = await newestInstant(sql);
  if (begun.asOf !== undefined && begun.asOf > begun.startedAt) {
    throw new Failure(`Cannot import as of ${formatInstant(begun.asOf)}: --as-of is for history, and that is still to come`);
  }
  if (begun.asOf === undefined || newest === undefined || begun.asOf > newest) return newest;
  const unfinished = await findUnfinished(sql, begun);
  if (unfinished?.last_instant != null && unfinished.last_instant >= newest) return newest;
  const notFollowing = `--as-of must be later. ${HISTORY_ALONE}`;
  throw new Failure(`Cannot import as of ${formatInstant(begun.asOf)}: ${await describeNewest(sql, newest)}, and ${notFollowing}`);
}

const HISTORY_ALONE = "Build a history while no server runs on the catalog, or in a data directory of its own (fundfeed help import)";

/** Row numbers of the live records that a snapshot lacks. Throws if implausibly many are missing. */
async function findMissing(db: CatalogDb, { sources, neverHas }: FirstPass, staging: Staging, { allowRemovals }: ImportOptions) {
  const missing: number[] = [];
  for (const source of sources) {
    const live = await listLive(db, source);
    const gone = live.filter((record) => !staging.has(source, record.lineage) && !neverHas(record));
    if (gone.length > live.length * REMOVALS_MAX && !allowRemovals) {
      throw new Failure(
        `Cannot import this snapshot: it would remove ${gone.length} of the ${live.length} live ${source} records, more than 20 %; --allow-removals says that this is right`,
      );
    }
    for (const { seq } of gone) missing.push(seq); // Not spread, because a call has a maximum number of arguments.
  }
  return missing;
}

/** The work that the first pass planned. `missing` and `parents` name stored records by row number. */
type Plan = {
  begun: Begun;
  firstPass: FirstPass;
  staging: Staging;
  missing: readonly number[];
  parents: readonly NewParent[];
};

type Run = Plan & {
  context: ImportContext;
  importId: number;
  /** The newest instant that this import knows of. Only a backfill needs it. */
  newest: EpochMs | undefined;
  before: Summary;
  summary: Summary;
  total: number;
  done: number;
  committed: number;
  transactions: number;
  chunk: number;
  /** Row numbers of stored records that only an import can end, by source. */
  seen: Map<string, number[]>;
  changing: Set<string>;
};

/** A dry run makes and counts the decisions, and stores nothing. Links, which need all records in memory, are not counted. */
async function countOnly(context: ImportContext, { begun, firstPass, staging, missing }: Omit<Plan, "parents">): Promise<Summary> {
  return context.db.readTransaction(async (sql) => {
    const summary = firstSummary(firstPass, staging);
    const total = staging.counts().toWrite + missing.length;
    let done = 0;
    const count = async () => {
      if (++done % REPORT_EVERY === 0) await advance(context, { step: "comparing", done, total, share: done / total });
    };
    const clock = begun.asOf ?? begun.startedAt;
    const instant = await nextInstant(sql, clock);
    const instants = { instant, now: judgingInstant(instant, clock) };
    for (const record of allRecords(staging)) {
      const before = await findBefore(sql, record);
      const turned = before === undefined ? before : afterStatusTurn(before, begun.asOf === undefined ? instants.now : begun.asOf - 1);
      const found = mayBeLinked(firstPass, record) ? await findLinks(storedHolders(sql), record.indexed) : {};
      await decideAndCount(sql, summary, turned, record, instants, found);
      await count();
    }
    for (const seq of missing) {
      countRemoval(summary, decideRemoval(await getStored(sql, seq), instant));
      await count();
    }
    return summary;
  });
}

async function store(context: ImportContext, plan: Plan): Promise<Summary> {
  const { begun, firstPass, staging, missing, parents } = plan;
  const { db, now } = context;
  const before = await countsBefore(db, begun);
  const summary = firstSummary(firstPass, staging);
  const total = staging.counts().toWrite + missing.length + parents.length;
  // From then on no status turn comes between the changes of a backfill.
  const { importId, newest } = await db.transaction(async (sql) => {
    const newest = await refuseEarlierInstant(sql, begun);
    return { importId: await beginImport(sql, begun), newest };
  });
  const stored = { total, done: 0, committed: 0, transactions: 0, seen: new Map<string, number[]>(), changing: new Set<string>() };
  const run: Run = { ...plan, ...stored, context, importId, newest, before, summary, chunk: context.chunk ?? CHUNK };
  try {
    await turnDue(run);
    await storeAll(run);
    await finishImport(db, importId, inTotal(before, summary), now());
    return summary;
  } catch (error) {
    throw error instanceof LaterChange ? overtaken(run, error) : failedAfter(error, run.committed, run.total);
  }
}

/** Updates statuses first, so that the import's own events only concern the contents of the files. */
async function turnDue(run: Run): Promise<void> {
  const { context, begun, firstPass } = run;
  const between = () => advance(context, { step: "reading", done: firstPass.read, share: 1 });
  if (begun.asOf === undefined) await turnStatuses(context.db, begun.startedAt, undefined, between);
  else run.newest = await turnStatusesWhenDue(context.db, begun.asOf - 1, run.newest, between);
}

function overtaken({ begun, committed, total }: Run, { message }: LaterChange): Failure {
  const [done, all] = [committed, total].map(withCommas);
  return new Failure(
    `Cannot finish the import as of ${formatInstant(begun.asOf ?? 0)}: ${message} meanwhile, and what follows would be dated after that; ${done} of ${all} records are stored. ${HISTORY_ALONE}`,
  );
}

async function storeAll(run: Run): Promise<void> {
  const remainingParents = await storeRecords(run);
  await commitEach(run, run.missing, storeRemoval);
  // After the records, so that no record changes twice at one instant.
  await commitEach(run, remainingParents, storeParent);
  await saveOtherVersions(run);
  await noteAllSeen(run);
  if (run.firstPass.kind !== "restore") await linkAgain(run); // Restored records have their links.
  await saveSourceDigests(run);
}

/** Runs `work` in one transaction at one instant, and logs how far the import is. */
async function commit(run: Run, work: (writing: Writing) => Promise<void>): Promise<void> {
  const { context, begun, firstPass, importId, before, summary } = run;
  await report(run);
  if (run.transactions++ > 0) await Bun.sleep(PAUSE_MS);
  const wanted = Math.max(begun.asOf ?? context.now(), (firstPass.restoredUpTo ?? Number.NEGATIVE_INFINITY) + 1);
  const write = async (writing: Writing) => {
    await work(writing);
    for (const source of run.changing) await noteChange(writing.sql, source, writing.now, begun.asOf !== undefined);
    run.changing.clear();
    await recordProgress(writing.sql, importId, inTotal(before, summary), writing.instant);
  };
  if (begun.asOf === undefined) await atNextInstant(context.db, wanted, write);
  else run.newest = await atInstantAfter(context.db, run.newest, wanted, write);
  run.committed = run.done;
}

async function report({ context, total, done }: Run): Promise<void> {
  await advance(context, { step: "writing", done, total, share: total === 0 ? 1 : done / total });
}

async function count(run: Run): Promise<void> {
  if (++run.done % REPORT_EVERY === 0) await report(run);
}

/** Stores the staged records, and the links to them as parents. Returns the links to other parents. */
async function storeRecords(run: Run): Promise<NewParent[]> {
  const { firstPass, staging, parents } = run;
  const isRestore = firstPass.kind === "restore";
  const byParent = Map.groupBy(parents, ({ parent_id }) => parent_id);
  // A restored catalog is one transaction (D-31), because its records keep their own instants.
  for (const chunk of isRestore ? [allRecords(staging)] : staging.chunks(run.chunk)) {
    await commit(run, async (writing) => {
      if (isRestore && (await newestInstant(writing.sql)) !== undefined)
        throw new Failure(
          "Cannot restore these records: the catalog was empty when the import began, and is not any more; run the import again to add them",
        );
      for (const record of chunk) {
        const id = await storeRecord(run, writing, record);
        // In the transaction of the parent: a killed import that is run again looks only for links to new parents.
        for (const link of byParent.get(id) ?? []) await storeParent(run, writing, link);
        byParent.delete(id);
        await count(run);
      }
    });
  }
  return [...byParent.values()].flat();
}

async function storeRecord(run: Run, writing: Writing, record: PreparedRecord): Promise<string> {
  const { sql } = writing;
  const { firstPass, importId, staging, summary } = run;
  const { source } = record.indexed;
  // A catalog that was empty has no record to find: no record is staged twice, and no other import writes.
  const before = firstPass.kind === "later" ? await findBefore(sql, record) : undefined;
  const found = mayBeLinked(firstPass, record) ? await findLinks(storedHolders(sql), record.indexed) : {};
  const { decision, history } = await decideAndCount(sql, summary, before, record, writing, found);
  const earlier_ids = staging.upstreamIdsOf(source.code, record.lineage);
  const seq = before?.seq ?? (await insertRecord(writing, decision, { ...record, earlier_ids }, importId));
  if (before !== undefined) await updateRecord(writing, before, decision, earlier_ids, importId);
  if (before !== undefined && record.redacted) await redactEvents(sql, seq);
  if (isNews(decision)) run.changing.add(source.code);
  const restoredSeen = record.restored?.last_seen;
  if (restoredSeen !== undefined) await noteSeen(sql, source.code, seq, restoredSeen);
  else if (isWithoutEnd(decision)) run.seen.getOrInsert(source.code, []).push(seq);
  else if (before !== undefined) await forgetSeen(sql, [seq]);
  for (const version of firstPass.placements.unsavedOf(source.code, record.lineage))
    await saveVersion(sql, seq, version, { shown_id: source.opportunity_id, hash: record.rendered.hash }, writing.instant);
  for (const event of history) await insertEvent(sql, seq, event, importId, { ...event, imported_at: writing.instant });
  return decision.id;
}

/** A restored record has its links, and a source is never linked to itself. */
function mayBeLinked({ kind, sources }: FirstPass, { restored }: PreparedRecord): boolean {
  return restored === undefined && !(kind !== "later" && sources.size === 1);
}

/** Whether the source changed something: a status or next due date may change because a date has passed. */
function isNews({ outcome, events, foreseen }: Decision): boolean {
  const isOfClock = (field: string) => field === "status" || field === "status_display" || foreseen.has(field);
  return outcome === "added" || events.some(({ changed_fields }) => changed_fields.some((field) => !isOfClock(field)));
}

async function commitEach<T>(run: Run, items: readonly T[], change: (run: Run, writing: Writing, item: T) => Promise<void>): Promise<void> {
  for (let first = 0; first < items.length; first += run.chunk) {
    await commit(run, async (writing) => {
      for (const item of items.slice(first, first + run.chunk)) await change(run, writing, item);
    });
  }
}

async function storeRemoval(run: Run, writing: Writing, seq: number): Promise<void> {
  const decision = await changeStored(run, writing, seq, (before) => decideRemoval(before, writing.instant));
  countRemoval(run.summary, decision);
  run.changing.add(decision.indexed.source.code);
  await forgetSeen(writing.sql, [seq]);
}

async function storeParent(run: Run, writing: Writing, { seq, parent_id }: NewParent): Promise<void> {
  const { events } = await changeStored(run, writing, seq, (before) => decideRelationships(before, { parent_id }, writing.instant));
  countLinked(run.summary, events.length);
}

/**
 * Notes which records that only an import can end are in the input. A record is missing only if a file of this layout had it, and if the
 * input has at least half of them. (E-205)
 */
async function noteAllSeen(run: Run): Promise<void> {
  const { context, begun, firstPass, staging, seen } = run;
  const { layout } = firstPass;
  const at = begun.asOf ?? begun.startedAt;
  for (const source of firstPass.sources) {
    const noted = await listSightings(context.db, source);
    const known = new Set(noted.map(({ seq }) => seq));
    const added = (seen.get(source) ?? []).filter((seq) => !known.has(seq));
    // An export states itself when each record was last seen.
    const changes =
      firstPass.kind === "restore" ? [] : changesOfSightings(noted, ({ lineage }) => staging.has(source, lineage), layout, at);
    if (added.length + changes.length === 0) continue;
    const turned = changes.filter(({ isTurned }) => isTurned).map(({ seq }) => seq);
    const note = async (sql: CatalogSql) => {
      const seenNow = { at, missed_at: null };
      for (const { seq, inLayout, after } of [...added.map((seq) => ({ seq, inLayout: seenNow, after: seenNow })), ...changes]) {
        if (inLayout !== undefined) await noteSeenIn(sql, layout, seq, inLayout);
        await noteSeen(sql, source, seq, after);
      }
    };
    if (turned.length === 0) await context.db.transaction(note);
    else
      await commit(run, async ({ sql, instant }) => {
        await note(sql);
        await touchRecords(sql, turned, instant);
      });
  }
}

/** What an input shows of records: in its layout, and with what other layouts showed. */
function changesOfSightings(noted: readonly Sighting[], isPresent: (sighting: Sighting) => boolean, layout: string, at: EpochMs) {
  // Noted by an older version of the program, or restored: a file of any layout may show it, or miss it.
  const ofLayout = (sighting: Sighting) => (sighting.layouts.size === 0 ? sighting : sighting.layouts.get(layout));
  const present = new Set(noted.filter(isPresent));
  const current = noted.filter((sighting) => {
    const known = ofLayout(sighting);
    return known !== undefined && !isLongUnseen(known, at);
  });
  const isWhole = current.length >= JUDGED_MIN && 2 * current.filter((each) => present.has(each)).length >= current.length;
  return noted.flatMap((sighting) => {
    const [known, hasIt] = [ofLayout(sighting), present.has(sighting)];
    if (!hasIt && (!isWhole || known === undefined || known.missed_at !== null)) return [];
    const inLayout = { at: hasIt || known === undefined ? at : known.at, missed_at: hasIt ? null : at };
    const isOfAny = !hasIt && sighting.layouts.size === 0;
    const after = isOfAny ? inLayout : acrossLayouts([...new Map([...sighting.layouts, [layout, inLayout]]).values()]);
    const isTurned = isLongUnseen(sighting, at) !== isLongUnseen(after, at);
    return [{ seq: sighting.seq, inLayout: isOfAny ? undefined : inLayout, after, isTurned }];
  });
}

const JUDGED_MIN = 10;

/** Whether a record is or will be open, and no date ends it. */
function isWithoutEnd({ indexed: { status, dates, archives_at } }: Decision): boolean {
  return unendedStatuses.includes(status) && dates.closes_at === null && dates.response_at === null && archives_at === undefined;
}

/** Links records again whose keys may now lead to another one, also those left by a killed import. */
async function linkAgain(run: Run): Promise<void> {
  const { db } = run.context;
  while ((await listMovedKeys(db)).length > 0) {
    await commit(run, async (writing) => {
      const { sql, instant } = writing;
      const keys = await listMovedKeys(sql);
      for (const seq of await listSeekers(sql, keys)) {
        const before = await getStored(sql, seq);
        const found = await findLinks(storedHolders(sql), readContent(before.document, before.sidecar));
        const decision = decideRelationships(before, { found }, instant);
        if (decision.outcome === "unchanged") continue;
        await updateRecord(writing, before, decision, [], run.importId);
        countLinked(run.summary, decision.events.length);
      }
      await forgetMovedKeys(sql, keys);
    });
  }
}

async function changeStored(run: Run, writing: Writing, seq: number, decide: (before: StoredRecord) => Decision): Promise<Decision> {
  const before = await getStored(writing.sql, seq);
  const decision = decide(before);
  await updateRecord(writing, before, decision, [], run.importId);
  await count(run);
  return decision;
}

async function saveOtherVersions(run: Run): Promise<void> {
  const { context, begun, staging, firstPass } = run;
  for (const versions of otherVersions(staging, firstPass)) {
    await report(run);
    await context.db.transaction(async (sql) => {
      const since = await nextInstant(sql, begun.asOf ?? context.now());
      for (const version of versions) {
        const record = await findStored(sql, version.source, version.lineage);
        if (record !== undefined)
          await saveVersion(sql, record.seq, version, { shown_id: record.source_opportunity_id, hash: record.hash }, since);
      }
    });
  }
}

function* otherVersions(
  { otherUpstreamIds }: Staging,
  { placements }: FirstPass,
): Iterable<(UpstreamId & Partial<Pick<PlacedVersion, "facts" | "digest">>)[]> {
  yield* placements.unsaved();
  yield* otherUpstreamIds();
}

async function saveSourceDigests(run: Run): Promise<void> {
  const { context, staging } = run;
  for (const chunk of staging.reread(run.chunk)) {
    await report(run);
    await context.db.transaction(async (sql) => {
      for (const unchanged of chunk) await saveSourceDigest(sql, unchanged);
    });
    await Bun.sleep(PAUSE_MS);
  }
}

/** Shared by the import and its dry run, so that their numbers agree. */
async function decideAndCount(
  sql: CatalogSql,
  summary: Summary,
  before: StoredRecord | undefined,
  record: PreparedRecord,
  instants: Pick<Writing, "instant" | "now">,
  found: Partial<Relationships>,
): Promise<{ decision: Decision; history: OpportunityEvent[] }> {
  const redactsHistory = before !== undefined && (await needsHistoryRedaction(sql, before, record));
  const decision = decideImport(before, record, instants, found, redactsHistory);
  const createdAt = before?.created_at ?? record.restored?.created_at ?? instants.instant;
  const history = record.revisions === undefined ? [] : await listUpstreamHistory(sql, decision.id, record.revisions, createdAt);
  summary[decision.outcome]++;
  summary.events += decision.events.length + history.length;
  return { decision, history };
}

function findBefore(sql: CatalogSql, { indexed, lineage }: PreparedRecord): Promise<StoredRecord | undefined> {
  return findStored(sql, indexed.source.code, lineage);
}

function* allRecords(staging: Staging): Iterable<PreparedRecord> {
  for (const chunk of staging.chunks(CHUNK)) yield* chunk;
}

/** If an opportunity has several records, one is staged, and the others are merged into it. */
function firstSummary({ read, rejected }: FirstPass, staging: Staging): Summary {
  const { toWrite, unchanged } = staging.counts();
  return { ...emptySummary, read, unchanged, merged: read - rejected - toWrite - unchanged, rejected };
}

function countRemoval(summary: Summary, { events }: Decision): void {
  summary.removed++;
  summary.events += events.length;
}

function countLinked(summary: Summary, links: number): void {
  summary.linked += links;
  summary.events += links;
}
