/** A copy in an SQLite file. Each page is saved with the state of the walk in one transaction, so an interrupted walk continues at the next page. */
import { Database } from "bun:sqlite";
import { existsSync, rmSync, statSync } from "node:fs";
import type { SyncState } from "../../clients/typescript/src/fundfeed.ts";
import { identityOf } from "../../db/file-identity.ts";
import { markOwnFile, requireOwnFile, WAIT_MS } from "../../db/own-file.ts";
import { codeOf, Failure, reasonOf } from "../../db/reason.ts";
import { addEventTo, prepareTables, putInto } from "../sql/file.ts";
import { goneMessage, type MirrorPage, requireScope, type Scope, type Store, scopeText } from "./store.ts";

const MIRROR_TABLE = `
create table if not exists mirror (only integer primary key check (only = 1), scope text not null, since text, newest text, cursor text, events text) strict;
`;

type Connection = ReturnType<typeof connect>;

/** Opens or creates a copy of this scope. If the file is removed or replaced later, the next walk opens what is there. */
export function openSqliteStore(path: string, scope: Scope, tell: (message: string) => void = () => undefined): Store {
  let connection: Connection | undefined = connect(path, scope);
  const reopen = () => {
    connection?.leave();
    connection = undefined;
    const message = goneMessage(path);
    const reopened = connect(path, scope);
    tell(message);
    return reopened;
  };
  return {
    begin: async (restart) => {
      if (connection?.isInPlace() !== true) connection = reopen();
      return connection.begin(restart);
    },
    save: async (page, next) => {
      const added = connection?.save(page, next) ?? 0;
      if (connection?.isInPlace() !== true) throw new Error(`${path} was removed or replaced`);
      return added;
    },
    close: async () => connection?.close(),
  };
}

function connect(path: string, scope: Scope) {
  let isEmpty = !existsSync(path);
  const sqlite = open(path, scope);
  const [identity, logPath] = [identityOf(path), `${path}-wal`];
  let log = identityOf(logPath);
  const readWalk = sqlite.query<SyncState, []>("select since, newest, cursor, events from mirror");
  const putWalk = sqlite.query("update mirror set since = $since, newest = $newest, cursor = $cursor, events = $events");
  const [put, add] = [putInto(sqlite), addEventTo(sqlite)];
  /** As this program last read or wrote it. If another program has stored a page since, this one must not store its own. */
  let walk = JSON.stringify(readWalk.get());
  const saveAll = sqlite.transaction(({ entries, added }: MirrorPage, next: SyncState) => {
    if (JSON.stringify(readWalk.get()) !== walk) throw new Error(`another program also writes to ${path}`);
    for (const { history, ...opportunity } of entries) put(opportunity, history);
    const news = added.filter(add).length;
    putWalk.run(next);
    return { walk: JSON.stringify(readWalk.get()), news };
  });
  let isLogEmpty = false; // A killed run may have left one.
  const isInPlace = () => identityOf(path) === identity;
  return {
    isInPlace,
    begin: (restart: boolean): SyncState => {
      if (restart) sqlite.run("update mirror set newest = null, cursor = null");
      const found = readWalk.get() ?? { since: null, newest: null, cursor: null, events: null };
      walk = JSON.stringify(found);
      return found;
    },
    save: (page: MirrorPage, next: SyncState) => {
      let news = 0;
      try {
        ({ walk, news } = saveAll.immediate(page, next));
      } catch (error) {
        throw isDamage(error) ? new Error(`${path} is damaged; start a new copy`, { cause: error }) : error;
      }
      isEmpty = false;
      if (page.entries.length + news > 0) isLogEmpty = false;
      if (next.cursor === null && !isLogEmpty) isLogEmpty = emptyLog(sqlite);
      if (isInPlace()) log = identityOf(logPath);
      return news;
    },
    close: () => {
      sqlite.close(true);
      if (isEmpty && isInPlace()) rmSync(path); // Closing it removed its log.
    },
    /** Closes a file that was removed or replaced, and removes its log, which SQLite would apply to the next file at the path. */
    leave: () => {
      sqlite.close(true);
      if (log !== undefined && identityOf(logPath) === log) rmSync(logPath);
    },
  };
}

/** Empties the write-ahead log, because it may hold contacts that the server has erased. Returns false if a reader prevents it. */
function emptyLog(sqlite: Database): boolean {
  sqlite.run("pragma busy_timeout = 0");
  try {
    return sqlite.query<{ busy: number }, []>("pragma wal_checkpoint(truncate)").get()?.busy === 0;
  } finally {
    sqlite.run(`pragma busy_timeout = ${WAIT_MS}`);
  }
}

function open(path: string, scope: Scope): Database {
  let sqlite: Database | undefined;
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error("it is not a regular file");
    sqlite = new Database(path, { create: true, strict: true });
    sqlite.run(`pragma busy_timeout = ${WAIT_MS}`);
    requireOwnFile(sqlite, "copy");
    sqlite.run("pragma secure_delete = on"); // Replaced documents must not remain in unused parts of the file.
    sqlite.run("pragma journal_mode = wal"); // Readers of the copy need not wait.
    sqlite.run("pragma synchronous = normal"); // After a power failure, the last pages may be missing, but the walk is then missing them too.
    markOwnFile(sqlite, "copy");
    prepareTables(sqlite);
    sqlite.run(MIRROR_TABLE);
    sqlite.query("insert into mirror (only, scope) values (1, ?) on conflict do nothing").run(scopeText(scope));
    requireScope(sqlite.query<{ scope: string }, []>("select scope from mirror").get()?.scope ?? "", scope);
    return sqlite;
  } catch (error) {
    sqlite?.close();
    throw new Failure(`Cannot keep a copy in ${path}: ${isDamage(error) ? "it is damaged; start a new copy" : reasonOf(error)}`);
  }
}

function isDamage(error: unknown): boolean {
  return codeOf(error).startsWith("SQLITE_CORRUPT");
}
