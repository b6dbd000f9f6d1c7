/** Where an import keeps what it has judged until all of it is judged (D-33). */
import { Database } from "bun:sqlite";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Unchanged } from "../changes/commit.ts";

/** Records have some 4 KB: a small page would hold one and leave the rest of itself empty. */
const PAGE_BYTES = 32_768;
const CACHE_KB = 8_000;

const NOTHING = new Uint8Array();

export type Staging = {
  /** Keeps a record by its natural key; a later one of the same key takes its place. `text` is `null` when the catalogue says the same. */
  put: (source: string, lineage: string, text: string | null, beside?: Beside) => void;
  /** Notes that a record is there although nothing of it is to be stored (a rejected one, D-34). */
  putPresent: (source: string, lineage: string) => void;
  has: (source: string, lineage: string) => boolean;
  /** Notes upstream ids that records of a lineage bear, and answers with all that were noted of it. */
  addUpstreamIds: (source: string, lineage: string, ids: readonly string[]) => string[];
  /** What needs writing, in the order of arrival, `size` at a time; each chunk is to be read to its end before the next. */
  chunks: (size: number) => Iterable<Iterable<Staged>>;
  /** Unchanged records that were read from something else, `size` at a time. */
  readAnew: (size: number) => Iterable<Iterable<Unchanged>>;
  counts: () => { toWrite: number; unchanged: number };
  close: () => void;
};

export type Staged = { text: string; rendered: Uint8Array; hash: Uint8Array; reading: Uint8Array | null };

/** What a record says, the hash of that, and of what it was read from where that is something else than before. */
type Beside = { rendered?: Uint8Array | undefined; hash?: Uint8Array; reading?: Uint8Array | undefined };

type Counts = { toWrite: number; unchanged: number; readAnew: number };

/** An empty staging file in a directory, or in ":memory:". One import at a time may have it: `withStaging` sees to that. */
export function openStaging(directory: string): Staging {
  if (directory === ":memory:") return stagingIn(new Database(":memory:", { strict: true }), () => undefined);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, "import.staging");
  rmSync(path, { force: true }); // What a killed import left is worthless.
  return stagingIn(new Database(path, { create: true, strict: true }), () => rmSync(path, { force: true }));
}

function stagingIn(sqlite: Database, afterwards: () => void): Staging {
  sqlite.run(`pragma page_size = ${PAGE_BYTES}`);
  sqlite.run(`pragma cache_size = -${CACHE_KB}`);
  sqlite.run("pragma journal_mode = off");
  sqlite.run("pragma synchronous = off");
  sqlite.run(
    `create table staged (place integer primary key, source text not null, lineage text not null, known integer not null,
       text text, rendered blob, hash blob, reading blob)`,
  );
  sqlite.run("create unique index staged_key on staged (source, lineage)");
  sqlite.run("create table borne (source text, lineage text, id text, primary key (source, lineage, id)) without rowid");
  sqlite.run("begin");
  const bear = sqlite.query<unknown, [string, string, string]>("insert into borne values (?, ?, ?) on conflict do nothing");
  const borne = sqlite.query<{ id: string }, [string, string]>("select id from borne where source = ? and lineage = ?");
  const put = sqlite.query<unknown, [string, string, ...(Uint8Array | string | null)[]]>(
    `insert into staged (source, lineage, known, text, rendered, hash, reading) values (?, ?, 1, ?, ?, ?, ?)
     on conflict do update set known = 1, text = excluded.text, rendered = excluded.rendered, hash = excluded.hash, reading = excluded.reading`,
  );
  const putPresent = sqlite.query<unknown, [string, string]>(
    "insert into staged (source, lineage, known) values (?, ?, 0) on conflict do nothing",
  );
  const counts = sqlite.query<Counts, []>(
    `select count(text) as toWrite, count(*) filter (where known and text is null) as unchanged,
       count(*) filter (where text is null and reading is not null) as readAnew
     from staged`,
  );
  const has = sqlite.query<unknown, [string, string]>("select 1 from staged where source = ? and lineage = ?");
  const toWrite = sqlite.query<Staged, []>("select text, rendered, hash, reading from staged where text is not null order by place");
  const readAnew = sqlite.query<Unchanged, []>(
    "select source, lineage, hash, reading from staged where text is null and reading is not null order by place",
  );
  let counted: Counts | undefined;
  const count = () => (counted ??= counts.get() ?? { toWrite: 0, unchanged: 0, readAnew: 0 }); // It reads the whole file.
  return {
    put(source, lineage, text, { rendered = NOTHING, hash = NOTHING, reading } = {}) {
      counted = undefined;
      put.run(source, lineage, text, rendered, hash, reading ?? null);
    },
    putPresent: (source, lineage) => void putPresent.run(source, lineage),
    has: (source, lineage) => has.get(source, lineage) !== null,
    addUpstreamIds: (source, lineage, ids) => {
      for (const id of ids) bear.run(source, lineage, id);
      return borne.all(source, lineage).map(({ id }) => id);
    },
    chunks: (size) => inChunks(toWrite.iterate(), count().toWrite, size),
    readAnew: (size) => inChunks(readAnew.iterate(), count().readAnew, size),
    counts: () => ({ toWrite: count().toWrite, unchanged: count().unchanged }),
    close: () => {
      sqlite.close();
      afterwards();
    },
  };
}

/** Parts of an iterator that gives `total` items. */
function* inChunks<T>(items: Iterator<T>, total: number, count: number): Iterable<Iterable<T>> {
  for (let done = 0; done < total; done += count) yield take(items, Math.min(count, total - done));
}

function* take<T>(items: Iterator<T>, count: number): Iterable<T> {
  for (let taken = 0; taken < count; taken++) yield items.next().value as T;
}
