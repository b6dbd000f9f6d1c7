/** A note of the file that a write-ahead log belongs to: SQLite applies any log that it finds next to a file. (E-34) */
import { readFileSync, readSync, rmSync, statSync, writeFileSync } from "node:fs";
import { identityOf } from "../file-identity.ts";
import { shareDescriptor } from "./descriptors.ts";

const notePath = (path: string) => `${path}-wal.owner`;

/** Records that the log next to the file at `path` belongs to that file. */
export function noteLogOwner(path: string): void {
  try {
    const note = `${creationOf(path)} ${creationOf(`${path}-wal`)}\n`;
    if (readNote(path) !== note) writeFileSync(notePath(path), note, { mode: 0o600 });
  } catch {
    // A full disk. Without a note, only a backup that replaces the file is recognized.
  }
}

export function removeLogOwner(path: string): void {
  rmSync(notePath(path), { force: true });
}

/** Whether the log next to the file at `path` belongs to another file that was there before. */
export function hasForeignLog(path: string): boolean {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (log === undefined) return false;
  const [file, itsLog] = readNote(path)?.trim().split(" ") ?? [];
  // A log that is not the noted one was copied together with its file.
  if (itsLog === creationOf(`${path}-wal`) && file !== creationOf(path)) return true;
  return log.size > 0 && neverHadLog(path);
}

function readNote(path: string): string | undefined {
  try {
    return readFileSync(notePath(path), "utf8");
  } catch {
    return undefined;
  }
}

/** The inode's number with its creation time, since file systems soon reuse the numbers. */
function creationOf(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file === undefined ? undefined : `${file.ino}:${file.birthtimeNs}`;
}

/** Where SQLite's header has the file format write version: 1 without a log, as in each backup, 2 with one. */
const WRITE_VERSION_AT = 18;

function neverHadLog(path: string): boolean {
  if (identityOf(path) === undefined) return false;
  const { descriptor, release } = shareDescriptor(path);
  try {
    const version = Buffer.alloc(1);
    return readSync(descriptor, version, 0, 1, WRITE_VERSION_AT) === 1 && version[0] === 1;
  } finally {
    release();
  }
}
