/** Where an import keeps what it has judged until all of it is judged (D-33): keys and hashes in a database, the texts in files beside it. */
import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Reread } from "../changes/commit.ts";
import { openPlacements, type Placements } from "./placing.ts";
import { openTexts, type Place, type Texts } from "./spill-files.ts";

const CACHE_KB = 8_000;

const NOTHING = new Uint8Array();
const NOWHERE = { file: null, start: null, textBytes: null, besideBytes: null };

export type Staging = {
  placements: Placements;
  /**
   * Keeps a record by its natural key. A later one of the same key takes its place, unless `rank` says that it is an older version.
   * `text` is `null` when the catalog says the same.
   */
  put: (source: string, lineage: string, text: string | null, content?: StagedContent) => void;
  /** Notes that a record is there although nothing of it is to be stored (a rejected one, D-34). */
  putPresent: (source: string, lineage: string) => void;
  has: (source: string, lineage: string) => boolean;
  /** Whether there is something to write of a record. */
  isToWrite: (source: string, lineage: string) => boolean;
  /** Notes upstream ids that records of a lineage bear, and answers with all that were noted of it. */
  addUpstreamIds: (source: string, lineage: string, ids: readonly string[]) => string[];
  /** What needs writing, in the order of arrival, `size` at a time; each chunk is to be read to its end before the next, and all of it once. */
  chunks: (size: number) => Iterable<Iterable<Staged>>;
  /** Unchanged records with a new source digest, `size` at a time. */
  reread: (size: number) => Iterable<Iterable<Reread>>;
  counts: () => { toWrite: number; unchanged: number };
  close: () => void;
};

export type Staged = { text: string; rendered: Uint8Array; hash: Uint8Array; source_digest: Uint8Array | null };

/** A record's rendered content and its hash, and its source digest if that is new. */
type StagedContent = {
  rendered?: Uint8Array | undefined;
  hash?: Uint8Array;
  source_digest?: Uint8Array | undefined;
  rank?: Rank | undefined;
};

/** Of one record's versions, the one of the latest instant holds, and of these the one of the greatest id. */
export type Rank = { at: number; id: string };

type Counts = { toWrite: number; unchanged: number; reread: number };

/** An empty staging place in a data directory, or elsewhere for ":memory:". One import at a time may have it: `withStaging` sees to that. */
export function openStaging(directory: string): Staging {
  const path = directory === ":memory:" ? mkdtempSync(join(tmpdir(), "fundfeed-")) : emptied(join(directory, "import.staging"));
  const sqlite = new Database(join(path, "keys.db"), { create: true, strict: true });
  const texts = openTexts(path);
  return stagingIn(sqlite, texts, () => {
    sqlite.close();
    texts.close();
    rmSync(path, { recursive: true });
  });
}

/** What a killed import left is worthless. */
function emptied(path: string): string {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}

function stagingIn(sqlite: Database, texts: Texts, close: () => void): Staging {
  sqlite.run(`pragma cache_size = -${CACHE_KB}`);
  sqlite.run("pragma journal_mode = off");
  sqlite.run("pragma synchronous = off");
  sqlite.run(
    `create table staged (place integer primary key, source text not null, lineage text not null, known integer not null,
       file integer, start integer, textBytes integer, besideBytes integer, hash blob, source_digest blob, at integer, version text)`,
  );
  sqlite.run("create unique index staged_key on staged (source, lineage)");
  sqlite.run("create table borne (source text, lineage text, id text, primary key (source, lineage, id)) without rowid");
  sqlite.run("begin");
  const bear = sqlite.query<unknown, [string, string, string]>("insert into borne values (?, ?, ?) on conflict do nothing");
  const borne = sqlite.query<{ id: string }, [string, string]>("select id from borne where source = ? and lineage = ?");
  const put = sqlite.query<unknown, [string, string, ...(Uint8Array | string | number | null)[]]>(
    `insert or replace into staged (source, lineage, known, file, start, textBytes, besideBytes, hash, source_digest, at, version)
     values (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const putPresent = sqlite.query<unknown, [string, string]>(
    "insert into staged (source, lineage, known) values (?, ?, 0) on conflict do nothing",
  );
  const counts = sqlite.query<Counts, []>(
    `select count(file) as toWrite, count(*) filter (where known and file is null) as unchanged,
       count(*) filter (where file is null and source_digest is not null) as reread
     from staged`,
  );
  const has = sqlite.query<unknown, [string, string]>("select 1 from staged where source = ? and lineage = ?");
  const writes = sqlite.query<unknown, [string, string]>("select 1 from staged where source = ? and lineage = ? and file is not null");
  const toWrite = sqlite.query<Place & Pick<Staged, "hash" | "source_digest">, []>(
    "select file, start, textBytes, besideBytes, hash, source_digest from staged where file is not null order by place",
  );
  const reread = sqlite.query<Reread, []>(
    "select source, lineage, hash, source_digest from staged where file is null and source_digest is not null order by place",
  );
  const newer = sqlite.query<unknown, [string, string, number, string]>(
    "select 1 from staged where source = ? and lineage = ? and (at, version) > (?, ?)",
  );
  let counted: Counts | undefined;
  const count = () => (counted ??= counts.get() ?? { toWrite: 0, unchanged: 0, reread: 0 }); // It reads the whole file.
  return {
    placements: openPlacements(sqlite),
    put(source, lineage, text, { rendered = NOTHING, hash = NOTHING, source_digest, rank } = {}) {
      if (rank !== undefined && newer.get(source, lineage, rank.at, rank.id) !== null) return;
      counted = undefined;
      const at = text === null ? undefined : texts.append(text, rendered);
      const { file, start, textBytes, besideBytes } = at ?? NOWHERE;
      put.run(source, lineage, file, start, textBytes, besideBytes, hash, source_digest ?? null, rank?.at ?? null, rank?.id ?? null);
    },
    putPresent: (source, lineage) => void putPresent.run(source, lineage),
    has: (source, lineage) => has.get(source, lineage) !== null,
    isToWrite: (source, lineage) => writes.get(source, lineage) !== null,
    addUpstreamIds: (source, lineage, ids) => {
      for (const id of ids) bear.run(source, lineage, id);
      return borne.all(source, lineage).map(({ id }) => id);
    },
    chunks: (size) => inChunks(withTexts(toWrite.iterate(), texts), count().toWrite, size),
    reread: (size) => inChunks(reread.iterate(), count().reread, size),
    counts: () => ({ toWrite: count().toWrite, unchanged: count().unchanged }),
    close,
  };
}

function* withTexts(rows: Iterable<Place & Pick<Staged, "hash" | "source_digest">>, texts: Texts): Iterator<Staged> {
  for (const row of rows) {
    const { text, beside } = texts.read(row);
    yield { text, rendered: beside, hash: row.hash, source_digest: row.source_digest };
  }
}

/** Parts of an iterator that gives `total` items. */
function* inChunks<T>(items: Iterator<T>, total: number, count: number): Iterable<Iterable<T>> {
  for (let done = 0; done < total; done += count) yield take(items, Math.min(count, total - done));
}

function* take<T>(items: Iterator<T>, count: number): Iterable<T> {
  for (let taken = 0; taken < count; taken++) yield items.next().value as T;
}
