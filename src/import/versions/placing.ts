/**
 * Decides to which record each version belongs (D-30), before validation. One whose id a record has stays there; the others are placed one
 * by one, oldest first. (E-10)
 */
import type { CatalogSql } from "../../../db/engine.ts";
import {
  findShownVersions,
  findVersionRecords,
  listVersions,
  type VersionFacts,
  type VersionRecord,
  versionFactsOf,
} from "../../changes/versions.ts";
import { inBatches } from "../../runtime/batches.ts";
import { easternInstant } from "../../text/eastern.ts";
import { type EpochMs, isDate, parseInstantMs } from "../../text/instant.ts";
import type { ImportKind } from "../context.ts";
import type { Input, Item, Version, Versions } from "../format.ts";
import type { Rank } from "../staging.ts";
import { isUsableId, usableKey } from "../validate.ts";
import { easternDayOf, isNewer, newestOf } from "./newest.ts";
import { createSettled, type Settling } from "./settled.ts";
import { Threads } from "./threads.ts";
import { openVersionTable, type VersionKey, type VersionRow, type VersionTable } from "./version-table.ts";

const TAKEN_AT_ONCE = 100;

const TITLE_MAX = 500;

export type PlacedVersion = {
  source: string;
  id: string;
  lineage: string;
  facts: VersionFacts | undefined;
  /** Its record shows a newer version. */
  isOlder: boolean;
  /** It is the newest of several versions of its record in the files. */
  isNewest: boolean;
  digest: Uint8Array | undefined;
};

/** The versions in the files, each with its record. Empty if the format has no versions. */
export type Placements = Awaited<ReturnType<typeof placeVersions>>;

/** Places all versions that must be read, in a table of the staging database. */
export async function placeVersions(versions: Versions | undefined, files: readonly Input[], settling: Settling) {
  const { stored, staging, kind } = settling;
  const table = openVersionTable(staging.sqlite);
  const settled = createSettled(settling);
  if (versions !== undefined) {
    for (const [file, input] of files.entries())
      for await (const found of inBatches(versions.in([input]), TAKEN_AT_ONCE))
        for (const { version, digest } of await settled.take(found, table.has))
          add(table, "read" in version ? version.read() : version, digest, file);
    await placeAll(stored, table, versions.partOf ?? (() => ""), kind);
    for (const n of newestOf(table.candidates())) table.setNewest(n);
  }
  const { hasLineage, drop, phasesOf, isShared, newPhases } = table;
  return {
    settled,
    hasLineage,
    drop,
    phasesOf,
    isShared,
    newPhases,
    of(item: Item): PlacedVersion | undefined {
      const version = item.kind === "version" ? item : item.kind === "record" ? item.version : undefined;
      const row = version && table.find(version.source, version.id);
      return row && placedOf(row);
    },
    /** The versions of a record that are new, or have new facts. */
    unsavedOf: (source: string, lineage: string): PlacedVersion[] =>
      versions === undefined ? [] : table.unsavedOf(source, lineage).map(placedOf),
    *unsaved(): Iterable<PlacedVersion[]> {
      for (const batch of table.unsaved()) yield batch.map(placedOf);
    },
  };
}

/** The newest version is stored, or if that is rejected the one posted last. */
export function rankOf({ id, facts, isNewest }: PlacedVersion): Rank | undefined {
  if (facts === undefined) return undefined;
  return { at: isNewest ? Number.MAX_SAFE_INTEGER : (facts.posted_at ?? Number.MIN_SAFE_INTEGER), id };
}

function placedOf(row: VersionRow): PlacedVersion {
  const { source, id, lineage, is_older, is_newest, digest } = row;
  const flags = { isOlder: is_older === 1, isNewest: is_newest === 1 };
  return { source, id, lineage: lineage ?? id, facts: versionFactsOf(row), ...flags, digest: digest ?? undefined };
}

async function placeAll(stored: Stored, table: VersionTable, partOf: PartOf, kind: ImportKind): Promise<void> {
  if (kind === "later") for (const rows of table.unplaced()) await stored.readTransaction((sql) => placeKnown(sql, table, rows, partOf));
  for (const rows of table.naming()) await placeFamilies(stored, table, rows, partOf);
  table.placeByIds();
  for (const keys of table.unplacedKeys()) {
    const known = await stored.readTransaction((sql) => threadsOf(sql, keys));
    for (const [source, ofSource] of Map.groupBy(keys, (key) => key.source)) {
      const names = ofSource.map(({ revision_key }) => revision_key);
      for (const [key, rows] of Map.groupBy(table.ofKeys(source, names), ({ revision_key }) => revision_key ?? ""))
        placeByKey(table, rows, key, partOf(key) !== "", known.get(nameOf({ source, revision_key: key })) ?? new Threads());
    }
  }
  for (const rows of table.hidden()) await stored.readTransaction((sql) => compare(sql, table, rows));
}

/** A version that occurs twice keeps the first facts unless provisional, the more exact time, and the last digest. */
function add(table: VersionTable, { source, id, facts, others = [] }: Version, digest: Uint8Array | null, file: number): void {
  const usable = usableKey(source, facts?.key ?? id, id);
  if (usable?.lineage === undefined || usable.upstreamId === undefined) return; // Validation will reject its record.
  const { at, hasTime } = momentOf(facts?.posted ?? null);
  const { at: due_at } = momentOf(facts?.due ?? null);
  const { key = null, series = null, title = null } = facts ?? {};
  const known = table.find(source, id);
  const named = new Set([...othersOf(known), ...others.filter((other) => other !== id && isUsableId(source, other))]);
  const all = named.size === 0 ? null : JSON.stringify([...named]);
  for (const other of named) table.name(source, id, other);
  if (known !== undefined) {
    const better = facts !== undefined && isProvisional(known) && facts.key !== facts.series ? { revision_key: key, series } : {};
    const time = hasTime > known.has_time ? { posted_at: at, has_time: hasTime } : {};
    table.update({ ...known, ...better, ...time, due_at: known.due_at ?? due_at, others: all, digest });
    return;
  }
  const compared = title?.slice(0, TITLE_MAX).replaceAll("\0", "").toWellFormed() ?? null;
  const time = { posted_at: at, due_at, has_time: hasTime };
  table.add({ source, id, revision_key: key, series, title: compared, ...time, file, others: all, digest });
}

function othersOf(row: VersionRow | undefined): string[] {
  return row?.others == null ? [] : (JSON.parse(row.others) as string[]); // Written above.
}

function isProvisional({ revision_key, series }: { revision_key: string | null; series: string | null }): boolean {
  return revision_key !== null && revision_key === series;
}

function momentOf(text: string | null): { at: number | null; hasTime: number } {
  if (text === null) return { at: null, hasTime: 0 };
  const instant = isDate(text) ? easternInstant(text, "00:00:00") : text;
  return { at: parseInstantMs(instant) ?? null, hasTime: isDate(text) ? 0 : 1 };
}

type PartOf = NonNullable<Versions["partOf"]>;
type Stored = Settling["stored"];

async function placeKnown(sql: CatalogSql, table: VersionTable, rows: readonly VersionRow[], partOf: PartOf): Promise<void> {
  for (const [source, ofSource] of Map.groupBy(rows, (row) => row.source)) {
    const ids = ofSource.map(({ id }) => id);
    const recordsById = await findVersionRecords(sql, source, ids);
    for (const row of ofSource) {
      const record = recordsById.get(row.id);
      if (record === undefined) continue;
      const { lineage, shown_id, facts } = record;
      // A record may have only its id, because a version of another part named it.
      const isOfPart = partOf(lineage) === partOf(row.revision_key ?? "");
      if (facts !== undefined || shown_id === row.id || lineage === row.id || isOfPart) table.update(asKnown(row, record));
    }
  }
}

/** Versions that name each other, even through others, belong to one record for each part. */
async function placeFamilies(stored: Stored, table: VersionTable, rows: readonly VersionRow[], partOf: PartOf): Promise<void> {
  for (const [source, ofSource] of Map.groupBy(rows, (row) => row.source)) {
    const families = ofSource.map(({ id }) => table.takeFamily(source, id)).filter((ids) => ids.length > 1);
    const records = await stored.readTransaction((sql) => findVersionRecords(sql, source, families.flat()));
    for (const ids of families) {
      const unplaced = table.ofIds(source, ids).filter(({ lineage }) => lineage === null);
      for (const [part, ofPart] of Map.groupBy(unplaced, ({ revision_key }) => partOf(revision_key ?? ""))) {
        const recordOf = (id: string) => {
          const record = records.get(id);
          return record !== undefined && partOf(record.facts?.revision_key ?? record.lineage) === part ? record : undefined;
        };
        placeFamily(table, ofPart, ids, recordOf);
      }
    }
  }
}

/** With the record of a version that they name, or of another; without one, by the oldest key that is not provisional. */
function placeFamily(
  table: VersionTable,
  unplaced: readonly VersionRow[],
  ids: readonly string[],
  recordOf: (id: string) => VersionRecord | undefined,
): void {
  const keyed =
    unplaced.find((row) => row.revision_key !== null && !isProvisional(row)) ?? unplaced.find((row) => row.revision_key !== null);
  for (const row of unplaced) {
    const id = [...othersOf(row), ...ids].find((other) => recordOf(other) !== undefined);
    const record = id === undefined ? undefined : recordOf(id);
    if (record !== undefined) {
      table.update({ ...row, ...keyOf(record, row), lineage: record.lineage, is_hidden: 1 });
    } else if (keyed !== undefined) {
      const { revision_key, series, title } = keyed;
      const head = unplaced[0]?.id ?? row.id;
      table.update({ ...row, revision_key, series, title: row.title ?? title, head: head === row.id ? null : head });
    }
  }
}

function keyOf({ facts }: VersionRecord, row: VersionRow): Pick<VersionRow, "revision_key" | "series" | "title"> {
  if (facts === undefined || hasBetterKey(row, facts)) return row;
  return { revision_key: facts.revision_key, series: facts.series, title: row.title ?? facts.title };
}

function hasBetterKey(row: VersionRow, facts: VersionFacts): boolean {
  return isProvisional(facts) && row.revision_key !== null && !isProvisional(row);
}

/** Stored facts stay unless provisional, as the version was placed by them. A more exact time or another day replaces the stored. */
function asKnown(row: VersionRow, { lineage, shown_id, since, facts: stored }: VersionRecord): VersionRow {
  const facts = stored === undefined || hasBetterKey(row, stored) ? undefined : stored;
  const isOtherDay = () => easternDayOf(facts?.posted_at ?? null) !== easternDayOf(row.posted_at);
  const isNew = row.posted_at !== null && (row.has_time === 1 || isOtherDay());
  const posted_at = facts === undefined || isNew ? row.posted_at : facts.posted_at;
  const known = { ...row, ...facts, posted_at, lineage, since };
  const isSaved = known.revision_key === null || (facts !== undefined && posted_at === facts.posted_at);
  return { ...known, is_hidden: known.revision_key !== null && shown_id !== row.id ? 1 : 0, is_saved: isSaved ? 1 : 0 };
}

async function threadsOf(sql: CatalogSql, keys: readonly VersionKey[]): Promise<Map<string, Threads>> {
  const threads = new Map(keys.map((key) => [nameOf(key), new Threads()]));
  for (const [source, ofSource] of Map.groupBy(keys, (key) => key.source)) {
    const of = (revision_key: string) => threads.get(nameOf({ source, revision_key }));
    const keyOfLineage = new Map(ofSource.map(({ revision_key }) => [revision_key, revision_key]));
    const series = [...new Set(ofSource.map((key) => key.series))];
    for (const { revision_key, lineage, ...version } of await listVersions(sql, source, series)) {
      const known = of(revision_key);
      known?.join(lineage, keyedOf({ ...version, due_at: null }));
      if (known !== undefined && !keyOfLineage.has(lineage)) keyOfLineage.set(lineage, revision_key);
    }
    for (const { lineage, ids, ...version } of await findShownVersions(sql, source, [...keyOfLineage.keys()]))
      of(keyOfLineage.get(lineage) ?? "")?.addShown(lineage, keyedOf(version), ids);
  }
  return threads;
}

function nameOf({ source, revision_key }: Omit<VersionKey, "series">): string {
  return `${source}\n${revision_key}`;
}

/** Places the unplaced versions of one key, all with one record if `ignoresTitles`. `rows` are all of it, oldest first. */
function placeByKey(table: VersionTable, rows: readonly VersionRow[], key: string, ignoresTitles: boolean, threads: Threads): void {
  const [only] = rows;
  if (only?.lineage === null && rows.length + threads.lineages.length === 1) {
    table.place(only.n, key, false); // Most versions are alone.
    return;
  }
  for (const row of rows) if (row.lineage !== null && row.is_saved === 0) threads.join(row.lineage, keyedOf(row));
  const stored = new Set(threads.lineages);
  threads.putFirst(key);
  const placed = new Map<string, string>();
  for (const row of rows) {
    if (row.lineage !== null) continue;
    // A provisional key is the id of the first version: right whatever the titles are.
    const isOne = ignoresTitles || isProvisional(row);
    const version = { id: row.id, ...keyedOf(row) };
    const lineage = placed.get(row.head ?? "") ?? (isOne ? (threads.first ?? key) : threads.lineageOf(version, key));
    table.place(row.n, lineage, stored.has(lineage));
    placed.set(row.id, lineage);
    threads.join(lineage, version);
  }
}

function keyedOf({ title, posted_at, due_at }: { title: string | null; posted_at: EpochMs | null; due_at: EpochMs | null }) {
  return { title: title ?? "", day: easternDayOf(posted_at), posted_at, due_at };
}

async function compare(sql: CatalogSql, table: VersionTable, rows: readonly VersionRow[]): Promise<void> {
  for (const [source, ofSource] of Map.groupBy(rows, (row) => row.source)) {
    const lineages = [...new Set(ofSource.map(({ lineage }) => lineage ?? ""))];
    const byLineage = new Map((await findShownVersions(sql, source, lineages)).map((shown) => [shown.lineage, shown]));
    for (const row of ofSource) {
      const shown = byLineage.get(row.lineage ?? "");
      if (shown === undefined) continue;
      const inFiles = table.find(source, shown.shown_id); // Its time may be known now.
      const posted_at = inFiles?.posted_at ?? shown.posted_at;
      const kept = { id: shown.shown_id, posted_at, since: shown.since, file: Number.POSITIVE_INFINITY };
      table.update({ ...row, is_older: isNewer(row, kept) ? 0 : 1 });
    }
  }
}
