/** First pass: places, reads, validates and stages the whole input before anything is stored (D-33). A bad record is rejected alone. */

import type { CatalogDb, CatalogSql } from "../../db/engine.ts";
import { Failure } from "../../db/reason.ts";
import { withoutContacts } from "../changes/contacts.ts";
import { type PreparedRecord, prepareRecord, statedRelationships, type ValidRecord, withFound } from "../changes/content.ts";
import { findSourceDigests, findUnchanged, lineagesOfUpstreamId, newestInstant } from "../changes/stored.ts";
import { contradictions } from "../opportunities/contradictions.ts";
import { inBatches } from "../runtime/batches.ts";
import { listSources } from "../sources/source.ts";
import { counted } from "../text/in-words.ts";
import type { EpochMs } from "../text/instant.ts";
import { ellipsized } from "../text/quoted.ts";
import { advance, type ImportContext, type ImportKind, type ImportOptions, shareRead } from "./context.ts";
import type { Draft, Format, FormatContext, Input, Item, LazyItem, LiveRecord, RecordItem, RejectedItem, SourceLine } from "./format.ts";
import { completeRecord } from "./partial-records.ts";
import type { OpenInput } from "./readers/input.ts";
import { firstCharacter } from "./readers/json-elements.ts";
import type { Rejects } from "./rejects.ts";
import { digestUnder } from "./source-digest.ts";
import type { Staging } from "./staging.ts";
import {
  isUsableId,
  type NaturalKey,
  Rejection,
  readNaturalKey,
  refuseFuture,
  rejectionOf,
  usableKey,
  validateRecord,
} from "./validate.ts";
import { findParentId, type Parents } from "./versions/parents.ts";
import { type PlacedVersion, type Placements, placeVersions, rankOf } from "./versions/placing.ts";

const VALIDATED_AT_ONCE = 20;

export type FirstPass = {
  read: number;
  rejected: number;
  sources: Set<string>;
  kind: ImportKind;
  restoredUpTo: EpochMs | undefined;
  contradictory: Map<string, { records: number; example: string }>;
  placements: Placements;
  layout: string;
  /** Whether files like these never contain a record: then it is not missing. */
  neverHas: (record: LiveRecord) => boolean;
};

type Pass = Parents & {
  redactContacts: boolean;
  staging: Staging;
  rejects: Rejects;
  names: ReadonlyMap<string, string>;
  digestOf: (text: string) => Buffer;
  now: () => EpochMs;
  found: FirstPass;
};

/** Reads, validates and stages all files. Throws if a file cannot be read as a whole. */
export async function runFirstPass(
  context: ImportContext,
  format: Format,
  inputs: readonly OpenInput[],
  options: ImportOptions,
  staging: Staging,
  rejects: Rejects,
): Promise<FirstPass> {
  const { db, now, notify } = context;
  const kind = (await newestInstant(db)) === undefined ? "first" : "later";
  const stored = kind === "later" ? db : nothingStored(db);
  const names = new Map((await listSources(db)).map(({ code, name }) => [code, name]));
  const redactContacts = options.redactContacts === true;
  const digestOf = digestUnder([format.name, [...names], redactContacts]);
  const firsts = await Array.fromAsync(inputs, (input) => firstCharacter(input));
  const files = inputs.filter((_, n) => firsts[n] !== ""); // An empty file holds no records, whatever its format (D-35).
  const kinds = new Set(firsts.filter(Boolean).map((first) => KINDS[first] ?? "text"));
  const others: ((record: LiveRecord) => boolean)[] = [];
  const placements = await placeVersions(format.versions, files, { stored, staging, digestOf, kind });
  const found: FirstPass = {
    read: 0,
    rejected: 0,
    sources: new Set(placements.settled.sources),
    kind,
    restoredUpTo: undefined,
    contradictory: new Map(),
    placements,
    layout: [format.name, ...[...kinds].sort()].join(" "), // Such as "grants-gov xml". Other kinds may lack some records by design.
    neverHas: (record) => others.some((isOther) => isOther(record)),
  };
  const pass: Pass = { format, redactContacts, staging, rejects, names, digestOf, now, kind, placements, found };
  const lastItems = new Map<Input, Item>();
  const warn = once(notify);
  let missing: string | undefined;
  const incomplete = (message: string) => {
    missing ??= message;
    warn(message);
  };
  const formatContext: FormatContext = { warn, incomplete, neverHas: (isOther) => void others.push(isOther) };
  found.read = placements.settled.countIfAll();
  const items = found.read > 0 ? none() : format.read(files, formatContext);
  for await (const batch of inBatches(items, VALIDATED_AT_ONCE)) {
    for (const item of batch) lastItems.set(item.input, item);
    // `versions.in` yields one entry for each item of `read`, in the same order.
    const unsettled = batch.filter((item, index) => item.isSuperseded !== true && !placements.settled.has(found.read + index));
    await stored.readTransaction((sql) => stageItems(sql, pass, unsettled));
    found.read += batch.length;
    await advance(context, { step: "reading", done: found.read, share: shareRead(inputs) });
  }
  await advance(context, { step: "reading", done: found.read, share: 1 });
  for (const [says, { records, example }] of found.contradictory)
    warn(`Kept as published: ${counted(records, "record")} whose ${says}, such as ${example}; fundfeed quality lists them`);
  if (options.snapshot && !options.allowRemovals) {
    if (missing !== undefined) throw new Failure(`Cannot import this snapshot: ${missing}; --allow-removals imports it nevertheless`);
    for (const item of lastItems.values()) refuseTruncated(item);
  }
  return found;
}

async function* none(): AsyncIterable<Item> {}

/** An empty catalog, which finds nothing without a statement. */
function nothingStored({ name, dialect }: CatalogDb): Pick<CatalogDb, "readTransaction"> {
  const deny = () => Promise.reject(new Error("the first pass does not write"));
  const sql: CatalogSql = { name, dialect, get: async () => undefined, all: async () => [], each: async () => {}, insert: deny, run: deny };
  return { readTransaction: (read) => read(sql) };
}

const KINDS: Readonly<Record<string, string>> = { "<": "xml", "{": "json", "[": "json" };

/** Records that went through all steps, and lazy items whose digest did not change, which are not read. */
type Accepted = { record: PreparedRecord; version: PlacedVersion | undefined } | { asStored: LazyItem };

async function stageItems(sql: CatalogSql, pass: Pass, found: readonly Item[]): Promise<void> {
  const items = found.map((item): OpenedItem => (item.kind === "version" ? { ...item, ...item.read() } : item));
  const newDigests = await findNewDigests(sql, pass, items);
  const accepted: Accepted[] = [];
  for (const item of items) {
    if (item.kind === "lazy" && !newDigests.has(item)) {
      accepted.push({ asStored: item });
      continue;
    }
    const version = pass.placements.of(item);
    // A partial record takes missing fields from the same record in another layout among these files.
    const lineage = dependsOnStored(item) ? lineageOf(item, version) : undefined;
    const isOf = (each: Accepted) => ("record" in each ? each.record.lineage : each.asStored.id) === lineage;
    if (lineage !== undefined && accepted.some(isOf)) await stageAccepted(sql, pass, accepted.splice(0));
    try {
      accepted.push({ record: await prepare(sql, pass, item, version, newDigests.get(item)), version });
    } catch (error) {
      pass.rejects.add(item, rejectionOf(error));
      pass.found.rejected++;
      await notePresent(sql, pass, item, version);
    }
  }
  await stageAccepted(sql, pass, accepted);
}

type OpenedItem = SourceLine & (RecordItem | LazyItem | RejectedItem);

async function prepare(
  sql: CatalogSql,
  pass: Pass,
  item: OpenedItem,
  version: PlacedVersion | undefined,
  source_digest: Buffer | undefined,
): Promise<PreparedRecord> {
  const { staging, names, found, kind, redactContacts } = pass;
  if (item.kind === "rejected") throw new Rejection(item.reason);
  const earlier = dependsOnStored(item) ? staging.findRecord(naturalKeyOf(item)?.source ?? "", lineageOf(item, version) ?? "") : undefined;
  const { restored, ...valid } = validateRecord(await completeRecord(sql, readItem(item), version, earlier), names);
  const restores = restored !== undefined && kind !== "later"; // The instants of an export are only used in an empty catalog.
  if (restores) refuseFutureInstants(restored, pass.now());
  const revisions =
    item.kind === "record" ? item.revisions?.map(({ record, since }) => ({ ...validateRecord(record, names), since })) : undefined;
  // A whole record has its own history, if any.
  const known = revisions ?? (item.kind === "record" && item.partial !== undefined ? earlier?.revisions : undefined);
  const record = await relate({ source_digest, ...valid, ...(known && { revisions: known }) }, sql, pass, version);
  found.sources.add(record.content.source.code);
  noteContradictions(found, record);
  const prepared = prepareRecord(redactContacts ? withoutContacts(record) : record);
  if (!restores) return prepared;
  found.kind = "restore";
  found.restoredUpTo = Math.max(found.restoredUpTo ?? restored.updated_at, restored.updated_at);
  return { ...prepared, restored };
}

function readItem(item: RecordItem | LazyItem): Pick<RecordItem, "record" | "partial" | "reconcile"> {
  if (item.kind === "record") return item;
  const { read, reconcile } = item;
  const record = read();
  return { record, ...(reconcile && { reconcile: (stored) => reconcile(record as Draft, stored) }) };
}

function dependsOnStored(item: OpenedItem): boolean {
  return item.kind !== "rejected" && (item.reconcile !== undefined || (item.kind === "record" && item.partial !== undefined));
}

/** Every later change must follow a restored instant (D-31), so a future one would do lasting harm. */
function refuseFutureInstants({ last_seen, ...instants }: NonNullable<ValidRecord["restored"]>, now: EpochMs): void {
  const { at = 0, missed_at = null } = last_seen ?? {};
  for (const [name, instant] of Object.entries({ ...instants, "last_seen.at": at, "last_seen.missed_at": missed_at ?? 0 }))
    refuseFuture(name, instant, now);
}

async function relate(valid: ValidRecord, sql: CatalogSql, pass: Pass, version: PlacedVersion | undefined): Promise<ValidRecord> {
  const parent_id = version === undefined ? undefined : await findParentId(sql, version, pass);
  if (parent_id === undefined) return valid;
  const stated = { ...statedRelationships(valid.content), parent_id };
  return { ...valid, content: withFound(valid.content, stated, valid.content.relationships) };
}

function noteContradictions({ contradictory }: FirstPass, { content }: ValidRecord): void {
  for (const { says, breaks } of contradictions) {
    if (!breaks(content)) continue;
    const { code, opportunity_id } = content.source;
    const { records, example } = contradictory.get(says) ?? { records: 0, example: `${code} ${opportunity_id}` };
    contradictory.set(says, { records: records + 1, example });
  }
}

async function stageAccepted(sql: CatalogSql, { staging, found, kind }: Pass, accepted: readonly Accepted[]): Promise<void> {
  const records = accepted.flatMap((each) => ("record" in each ? [each.record] : []));
  const unchanged = kind === "later" ? await findUnchanged(sql, records) : new Set();
  for (const each of accepted) {
    if ("record" in each) stage(staging, each.record, unchanged.has(each.record), each.version);
    else {
      found.sources.add(each.asStored.source);
      staging.putUnchanged(each.asStored.source, each.asStored.id);
    }
  }
}

function stage(staging: Staging, record: PreparedRecord, isUnchanged: boolean, version: PlacedVersion | undefined): void {
  const { indexed, lineage, earlier_ids } = record;
  if (!isUnchanged) staging.addUpstreamIds(indexed.source.code, lineage, earlier_ids); // Those of an unchanged record are already stored.
  const rank = version === undefined ? undefined : rankOf(version);
  if (version?.isOlder) staging.putUnchanged(indexed.source.code, lineage, { rank });
  else if (isUnchanged) staging.putUnchanged(indexed.source.code, lineage, { reread: record, rank });
  else staging.putRecord(record, rank);
}

async function notePresent(sql: CatalogSql, { staging, placements, found }: Pass, item: OpenedItem, version: PlacedVersion | undefined) {
  if (version !== undefined) placements.drop(version.source, version.id);
  const key = version === undefined ? naturalKeyOf(item) : { ...version, upstreamId: undefined };
  if (key === undefined) return;
  const lineages = await lineagesOf(sql, key);
  if (lineages.length > 0) found.sources.add(key.source);
  for (const lineage of lineages) staging.putPresent(key.source, lineage);
}

function lineageOf(item: OpenedItem, version: PlacedVersion | undefined): string | undefined {
  const key = naturalKeyOf(item);
  return version?.lineage ?? key?.lineage ?? key?.upstreamId;
}

async function findNewDigests(sql: CatalogSql, { digestOf }: Pass, items: readonly OpenedItem[]): Promise<Map<OpenedItem, Buffer>> {
  const digests = new Map<OpenedItem, Buffer>();
  const lazy = items.filter((item) => item.kind === "lazy");
  for (const [source, ofSource] of Map.groupBy(lazy, (item) => item.source)) {
    const ids = ofSource.map(({ id }) => id).filter((id) => isUsableId(source, id));
    const stored = await findSourceDigests(sql, source, ids);
    for (const item of ofSource) {
      const digest = digestOf(item.digested);
      const before = stored.get(item.id);
      if (before === undefined || !digest.equals(before)) digests.set(item, digest);
    }
  }
  return digests;
}

function naturalKeyOf(item: OpenedItem): NaturalKey | undefined {
  if (item.kind === "record") return readNaturalKey(item.record);
  if (item.kind === "lazy") return usableKey(item.source, undefined, item.id);
  return usableKey(item.source, item.lineage, undefined);
}

async function lineagesOf(sql: CatalogSql, { source, lineage, upstreamId }: NaturalKey): Promise<string[]> {
  if (lineage !== undefined) return [lineage];
  return upstreamId === undefined ? [] : [upstreamId, ...(await lineagesOfUpstreamId(sql, source, upstreamId))];
}

/** If the last line of a snapshot cannot be read, records may be missing after it. */
function refuseTruncated(last: Item): void {
  if (typeof last.raw !== "string") return;
  throw new Failure(
    `Cannot import this snapshot: the last line of ${last.input.name} is not a record (line ${last.line}), so the file may be truncated; --allow-removals imports it nevertheless`,
  );
}

const WARNINGS_MAX = 200;
const WARNING_LENGTH_MAX = 300;

/** An unknown code in ten thousand records needs only one warning. */
function once(notify: (message: string) => void): (message: string) => void {
  const sent = new Set<string>();
  return (whole) => {
    const message = ellipsized(whole, WARNING_LENGTH_MAX);
    if (sent.has(message) || sent.size === WARNINGS_MAX) return;
    sent.add(message);
    notify(message);
  };
}
