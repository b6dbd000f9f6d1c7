/** Keeps what the first pass has validated until the whole input is (D-33): keys and hashes in a small database, texts in spill files. */
import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Reread } from "../changes/commit.ts";
import type { PreparedRecord, RenderedContent } from "../changes/content.ts";
import type { EpochMs } from "../text/instant.ts";
import { openSpillFiles, type Spilled, type SpillFiles } from "./spill-files.ts";

const CACHE_KB = 8_000;

const NO_BYTES = new Uint8Array();

export type Staging = ReturnType<typeof openStaging>;

/** The latest version of a record is stored; among equal instants, the one with the greatest id. */
export type Rank = { at: EpochMs; id: string };

type Noted = { reread?: Pick<PreparedRecord, "indexed" | "rendered" | "source_digest">; rank?: Rank | undefined };

export type UpstreamId = { source: string; lineage: string; id: string };

type Counts = { toWrite: number; unchanged: number; reread: number };

const READ_AT_ONCE = 200;

const EVENT = "";

/** Opens an empty staging, in a data directory or, for ":memory:", in a temporary one. Only one import may use it: see `withStaging`. */
export function openStaging(directory: string) {
  const path = directory === ":memory:" ? mkdtempSync(join(tmpdir(), "fundfeed-")) : join(directory, "import.staging");
  if (directory !== ":memory:") rmSync(path, { recursive: true, force: true }); // What a killed import left is of no use.
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const sqlite = new Database(join(path, "keys.db"), { create: true, strict: true });
  const spillFiles = openSpillFiles(path);
  createTables(sqlite);
  const insertId = sqlite.query<unknown, [string, string, string]>("insert into upstream_ids values (?, ?, ?) on conflict do nothing");
  const idsOf = sqlite.query<{ id: string }, [string, string]>("select id from upstream_ids where source = ? and lineage = ?");
  const otherIds = sqlite.query<UpstreamId, [string, string, string]>(
    `select source, lineage, id from upstream_ids where (source, lineage, id) > (?, ?, ?) and not exists (
       select 1 from staged where staged.source = upstream_ids.source and staged.lineage = upstream_ids.lineage and file is not null
     ) order by 1, 2, 3 limit ${READ_AT_ONCE}`,
  );
  const upsert = sqlite.query<unknown, [string, string, ...(Uint8Array | string | number | null)[]]>(
    `insert or replace into staged (source, lineage, known, upstream_id, file, start, text_bytes, data_bytes, hash, source_digest, at, version)
     values (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const keepId = sqlite.query<unknown, [string, string]>(
    "insert into upstream_ids select source, lineage, upstream_id from staged where source = ? and lineage = ? and upstream_id is not null on conflict do nothing",
  );
  const insertPresent = sqlite.query<unknown, [string, string]>(
    "insert into staged (source, lineage, known) values (?, ?, 0) on conflict do nothing",
  );
  const insertAllUnchanged = sqlite.query<unknown, [string, string]>(
    "insert into staged (source, lineage, known, hash) select ?, value, 1, x'' from json_each(?) where true on conflict do nothing",
  );
  const counts = sqlite.query<Counts, []>(
    `select count(file) as toWrite, count(*) filter (where known and file is null) as unchanged,
       count(*) filter (where file is null and source_digest is not null) as reread
     from staged`,
  );
  const byKey = sqlite.query<unknown, [string, string]>("select 1 from staged where source = ? and lineage = ?");
  const toWriteByKey = sqlite.query<StagedRow, [string, string]>(
    "select file, start, text_bytes, data_bytes, hash, source_digest from staged where source = ? and lineage = ? and file is not null",
  );
  const toWrite = sqlite.query<StagedRow, []>(
    "select file, start, text_bytes, data_bytes, hash, source_digest from staged where file is not null order by seq",
  );
  const reread = sqlite.query<Reread, []>(
    "select source, lineage, hash, source_digest from staged where file is null and source_digest is not null order by seq",
  );
  const newer = sqlite.query<unknown, [string, string, EpochMs, string]>(
    "select 1 from staged where source = ? and lineage = ? and (at, version) > (?, ?)",
  );
  /** Only then can a replaced record have had another id. */
  let hasOtherIds = false;
  let counted: Counts | undefined;
  const count = () => (counted ??= counts.get() ?? { toWrite: 0, unchanged: 0, reread: 0 }); // Cached, because it reads the whole table.
  const isOlder = (source: string, lineage: string, rank: Rank | undefined) =>
    rank !== undefined && newer.get(source, lineage, rank.at, rank.id) !== null;

  function put(source: string, lineage: string, { id, spilled, hash, digest, rank }: Staged): void {
    counted = undefined;
    if (rank === undefined) hasOtherIds ||= id !== undefined && id !== lineage; // Ids of versions are kept by `versions`.
    if (hasOtherIds) keepId.run(source, lineage);
    const { file = null, start = null, text_bytes = null, data_bytes = null } = spilled ?? {};
    const values = [id ?? null, file, start, text_bytes, data_bytes, hash, digest ?? null, rank?.at ?? null, rank?.id ?? null];
    upsert.run(source, lineage, ...values);
  }

  return {
    /** A step of the import may keep a table of its own here. */
    sqlite,
    /** Keeps a record to store. It replaces one with the same natural key, unless its rank is lower. */
    putRecord({ rendered, source_digest, ...rest }: PreparedRecord, rank?: Rank) {
      const { code, opportunity_id } = rest.indexed.source;
      if (isOlder(code, rest.lineage, rank)) return;
      const { text, parts, hash } = rendered;
      const spilled = spillFiles.append(JSON.stringify({ ...rest, parts } satisfies StagedFields), text);
      put(code, rest.lineage, { id: opportunity_id, spilled, hash, digest: source_digest, rank });
    },
    /** Notes a record that is stored. With `reread`, its new source digest will be stored. */
    putUnchanged(source: string, lineage: string, { reread, rank }: Noted = {}) {
      if (isOlder(source, lineage, rank)) return;
      const id = reread?.indexed.source.opportunity_id;
      put(source, lineage, { id, hash: reread?.rendered.hash ?? NO_BYTES, digest: reread?.source_digest, rank });
    },
    putAllUnchanged(source: string, lineages: readonly string[]) {
      counted = undefined;
      insertAllUnchanged.run(source, JSON.stringify(lineages));
    },
    /** Notes that a record is in the input although nothing of it will be stored (D-34). */
    putPresent: (source: string, lineage: string) => void insertPresent.run(source, lineage),
    putEvent: (id: string, json: string) => put(EVENT, id, { spilled: spillFiles.append(json, NO_BYTES), hash: NO_BYTES }),
    has: (source: string, lineage: string) => byKey.get(source, lineage) !== null,
    isToWrite: (source: string, lineage: string) => toWriteByKey.get(source, lineage) !== null,
    findRecord(source: string, lineage: string): PreparedRecord | undefined {
      const row = toWriteByKey.get(source, lineage);
      return row === null ? undefined : recordOf(row, spillFiles.peek(row));
    },
    /** Notes upstream ids of a record, whichever of its versions is stored. */
    addUpstreamIds(source: string, lineage: string, ids: readonly string[]) {
      for (const id of ids) insertId.run(source, lineage, id);
    },
    upstreamIdsOf: (source: string, lineage: string) => idsOf.all(source, lineage).map(({ id }) => id),
    otherUpstreamIds: () => batches({ source: "", lineage: "", id: "" }, ({ source, lineage, id }) => otherIds.all(source, lineage, id)),
    /** The records to store, in order, `size` at a time. Read each chunk to its end, and all once. Parsed one by one: a chunk takes 100 MB. */
    chunks: (size: number) =>
      inChunks(
        Iterator.from(toWrite.iterate()).map((row) => recordOf(row, spillFiles.read(row))),
        count().toWrite,
        size,
      ),
    eventChunks: (size: number) =>
      inChunks(
        Iterator.from(toWrite.iterate()).map((row) => spillFiles.read(row).text),
        count().toWrite,
        size,
      ),
    reread: (size: number) => inChunks(reread.iterate(), count().reread, size),
    counts: () => ({ toWrite: count().toWrite, unchanged: count().unchanged }),
    [Symbol.dispose]() {
      sqlite.close(true); // With all statements: an open one would keep the file open.
      spillFiles.close();
      rmSync(path, { recursive: true });
    },
  };
}

function createTables(sqlite: Database): void {
  sqlite.run(`pragma cache_size = -${CACHE_KB}`);
  sqlite.run("pragma journal_mode = memory"); // SQLite deletes a journal file by its name, and the next import's has the same. Bun refuses "off".
  sqlite.run("pragma synchronous = off");
  sqlite.run(
    `create table staged (seq integer primary key, source text not null, lineage text not null, known integer not null, upstream_id text,
       file integer, start integer, text_bytes integer, data_bytes integer, hash blob, source_digest blob, at integer, version text)`,
  );
  sqlite.run("create unique index staged_key on staged (source, lineage)");
  sqlite.run("create table upstream_ids (source text, lineage text, id text, primary key (source, lineage, id)) without rowid");
  sqlite.run("begin");
}

type Staged = {
  id?: string | undefined;
  spilled?: Spilled;
  hash: Uint8Array;
  digest?: Uint8Array | undefined;
  rank?: Rank | undefined;
};

type StagedRow = Spilled & { hash: Uint8Array; source_digest: Uint8Array | null };

type StagedFields = Omit<PreparedRecord, "rendered" | "source_digest"> & Pick<RenderedContent, "parts">;

function recordOf({ hash, source_digest }: StagedRow, { text, data }: ReturnType<SpillFiles["read"]>): PreparedRecord {
  const { parts, ...fields } = JSON.parse(text) as StagedFields;
  return { ...fields, rendered: { text: data, parts, hash }, source_digest: source_digest ?? undefined };
}

/** Batches of rows, each read after the last row of the one before. */
export function* batches<Place, Row extends Place>(first: Place, readAfter: (last: Place) => Row[]): Iterable<Row[]> {
  for (let last: Place | undefined = first; last !== undefined; ) {
    const rows = readAfter(last);
    if (rows.length > 0) yield rows;
    last = rows.at(-1);
  }
}

function* inChunks<T>(items: Iterator<T>, total: number, size: number): Iterable<Iterable<T>> {
  for (let done = 0; done < total; done += size) yield take(items, Math.min(size, total - done));
}

function* take<T>(items: Iterator<T>, count: number): Iterable<T> {
  for (let taken = 0; taken < count; taken++) yield items.next().value as T;
}
