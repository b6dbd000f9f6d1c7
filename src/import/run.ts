/** One import: judge the whole input, then store what differs, chunk by chunk (D-30 to D-36). */
import type { CatalogDb } from "../../db/open.ts";
import {
  atNextInstant,
  beginReading,
  countNewPast,
  type Decision,
  decide,
  decideLink,
  decideRemoval,
  findStored,
  getStored,
  insert,
  isStored,
  isUnchanged,
  lineagesOfUpstreamId,
  listLive,
  newestInstant,
  nextInstant,
  storePast,
  turned,
  update,
  withholdContacts,
} from "../changes/commit.ts";
import { withoutContacts } from "../changes/contacts.ts";
import { hashOf, type Incoming, readContent } from "../changes/content.ts";
import { countWaitingFor, findCanonicalId, listWaiting, type Waiting } from "../changes/link.ts";
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
/** Records judged in one read transaction: each alone would lock and unlock the file, and all together would keep the log from being checkpointed. */
const JUDGED_TOGETHER = 500;
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
    refuseEarlierInstant(place.db, begun);
    const missing = options.snapshot ? findMissing(place.db, judged.sources, staging, options) : [];
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
  const restoring = newestInstant(db.sqlite) === undefined;
  const context: Context = { now: options.asOf ?? now(), warn: once(tell) };
  const lastOf = new Map<Input, Item>();
  const reading = beginReading(db);
  try {
    for await (const item of format.read(inputs, context)) {
      judged.read++;
      lastOf.set(item.input, item);
      if (judged.read % JUDGED_TOGETHER === 0) {
        reading.renew();
        progress({ step: "reading", done: judged.read, share: shareRead(inputs) });
      }
      try {
        const incoming = judgeItem(db, item, names);
        stage(db, staging, judged, options.redactContacts ? withoutContacts(incoming) : incoming, restoring);
      } catch (error) {
        if (!(error instanceof Rejection)) throw error;
        judged.rejected++;
        rejects.add(item, error.message);
        notePresent(db, staging, judged, item);
      }
    }
  } finally {
    reading.end();
  }
  progress({ step: "reading", done: judged.read, share: 1 });
  if (options.snapshot && !options.allowRemovals) for (const item of lastOf.values()) refuseCutOff(item);
  return judged;
}

function judgeItem(db: CatalogDb, item: Item, names: ReadonlyMap<string, string>): Incoming {
  if ("reason" in item) throw new Rejection(item.reason);
  const incoming = judgeRecord(item.partial === undefined ? item.record : completed(db, item.record, item.partial === "adds"), names);
  const past = item.past?.map(({ record, until }) => {
    const { content, status_basis } = judgeRecord(record, names);
    return { content, status_basis, until };
  });
  return { ...withRelationships(db, incoming, item.parents ?? []), ...(past === undefined ? {} : { past }) };
}

/** A partial record with what is stored of the fields that it leaves out. Its status is never left to an older one. */
function completed(db: CatalogDb, record: object, adds: boolean): object {
  const key = readNaturalKey(record);
  const before = key === undefined ? undefined : findStored(db, key.source, key.lineage ?? key.upstreamId ?? "");
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
function withRelationships(db: CatalogDb, incoming: Incoming, parents: readonly Parent[]): Incoming {
  const { source, relationships } = incoming.content;
  const parent = parents.find(({ lineage, inFiles }) => inFiles || isStored(db, source.code, lineage));
  const parent_id = relationships.parent_id ?? (parent === undefined ? null : opportunityId(source.code, parent.lineage));
  const canonical_id = relationships.canonical_id ?? findCanonicalId(db, incoming.content);
  if (parent_id === relationships.parent_id && canonical_id === relationships.canonical_id) return incoming;
  return { ...incoming, content: { ...incoming.content, relationships: { parent_id, canonical_id } } };
}

function stage(db: CatalogDb, staging: Staging, judged: Judged, { restored, ...record }: Incoming, restoring: boolean): void {
  const { code, opportunity_id } = record.content.source;
  judged.sources.add(code);
  // Of a lineage that goes by another name, ids of records that this one supersedes in the same file stay findable (D-30).
  const known =
    record.lineage === opportunity_id ? [] : staging.addUpstreamIds(code, record.lineage, [opportunity_id, ...record.earlier_ids]);
  const earlier_ids = known.length > 1 ? known.filter((id) => id !== opportunity_id) : record.earlier_ids;
  const incoming: Incoming = { ...record, earlier_ids, ...(restoring && restored !== undefined ? { restored } : {}) };
  if (incoming.restored !== undefined)
    judged.newestRestored = Math.max(judged.newestRestored ?? incoming.restored.updated_at, incoming.restored.updated_at);
  const hash = hashOf(incoming.content, incoming.status_basis);
  staging.put(code, incoming.lineage, isUnchanged(db, incoming, hash) ? null : JSON.stringify(incoming), hash);
}

/** A rejected record whose source and id can be read counts as present (D-34). */
function notePresent(db: CatalogDb, staging: Staging, judged: Judged, item: Item): void {
  const key = "reason" in item ? readItemKey(item) : readNaturalKey(item.record);
  if (key === undefined) return;
  const { source, lineage, upstreamId } = key;
  const lineages =
    lineage !== undefined ? [lineage] : upstreamId === undefined ? [] : [upstreamId, ...lineagesOfUpstreamId(db, source, upstreamId)];
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
function refuseEarlierInstant(db: CatalogDb, begun: Begun): void {
  const newest = newestInstant(db.sqlite);
  if (begun.asOf !== undefined && begun.asOf > begun.startedAt) {
    throw new Error(`Cannot import as of ${formatInstant(begun.asOf)}: --as-of is for history, and that is still to come`);
  }
  if (begun.asOf === undefined || newest === undefined || begun.asOf > newest) return;
  if ((findUnfinished(db, begun)?.last_instant ?? Number.NEGATIVE_INFINITY) >= newest) return;
  throw new Error(
    `Cannot import as of ${formatInstant(begun.asOf)}: the catalogue holds changes up to ${formatInstant(newest)}, and --as-of must be later`,
  );
}

/** Row numbers of the live records that a snapshot lacks. Throws when they are too many to be believed. */
function findMissing(db: CatalogDb, sources: ReadonlySet<string>, staging: Staging, { allowRemovals }: Options): number[] {
  const missing: number[] = [];
  for (const source of sources) {
    const live = listLive(db, source);
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
function rehearse(db: CatalogDb, begun: Begun, judged: Judged, staging: Staging, missing: readonly number[]): Summary {
  const summary = emptySummary(judged, staging);
  const instant = nextInstant(db, begun.asOf ?? begun.startedAt);
  for (const incoming of everyOne(staging)) {
    const before = stored(db, incoming);
    const replayed = before === undefined || begun.asOf === undefined ? before : turned(before, begun.asOf - 1);
    count(summary, decide(replayed, incoming, instant));
    const waiting = countWaitingFor(db, incoming.content);
    summary.changed += waiting;
    summary.events += waiting + countNewPast(db, incoming, instant);
  }
  for (const row of missing) countRemoval(summary, decideRemoval(getStored(db, row), instant));
  return summary;
}

async function store(place: Workplace, begun: Begun, judged: Judged, staging: Staging, missing: readonly number[]): Promise<Summary> {
  const { db, now, progress } = place;
  if (begun.asOf !== undefined) await replayClock(db, begun.asOf - 1);
  const importId = beginImport(db, begun);
  const summary = emptySummary(judged, staging);
  const { toWrite } = staging.counts();
  const total = toWrite + missing.length;
  const wanted = () => Math.max(begun.asOf ?? now(), (judged.newestRestored ?? Number.NEGATIVE_INFINITY) + 1);
  const write = (work: (instant: number) => void) =>
    atNextInstant(db, wanted(), (instant) => {
      work(instant);
      recordProgress(db, importId, summary, instant);
    });

  // A restored catalogue is one transaction (D-31): its instants are its own.
  const transactions = judged.newestRestored === undefined ? inChunks(staging) : [everyOne(staging)];
  for (const chunk of transactions) {
    write((instant) => {
      for (const incoming of chunk) {
        count(summary, storeOne(db, incoming, instant, importId));
        summary.events += storePast(db, incoming, importId);
      }
    });
    progress({ step: "writing", done: summary.added + summary.changed, share: (summary.added + summary.changed) / total });
  }
  for (const rows of slices(missing)) {
    write((instant) => {
      for (const row of rows) countRemoval(summary, removeOne(db, row, instant, importId));
    });
  }
  // After the records, so that no record changes twice at one instant. An export says itself what is linked.
  const waiting = judged.newestRestored === undefined ? listWaiting(db, judged.sources) : [];
  for (const pairs of slices(waiting)) {
    write((instant) => {
      for (const pair of pairs) count(summary, linkOne(db, pair, instant, importId));
    });
  }
  finishImport(db, importId, summary, now());
  return summary;
}

function storeOne(db: CatalogDb, incoming: Incoming, instant: number, importId: number): Decision {
  const before = stored(db, incoming);
  const decision = decide(before, incoming, instant);
  if (before === undefined) insert(db, decision, incoming, instant, importId);
  else update(db, before, decision, incoming.earlier_ids, instant, importId);
  if (before !== undefined && incoming.redacted) withholdContacts(db, before.seq);
  return decision;
}

function removeOne(db: CatalogDb, row: number, instant: number, importId: number): Decision {
  const before = getStored(db, row);
  const decision = decideRemoval(before, instant);
  update(db, before, decision, [], instant, importId);
  return decision;
}

function linkOne(db: CatalogDb, { row, canonicalId }: Waiting, instant: number, importId: number): Decision {
  const before = getStored(db, row);
  const decision = decideLink(before, canonicalId, instant);
  update(db, before, decision, [], instant, importId);
  return decision;
}

function stored(db: CatalogDb, { content, lineage }: Incoming) {
  return findStored(db, content.source.code, lineage);
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
