/** Judges the whole input before anything of it is stored (D-33): what is new or changed is staged, what is unchanged is noted, what is bad is rejected alone. */

import type { CatalogSql } from "../../db/engine.ts";
import { withoutContacts } from "../changes/contacts.ts";
import { type PreparedRecord, prepareRecord, type RenderedContent, readContent, type ValidRecord } from "../changes/content.ts";
import { findCanonicalId } from "../changes/link.ts";
import { findSourceDigests, findStored, findUnchanged, lineagesOfUpstreamId, newestInstant } from "../changes/stored.ts";
import { listSources } from "../sources/source.ts";
import { formatInstant, isFuture } from "../text/instant.ts";
import { isObject } from "../text/json-value.ts";
import { advance, type ImportContext, type Options, shareRead } from "./context.ts";
import type { Format, FormatContext, Input, Item, LazyItem, RecordItem } from "./format.ts";
import type { OpenInput } from "./input.ts";
import { firstCharacter } from "./json-elements.ts";
import { findParentId } from "./links.ts";
import type { Placed } from "./placing.ts";
import type { Rejects } from "./rejects.ts";
import { readingUnder } from "./source-digest.ts";
import type { Staged, Staging } from "./staging.ts";
import { judgeRecord, type NaturalKey, Rejection, readNaturalKey, rejectionOf, usableKey } from "./validate.ts";

/** Records judged in one snapshot and looked up by one statement. More would outlive the youngest garbage, and take more memory than time is won. */
const JUDGED_TOGETHER = 20;

export type Judged = {
  read: number;
  rejected: number;
  sources: Set<string>;
  newestRestored: number | undefined;
  /** Nothing was stored yet: an export can be restored, and nothing need be looked up. */
  isFirst: boolean;
};

/** An item that was not rejected. `as before`: a lazy one whose digest is the stored one. */
type Arrived = { kind: "prepared"; prepared: PreparedRecord; version: Placed | undefined } | { kind: "as before"; item: LazyItem };

/** Reads everything. Throws when a file as a whole cannot be taken. */
export async function judgeAll(
  context: ImportContext,
  format: Format,
  inputs: readonly OpenInput[],
  options: Options,
  staging: Staging,
  rejects: Rejects,
): Promise<Judged> {
  const { db, now, notify } = context;
  const isFirst = (await newestInstant(db)) === undefined;
  const judged: Judged = { read: 0, rejected: 0, sources: new Set(), newestRestored: undefined, isFirst };
  const names = new Map((await listSources(db)).map(({ code, name }) => [code, name]));
  const digestOf = readingUnder([format.name, [...names], options.redactContacts === true]);
  const formatContext: FormatContext = { now: options.asOf ?? now(), warn: once(notify) };
  const judge = { names, staging, format, isFirst };
  const lastOf = new Map<Input, Item>();
  const files = await filled(inputs);
  if (format.versions !== undefined) await staging.placements.placeAll(db, format.versions.in(files), isFirst);
  for await (const read of together(format.read(files, formatContext), JUDGED_TOGETHER)) {
    for (const item of read) lastOf.set(item.input, item);
    const items = read.filter((item) => item.isSuperseded !== true);
    await db.readTransaction(async (sql) => {
      const digests = await digestsToRead(sql, items, digestOf, isFirst);
      const arrived: Arrived[] = [];
      for (const item of items) {
        if (item.kind === "lazy" && !digests.has(item)) {
          arrived.push({ kind: "as before", item });
          continue;
        }
        try {
          const version = versionOf(staging, item);
          const valid = { ...(await judgeItem(sql, item, version, judge)), source_digest: digests.get(item) };
          if (isFirst) refuseFuture(valid, now());
          const prepared = identified(staging, judged, options.redactContacts ? withoutContacts(valid) : valid, version);
          arrived.push({ kind: "prepared", prepared, version });
        } catch (error) {
          rejects.add(item, rejectionOf(error));
          judged.rejected++;
          await notePresent(sql, staging, judged, item);
        }
      }
      const records = arrived.flatMap((each) => (each.kind === "prepared" ? [each.prepared] : []));
      const unchanged = isFirst ? new Set() : await findUnchanged(sql, records);
      for (const each of arrived) {
        if (each.kind === "as before") stageAsBefore(staging, judged, each.item);
        else stage(staging, each.prepared, unchanged.has(each.prepared), each.version);
      }
    });
    judged.read += read.length;
    await advance(context, { step: "reading", done: judged.read, share: shareRead(inputs) });
  }
  await advance(context, { step: "reading", done: judged.read, share: 1 });
  if (options.snapshot && !options.allowRemovals) for (const item of lastOf.values()) refuseCutOff(item);
  return judged;
}

/** An empty file holds no records, whatever its format (D-35). */
async function filled(inputs: readonly OpenInput[]): Promise<OpenInput[]> {
  const found: OpenInput[] = [];
  for (const input of inputs) if ((await firstCharacter(input.bytes())) !== "") found.push(input);
  return found;
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

/** Digests of those unread items that must be read, as they are not what the record was read from before. */
async function digestsToRead(
  sql: CatalogSql,
  items: readonly Item[],
  digestOf: (text: string) => Buffer,
  isFirst: boolean,
): Promise<Map<Item, Buffer>> {
  const digests = new Map<Item, Buffer>();
  const lazy = items.filter((item) => item.kind === "lazy");
  for (const [source, ofSource] of Map.groupBy(lazy, (item) => item.source)) {
    const ids = ofSource.map(({ id }) => id).filter((id) => usableKey(source, undefined, id)?.upstreamId !== undefined);
    const before = isFirst ? undefined : await findSourceDigests(sql, source, ids);
    for (const item of ofSource) {
      const digest = digestOf(item.digested);
      const known = before?.get(item.id);
      if (known === undefined || !digest.equals(known)) digests.set(item, digest);
    }
  }
  return digests;
}

/** What judging one item needs besides it. */
type Judge = { names: ReadonlyMap<string, string>; staging: Staging; format: Format; isFirst: boolean };

/** The version that an item is, and the record that it was placed in. */
function versionOf({ placements }: Staging, item: Item): Placed | undefined {
  if (item.kind !== "record" || item.version === undefined) return undefined;
  return placements.find(item.version.source, item.version.id);
}

async function judgeItem(sql: CatalogSql, item: Item, version: Placed | undefined, judge: Judge): Promise<ValidRecord> {
  const { names } = judge;
  if (item.kind === "rejected") throw new Rejection(item.reason);
  if (item.kind === "lazy") return withRelationships(sql, judgeRecord(item.read(), names), undefined);
  const valid = judgeRecord(await completed(sql, item, version), names);
  const revisions = item.revisions?.map(({ record, since }) => {
    const { content, status_basis } = judgeRecord(record, names);
    return { content, status_basis, since };
  });
  const parent = version === undefined ? undefined : await findParentId(sql, version, judge);
  return { ...(await withRelationships(sql, valid, parent)), ...(revisions === undefined ? {} : { revisions }) };
}

/** A partial record with what is stored of the fields that it leaves out. Its status is never left to an older one. */
async function completed(sql: CatalogSql, { record, partial, reconcile }: RecordItem, version: Placed | undefined): Promise<object> {
  const placed = (draft: object) => (version === undefined ? draft : { ...draft, lineage: version.lineage });
  const key = partial === undefined || version?.isForeign ? undefined : readNaturalKey(placed(record));
  const before = key === undefined ? undefined : await findStored(sql, key.source, key.lineage ?? key.upstreamId ?? "");
  if (before === undefined) return placed(record);
  const { status: _status, ...content } = readContent(before.document, before.sidecar);
  return filledIn(placed(reconcile?.(content) ?? record), content, partial === "adds");
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

/** The parent that was found, and the canonical record where the record names none. */
async function withRelationships(sql: CatalogSql, valid: ValidRecord, parentId: string | undefined): Promise<ValidRecord> {
  const { relationships } = valid.content;
  const parent_id = parentId ?? relationships.parent_id;
  const canonical_id = relationships.canonical_id ?? (await findCanonicalId(sql, valid.content));
  if (parent_id === relationships.parent_id && canonical_id === relationships.canonical_id) return valid;
  return { ...valid, content: { ...valid.content, relationships: { parent_id, canonical_id } } };
}

/** Every later change would have to follow a restored instant (D-31): a future one could not be undone. */
function refuseFuture({ restored }: ValidRecord, now: number): void {
  for (const [name, instant] of Object.entries(restored ?? {}))
    if (isFuture(instant, now)) throw new Rejection(`${name} must not lie in the future`, `, not ${formatInstant(instant)}`);
}

/** The record, rendered, with all earlier ids that are known of it. */
function identified(staging: Staging, judged: Judged, { restored, ...record }: ValidRecord, version: Placed | undefined): PreparedRecord {
  const { code, opportunity_id } = record.content.source;
  judged.sources.add(code);
  // Of a lineage that goes by another name, ids of records that this one supersedes in the same file stay findable (D-30).
  const known =
    record.lineage === opportunity_id || version !== undefined
      ? []
      : staging.addUpstreamIds(code, record.lineage, [opportunity_id, ...record.earlier_ids]);
  const earlier_ids = known.length > 1 ? known.filter((id) => id !== opportunity_id) : record.earlier_ids;
  const prepared = prepareRecord({ ...record, earlier_ids });
  if (!judged.isFirst || restored === undefined) return prepared;
  judged.newestRestored = Math.max(judged.newestRestored ?? restored.updated_at, restored.updated_at);
  return { ...prepared, restored };
}

function stage(
  staging: Staging,
  { rendered, source_digest, ...rest }: PreparedRecord,
  isUnchanged: boolean,
  version: Placed | undefined,
): void {
  const { text, parts, hash } = rendered;
  const { code } = rest.indexed.source;
  const rank = version?.facts === undefined ? undefined : { at: version.facts.posted_at ?? Number.MIN_SAFE_INTEGER, id: version.id };
  if (version?.isOlder) staging.put(code, rest.lineage, null, { rank });
  else if (isUnchanged) staging.put(code, rest.lineage, null, { hash, source_digest, rank });
  else
    staging.put(code, rest.lineage, JSON.stringify({ ...rest, parts } satisfies StagedFields), {
      rendered: text,
      hash,
      source_digest,
      rank,
    });
}

/** A prepared record without the parts that staging keeps separately. */
type StagedFields = Omit<PreparedRecord, "rendered" | "source_digest"> & Pick<RenderedContent, "parts">;

/** The record that was staged. */
export function unstaged({ text, rendered, hash, source_digest }: Staged): PreparedRecord {
  const { parts, ...prepared } = JSON.parse(text) as StagedFields; // Staged by this very import.
  return { ...prepared, rendered: { text: rendered, parts, hash }, source_digest: source_digest ?? undefined };
}

function stageAsBefore(staging: Staging, judged: Judged, { source, id }: LazyItem): void {
  judged.sources.add(source);
  staging.put(source, id, null);
}

/** A rejected record whose source and id can be read counts as present (D-34). */
async function notePresent(sql: CatalogSql, staging: Staging, judged: Judged, item: Item): Promise<void> {
  const version = versionOf(staging, item);
  if (version !== undefined) staging.placements.drop(version.source, version.id);
  const key = version ?? keyOf(item);
  if (key === undefined) return;
  const { source, lineage } = key;
  const upstreamId = "upstreamId" in key ? key.upstreamId : undefined;
  const lineages =
    lineage !== undefined
      ? [lineage]
      : upstreamId === undefined
        ? []
        : [upstreamId, ...(await lineagesOfUpstreamId(sql, source, upstreamId))];
  if (lineages.length > 0) judged.sources.add(source);
  for (const each of lineages) staging.putPresent(source, each);
}

function keyOf(item: Item): NaturalKey | undefined {
  if (item.kind === "record") return readNaturalKey(item.record);
  return item.kind === "lazy" ? usableKey(item.source, undefined, item.id) : usableKey(item.source, item.lineage, undefined);
}

/** Lines have no closing bracket: a snapshot whose last one cannot be read may have been cut off anywhere before the next. */
function refuseCutOff(last: Item): void {
  if (typeof last.raw !== "string") return;
  throw new Error(
    `Cannot import this snapshot: ${last.input.name} ends with a line that is no record (line ${last.line}), as a file does that was cut off; --allow-removals says that it is whole`,
  );
}

/** Warnings of one import, and the length at which one is cut: upstreams write what they quote. */
const WARNINGS_MAX = 200;
const WARNING_LENGTH_MAX = 300;

/** Tells each message once: a code that is unknown in ten thousand records is one piece of news. */
function once(notify: (message: string) => void): (message: string) => void {
  const told = new Set<string>();
  return (whole) => {
    const message = whole.length > WARNING_LENGTH_MAX ? `${whole.slice(0, WARNING_LENGTH_MAX).toWellFormed()}…` : whole;
    if (told.has(message) || told.size === WARNINGS_MAX) return;
    told.add(message);
    notify(message);
  };
}
