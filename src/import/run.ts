/** One import: judge the whole input, then store what differs, chunk by chunk (D-30 to D-36). */
import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import {
  atNextInstant,
  countNewPast,
  type Decision,
  decide,
  decideLink,
  decideRemoval,
  findStored,
  findUnchanged,
  getStored,
  insert,
  isStored,
  lineagesOfUpstreamId,
  listLive,
  newestInstant,
  nextInstant,
  type Stored,
  storePast,
  turned,
  update,
  withholdContacts,
} from "../changes/commit.ts";
import { withoutContacts } from "../changes/contacts.ts";
import { type Hashed, hashOf, type Incoming, readContent } from "../changes/content.ts";
import { countWaitingFor, findCanonicalId, listWaiting } from "../changes/link.ts";
import { replayClock } from "../changes/refresh.ts";
import { formatInstant } from "../instant.ts";
import { opportunityId } from "../opportunities/identity.ts";
import { listSources } from "../sources.ts";
import type { Context, Format, Input, Item, Parent } from "./format.ts";
import type { OpenInput } from "./input.ts";
import { isObject } from "./json-value.ts";
import { judgeRecord, Rejection, readNaturalKey } from "./judge.ts";
import type { Rejects } from "./rejects.ts";
import { type Begun, beginImport, findUnfinished, finishImport, recordProgress, type Summary } from "./remembered.ts";
import type { Staged, Staging } from "./staging.ts";
import { digestsOf, type Options, type Outcome, shareRead, type Workplace, withInputs } from "./workplace.ts";

/**
 * Records in one transaction: some 0.6 s, for which other writers wait, and no more than that is lost when an import is killed.
 * In each, nearly every page of an index on ids or hashes is written once: smaller chunks write them more often.
 */
export const CHUNK = 4000;
/** Records judged in one snapshot and looked up by one statement. More would outlive the youngest garbage, and take more memory than time is won. */
const JUDGED_TOGETHER = 20;
/** Between two transactions, so that whoever else wants to write (the clock of a server) gets in. */
const OTHERS_TURN_MS = 10;
/** A snapshot that would remove more of a source's live records than this is refused (D-34). */
const REMOVALS_MAX = 0.2;
/** Imports files as one unit. Throws, with nothing changed, when the input as a whole cannot be taken. */
export async function importFiles(place: Workplace, format: Format, options: Options): Promise<Outcome> {
  return withInputs(place, format, options, async ({ inputs, staging, rejects }) => {
    const judged = await judgeAll(place, format, inputs, options, staging, rejects);
    const begun: Begun = {
      format: format.name,
      files: await digestsOf(inputs),
      sources: [...judged.sources].sort(),
      snapshot: options.snapshot,
      asOf: options.asOf,
      startedAt: place.now(),
    };
    await refuseEarlierInstant(place.db, begun);
    const missing = options.snapshot ? await findMissing(place.db, judged.sources, staging, options) : [];
    return options.dryRun ? rehearse(place.db, begun, judged, staging, missing) : await store(place, begun, judged, staging, missing);
  });
}

type Judged = { read: number; rejected: number; sources: Set<string>; newestRestored: number | undefined };

/** Reads everything: what is new or changed is staged, what is unchanged is noted, what is bad is rejected alone. */
async function judgeAll(
  { db, now, tell, progress }: Workplace,
  format: Format,
  inputs: readonly OpenInput[],
  options: Options,
  staging: Staging,
  rejects: Rejects,
): Promise<Judged> {
  const judged: Judged = { read: 0, rejected: 0, sources: new Set(), newestRestored: undefined };
  const names = new Map((await listSources(db)).map(({ code, name }) => [code, name]));
  const restoring = (await newestInstant(db)) === undefined;
  const context: Context = { now: options.asOf ?? now(), warn: once(tell) };
  const lastOf = new Map<Input, Item>();
  for await (const items of together(format.read(inputs, context), JUDGED_TOGETHER)) {
    await db.snapshot(async (sql) => {
      const records: Hashed[] = [];
      for (const item of items) {
        lastOf.set(item.input, item);
        try {
          const incoming = await judgeItem(sql, item, names);
          records.push(identified(staging, judged, options.redactContacts ? withoutContacts(incoming) : incoming, restoring));
        } catch (error) {
          if (!(error instanceof Rejection)) throw error;
          judged.rejected++;
          rejects.add(item, error.message);
          await notePresent(sql, staging, judged, item);
        }
      }
      const unchanged = await findUnchanged(sql, records);
      for (const record of records) stage(staging, record, unchanged.has(record));
    });
    judged.read += items.length;
    progress({ step: "reading", done: judged.read, share: shareRead(inputs) });
  }
  progress({ step: "reading", done: judged.read, share: 1 });
  if (options.snapshot && !options.allowRemovals) for (const item of lastOf.values()) refuseCutOff(item);
  return judged;
}

async function* together<T>(items: AsyncIterable<T>, count: number): AsyncIterable<T[]> {
  let some: T[] = [];
  for await (const item of items) {
    if (some.push(item) < count) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

async function judgeItem(sql: CatalogSql, item: Item, names: ReadonlyMap<string, string>): Promise<Incoming> {
  if ("reason" in item) throw new Rejection(item.reason);
  const record = item.partial === undefined ? item.record : await completed(sql, item.record, item.partial === "adds");
  const incoming = judgeRecord(record, names);
  const past = item.past?.map(({ record, until }) => {
    const { content, status_basis } = judgeRecord(record, names);
    return { content, status_basis, until };
  });
  return { ...(await withRelationships(sql, incoming, item.parents ?? [])), ...(past === undefined ? {} : { past }) };
}

/** A partial record with what is stored of the fields that it leaves out. Its status is never left to an older one. */
async function completed(sql: CatalogSql, record: object, adds: boolean): Promise<object> {
  const key = readNaturalKey(record);
  const before = key === undefined ? undefined : await findStored(sql, key.source, key.lineage ?? key.upstreamId ?? "");
  if (before === undefined) return record;
  const { status: _status, ...content } = readContent(before.document, before.sidecar);
  return filledIn(record, content, adds);
}

function filledIn(record: object, stored: object, adds: boolean): object {
  const filled: Record<string, unknown> = { ...stored };
  for (const [name, value] of Object.entries(record)) {
    const old = filled[name];
    if (value === undefined) continue;
    if (isObject(value) && isObject(old)) filled[name] = filledIn(value, old, adds);
    else filled[name] = adds && Array.isArray(value) && Array.isArray(old) ? union(old, value) : value;
  }
  return filled;
}

function union(old: readonly unknown[], more: readonly unknown[]): unknown[] {
  const known = new Set(old.map((item) => JSON.stringify(item)));
  return [...old, ...more.filter((item) => !known.has(JSON.stringify(item)))];
}

/** Parent and canonical record, where the record names none and one is known. */
async function withRelationships(sql: CatalogSql, incoming: Incoming, parents: readonly Parent[]): Promise<Incoming> {
  const { source, relationships } = incoming.content;
  const parent = await firstOf(parents, async ({ lineage, inFiles }) => inFiles || (await isStored(sql, source.code, lineage)));
  const parent_id = relationships.parent_id ?? (parent === undefined ? null : opportunityId(source.code, parent.lineage));
  const canonical_id = relationships.canonical_id ?? (await findCanonicalId(sql, incoming.content));
  if (parent_id === relationships.parent_id && canonical_id === relationships.canonical_id) return incoming;
  return { ...incoming, content: { ...incoming.content, relationships: { parent_id, canonical_id } } };
}

async function firstOf<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<T | undefined> {
  for (const item of items) if (await holds(item)) return item;
  return undefined;
}

/** The record with its hash and all earlier ids that are known of it. */
function identified(staging: Staging, judged: Judged, { restored, ...record }: Incoming, restoring: boolean): Hashed {
  const { code, opportunity_id } = record.content.source;
  judged.sources.add(code);
  // Of a lineage that goes by another name, ids of records that this one supersedes in the same file stay findable (D-30).
  const known =
    record.lineage === opportunity_id ? [] : staging.addUpstreamIds(code, record.lineage, [opportunity_id, ...record.earlier_ids]);
  const earlier_ids = known.length > 1 ? known.filter((id) => id !== opportunity_id) : record.earlier_ids;
  const hash = hashOf(record.content, record.status_basis);
  if (!restoring || restored === undefined) return { ...record, earlier_ids, hash };
  judged.newestRestored = Math.max(judged.newestRestored ?? restored.updated_at, restored.updated_at);
  return { ...record, earlier_ids, hash, restored };
}

function stage(staging: Staging, { hash, ...incoming }: Hashed, isUnchanged: boolean): void {
  staging.put(incoming.content.source.code, incoming.lineage, isUnchanged ? null : JSON.stringify(incoming), hash);
}

/** A rejected record whose source and id can be read counts as present (D-34). */
async function notePresent(sql: CatalogSql, staging: Staging, judged: Judged, item: Item): Promise<void> {
  const key = "reason" in item ? readItemKey(item) : readNaturalKey(item.record);
  if (key === undefined) return;
  const { source, lineage, upstreamId } = key;
  const lineages =
    lineage !== undefined
      ? [lineage]
      : upstreamId === undefined
        ? []
        : [upstreamId, ...(await lineagesOfUpstreamId(sql, source, upstreamId))];
  if (lineages.length > 0) judged.sources.add(source);
  for (const each of lineages) staging.putPresent(source, each);
}

function readItemKey({ source, lineage }: { source?: string; lineage?: string }) {
  return source === undefined ? undefined : { source: source.toUpperCase(), lineage, upstreamId: undefined };
}

/** Lines have no closing bracket: a snapshot whose last one cannot be read may have been cut off anywhere before the next. */
function refuseCutOff(last: Item): void {
  if (typeof last.raw !== "string") return;
  throw new Error(
    `Cannot import this snapshot: ${last.input.name} ends with a line that is no record (line ${last.line}), as a file does that was cut off; --allow-removals says that it is whole`,
  );
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
    `Cannot import as of ${formatInstant(begun.asOf)}: the catalogue holds changes up to ${formatInstant(newest)}, and --as-of must be later`,
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

/** What an import would come to: the same decisions at the same instant, stored nowhere. */
async function rehearse(db: CatalogDb, begun: Begun, judged: Judged, staging: Staging, missing: readonly number[]): Promise<Summary> {
  return db.snapshot(async (sql) => {
    const summary = emptySummary(judged, staging);
    const instant = await nextInstant(sql, begun.asOf ?? begun.startedAt);
    for (const incoming of everyOne(staging)) {
      const before = await stored(sql, incoming);
      const replayed = before === undefined || begun.asOf === undefined ? before : turned(before, begun.asOf - 1);
      count(summary, decide(replayed, incoming, instant));
      const waiting = await countWaitingFor(sql, incoming.content);
      summary.changed += waiting;
      summary.events += waiting + (await countNewPast(sql, incoming, instant));
    }
    for (const seq of missing) countRemoval(summary, decideRemoval(await getStored(sql, seq), instant));
    return summary;
  });
}

async function store(place: Workplace, begun: Begun, judged: Judged, staging: Staging, missing: readonly number[]): Promise<Summary> {
  const { db, now, progress } = place;
  if (begun.asOf !== undefined) await replayClock(db, begun.asOf - 1);
  const importId = await beginImport(db, begun);
  const summary = emptySummary(judged, staging);
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

  // A restored catalogue is one transaction (D-31): its instants are its own.
  const transactions = judged.newestRestored === undefined ? inChunks(staging) : [everyOne(staging)];
  for (const chunk of transactions) {
    await write(async (sql, instant) => {
      if (judged.newestRestored !== undefined && (await newestInstant(sql)) !== undefined)
        throw new Error("Cannot restore these records: the catalogue was empty, and somebody has written to it meanwhile");
      for (const incoming of chunk) {
        count(summary, await storeOne(sql, incoming, instant, importId));
        summary.events += await storePast(sql, incoming, importId);
      }
    });
    progress({ step: "writing", done: summary.added + summary.changed, share: (summary.added + summary.changed) / total });
  }
  for (const rows of slices(missing)) {
    await write(async (sql, instant) => {
      for (const seq of rows)
        countRemoval(summary, await changeOne(sql, seq, (before) => decideRemoval(before, instant), instant, importId));
    });
  }
  // After the records, so that no record changes twice at one instant. An export says itself what is linked.
  const waiting = judged.newestRestored === undefined ? await listWaiting(db, judged.sources) : [];
  for (const pairs of slices(waiting)) {
    await write(async (sql, instant) => {
      for (const { seq, canonicalId } of pairs)
        count(summary, await changeOne(sql, seq, (before) => decideLink(before, canonicalId, instant), instant, importId));
    });
  }
  await finishImport(db, importId, summary, now());
  return summary;
}

async function storeOne(sql: CatalogSql, incoming: Incoming, instant: number, importId: number): Promise<Decision> {
  const before = await stored(sql, incoming);
  const decision = decide(before, incoming, instant);
  if (before === undefined) await insert(sql, decision, incoming, instant, importId);
  else await update(sql, before, decision, incoming.earlier_ids, instant, importId);
  if (before !== undefined && incoming.redacted) await withholdContacts(sql, before.seq);
  return decision;
}

/** What becomes of a stored record that did not arrive itself. */
async function changeOne(
  sql: CatalogSql,
  seq: number,
  decideOn: (before: Stored) => Decision,
  instant: number,
  importId: number,
): Promise<Decision> {
  const before = await getStored(sql, seq);
  const decision = decideOn(before);
  await update(sql, before, decision, [], instant, importId);
  return decision;
}

function stored(sql: CatalogSql, { content, lineage }: Incoming) {
  return findStored(sql, content.source.code, lineage);
}

/** Each staged record is parsed only when its turn comes: a chunk at once would take a hundred megabytes. */
function* parsed(staged: Iterable<Staged>): Iterable<Incoming> {
  for (const { json, hash } of staged) yield Object.assign(JSON.parse(json) as Incoming, { hash }); // Staged by this very import.
}

function* slices<T>(items: readonly T[]): Iterable<readonly T[]> {
  for (let first = 0; first < items.length; first += CHUNK) yield items.slice(first, first + CHUNK);
}

function* inChunks(staging: Staging): Iterable<Iterable<Incoming>> {
  for (const chunk of staging.chunks(CHUNK)) yield parsed(chunk);
}

function* everyOne(staging: Staging): Iterable<Incoming> {
  for (const chunk of staging.chunks(CHUNK)) yield* parsed(chunk);
}

function emptySummary({ read, rejected }: Judged, staging: Staging): Summary {
  return { read, added: 0, changed: 0, unchanged: staging.counts().unchanged, removed: 0, rejected, events: 0 };
}

function count(summary: Summary, { outcome, events }: Decision): void {
  summary[outcome]++;
  summary.events += events.length;
}

function countRemoval(summary: Summary, { events }: Decision): void {
  summary.removed++;
  summary.events += events.length;
}

/** Tells each message once: a code that is unknown in ten thousand records is one piece of news. */
function once(tell: (message: string) => void): (message: string) => void {
  const told = new Set<string>();
  return (message) => {
    if (told.has(message) || told.size === 200) return;
    told.add(message);
    tell(message);
  };
}
