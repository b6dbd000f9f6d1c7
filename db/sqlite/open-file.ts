/** Notices when an open database file is replaced, overwritten or removed, and then keeps its log away from the next file at its path. */
import type { Database } from "bun:sqlite";
import { existsSync, readSync, rmSync, truncateSync } from "node:fs";
import type { FileState } from "../engine.ts";
import { identityOf } from "../file-identity.ts";
import { commitMark } from "./commit-counter.ts";
import { shareDescriptor } from "./descriptors.ts";
import { noteLogOwner, removeLogOwner } from "./log-owner.ts";

type OpenFile = {
  /** If the file is no longer intact, also removes its log, which would damage the next file at the path. */
  check: () => FileState;
  /** A number that changes with every commit; NaN once the connection is closed. */
  commits: () => number;
  /** Closes the connection. */
  close: () => void;
};

/** Owns `sqlite` from here on. The file at `path` must have been read through it, so that its log and index exist. */
export function ownFile(path: string, sqlite: Database): OpenFile {
  const [log, index] = [`${path}-wal`, `${path}-shm`];
  const own = { log: identityOf(log), index: identityOf(index) };
  const watch = watchFile(path, () => checkpoint(sqlite));
  noteLogOwner(path);
  let state: FileState = "intact";
  let isOpen = true;

  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    sqlite.close(true); // With all statements: an open one would keep the file and its log open.
    watch.release();
    if (!existsSync(log)) removeLogOwner(path);
  };
  const removeLog = () => {
    const isWrittenBack = state !== "overwritten" && checkpoint(sqlite); // Into the open file, which somebody may have moved elsewhere.
    if (state === "missing" && !isWrittenBack) return; // The file may come back.
    if (identityOf(log) === own.log) {
      if (state === "overwritten") truncateSync(log); // SQLite would write it into the file on closing.
      rmSync(log, { force: true });
      removeLogOwner(path);
    }
    if (identityOf(index) === own.index) rmSync(index, { force: true });
  };
  const check = () => {
    if (!isOpen) return state;
    state = watch.state();
    if (state !== "intact") removeLog();
    if (state === "overwritten" && !sqlite.inTransaction) close(); // Its lock would keep others from the new content.
    return state;
  };
  return {
    check,
    commits: () => (isOpen ? watch.commits() : Number.NaN),
    close: () => {
      check();
      close();
    },
  };
}

/** Writes the log back into the file, as far as possible at the moment. Returns whether that was all of it. */
function checkpoint(sqlite: Database): boolean {
  try {
    const done = sqlite.query<{ log: number; checkpointed: number }, []>("pragma wal_checkpoint(passive)").get();
    return done !== null && done.log === done.checkpointed;
  } catch {
    return false; // This connection is in a transaction, or the disk is full.
  }
}

type FileWatch = {
  state: () => FileState;
  commits: () => number;
  /** Call it only after the connection is closed. */
  release: () => void;
};

/** `writeBack` writes the log back into the file, if the connection may write. */
export function watchFile(path: string, writeBack: () => void = () => undefined): FileWatch {
  const identity = identityOf(path);
  const [file, index] = [shareDescriptor(path), shareDescriptor(`${path}-shm`)];
  const isHeaderForeign = watchHeader(file.descriptor, index.descriptor, writeBack);
  let isOverwritten = false;
  return {
    state: () => {
      isOverwritten ||= isHeaderForeign();
      if (isOverwritten) return "overwritten";
      const present = identityOf(path);
      if (present === undefined) return "missing";
      return present === identity ? "intact" : "replaced";
    },
    commits: commitMark(index.descriptor),
    release: () => {
      file.release();
      index.release();
    },
  };
}

const HEADER_BYTES = 100;
/** In the index: the log's salts, how many frames were written back, and how many were to be (sqlite.org/walformat.html, section 2). */
const [SALTS_AT, WRITTEN_BACK_AT, ATTEMPTED_AT, INDEX_BYTES] = [32, 96, 128, 132];

/**
 * Returns a function that says whether another program changed the file's header since the last call. SQLite itself writes to a file that
 * has a log only when it writes the log back, and the index shows that.
 */
function watchHeader(file: number, index: number, writeBack: () => void): () => boolean {
  const header = Buffer.alloc(HEADER_BYTES);
  const shared = Buffer.alloc(INDEX_BYTES);

  /** Changes whenever the log was written back or restarted. `undefined` while it is being written back. */
  const progress = (): string | undefined => {
    readSync(index, shared, 0, INDEX_BYTES, 0);
    if (shared.readUInt32LE(WRITTEN_BACK_AT) !== shared.readUInt32LE(ATTEMPTED_AT)) return undefined;
    return shared.toString("hex", SALTS_AT, SALTS_AT + 8) + shared.toString("hex", WRITTEN_BACK_AT, WRITTEN_BACK_AT + 4);
  };
  const look = () => {
    const before = progress();
    const length = readSync(file, header, 0, HEADER_BYTES, 0);
    return before !== undefined && before === progress() ? { progress: before, header: header.toString("hex", 0, length) } : undefined;
  };
  let known = look();
  if (known === undefined) {
    // After a crash, the index looks as if the log was being written back, until that is done.
    writeBack();
    known = look();
  }
  return () => {
    const now = look();
    if (now === undefined) return false;
    const isForeign = known !== undefined && now.progress === known.progress && now.header !== known.header;
    known = now;
    return isForeign;
  };
}
