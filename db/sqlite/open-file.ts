/** Notices when an open database file is replaced or removed, and then keeps its log away from the next file at its path. */
import type { Database } from "bun:sqlite";
import { existsSync, readSync, rmSync } from "node:fs";
import type { FileState } from "../engine.ts";
import { identityOf } from "../file-identity.ts";
import { shareDescriptor } from "./descriptors.ts";
import { noteLogOwner, removeLogOwner } from "./log-owner.ts";

/** Owns `sqlite` from here on. The file at `path` must have been read through it, so that its log and index exist. */
export function ownFile(path: string, sqlite: Database) {
  const [log, index] = [`${path}-wal`, `${path}-shm`];
  const own = { log: identityOf(log), index: identityOf(index) };
  const [opened, shared] = [identityOf(path), shareDescriptor(index)];
  const commits = commitMark(shared.descriptor);
  noteLogOwner(path);
  let state: FileState = "intact";
  let isOpen = true;

  const close = () => {
    if (!isOpen) return;
    isOpen = false;
    sqlite.close(true); // With all statements: an open one would keep the file and its log open.
    shared.release();
    if (!existsSync(log)) removeLogOwner(path);
  };
  const removeLog = () => {
    const isWrittenBack = checkpoint(sqlite); // Into the open file, which somebody may have moved elsewhere.
    if (state === "missing" && !isWrittenBack) return; // The file may come back.
    if (identityOf(log) === own.log) {
      rmSync(log, { force: true });
      removeLogOwner(path);
    }
    if (identityOf(index) === own.index) rmSync(index, { force: true });
  };
  const check = () => {
    if (!isOpen) return state;
    const present = identityOf(path);
    state = present === undefined ? "missing" : present === opened ? "intact" : "replaced";
    if (state !== "intact") removeLog();
    return state;
  };
  return {
    check,
    /** NaN once the connection is closed. */
    commits: () => (isOpen ? commits() : Number.NaN),
    close: () => {
      check();
      close();
    },
  };
}

function checkpoint(sqlite: Database): boolean {
  try {
    const done = sqlite.query<{ log: number; checkpointed: number }, []>("pragma wal_checkpoint(passive)").get();
    return done !== null && done.log === done.checkpointed;
  } catch {
    return false; // This connection is in a transaction, or the disk is full.
  }
}

/** The offset of the checksum in the header of the wal-index (sqlite.org/walformat.html, section 2.1). */
const CHECKSUM_AT = 40;

/** Every commit changes the checksum of the wal-index, one short read at half the cost of `pragma data_version`. A NaN is never equal. (E-29) */
function commitMark(index: number): () => number {
  const checksum = new Float64Array(1);
  const bytes = new Uint8Array(checksum.buffer);
  return () => {
    readSync(index, bytes, 0, bytes.length, CHECKSUM_AT);
    return checksum[0] ?? Number.NaN;
  };
}
