/** A copy in an SQLite file. Each page is saved with the state of the walk in one transaction, so an interrupted walk continues at the next page. */
import { Database } from "bun:sqlite";
import { reasonOf } from "../../db/reason.ts";
import { prepareTables, putInto } from "../sql/file.ts";
import { type Entry, requireScope, type Scope, type Store, scopeText, type Walk } from "./store.ts";

/** "ffmr" in ASCII. */
const APPLICATION_ID = 0x66666d72;
const WAIT_MS = 30_000;

const MIRROR_TABLE = `
create table if not exists mirror (only integer primary key check (only = 1), scope text not null, since text, newest text, cursor text) strict;
`;

/** Opens or creates a copy in an SQLite file. Throws if the file is not a copy of this scope. `onUpgrade` is called before an older file is rebuilt. */
export function openSqliteStore(path: string, scope: Scope, onUpgrade?: () => void): Store {
  const sqlite = open(path, scope, onUpgrade);
  const walk = sqlite.query<Walk, []>("select since, newest, cursor from mirror");
  const putWalk = sqlite.query("update mirror set since = $since, newest = $newest, cursor = $cursor");
  const put = putInto(sqlite);
  const saveAll = sqlite.transaction((entries: readonly Entry[], next: Walk) => {
    for (const { history, ...opportunity } of entries) put(opportunity, history);
    putWalk.run(next);
  });
  let isLogEmpty = false; // A killed run may have left one.
  return {
    begin: async (restart) => {
      if (restart) sqlite.run("update mirror set newest = null, cursor = null");
      return walk.get() ?? { since: null, newest: null, cursor: null };
    },
    save: async (entries, next) => {
      saveAll.immediate(entries, next);
      if (entries.length > 0) isLogEmpty = false;
      if (next.cursor === null && !isLogEmpty) isLogEmpty = emptyLog(sqlite);
    },
    close: async () => sqlite.close(true),
  };
}

/** Empties the write-ahead log, because it may hold contacts that the server has erased. Returns false if a reader prevents it. */
function emptyLog(sqlite: Database): boolean {
  sqlite.run("pragma busy_timeout = 0");
  const isBusy = sqlite.query<{ busy: number }, []>("pragma wal_checkpoint(truncate)").get()?.busy !== 0;
  sqlite.run(`pragma busy_timeout = ${WAIT_MS}`);
  return !isBusy;
}

function open(path: string, scope: Scope, onUpgrade?: () => void): Database {
  let sqlite: Database | undefined;
  try {
    sqlite = new Database(path, { create: true, strict: true });
    sqlite.run(`pragma busy_timeout = ${WAIT_MS}`);
    refuseForeignFile(sqlite);
    sqlite.run("pragma secure_delete = on"); // Replaced documents must not remain in unused parts of the file.
    sqlite.run("pragma journal_mode = wal"); // Readers of the copy need not wait.
    sqlite.run("pragma synchronous = normal"); // After a power failure, the last pages may be missing, but the walk is then missing them too.
    sqlite.run(`pragma application_id = ${APPLICATION_ID}`);
    prepareTables(sqlite, onUpgrade);
    sqlite.run(MIRROR_TABLE);
    sqlite.query("insert into mirror (only, scope) values (1, ?) on conflict do nothing").run(scopeText(scope));
    requireScope(sqlite.query<{ scope: string }, []>("select scope from mirror").get()?.scope ?? "", scope);
    return sqlite;
  } catch (error) {
    sqlite?.close();
    throw new Error(`Cannot keep a copy in ${path}: ${reasonOf(error)}`);
  }
}

function refuseForeignFile(sqlite: Database): void {
  const isOurs = sqlite.query<{ application_id: number }, []>("pragma application_id").get()?.application_id === APPLICATION_ID;
  if (!isOurs && sqlite.query("select 1 from sqlite_master").get() !== null) throw new Error("it is another program's database");
}
