/** Detects commits to a database by one short read, because every request asks. */
import type { Database } from "bun:sqlite";
import { openSync, readSync } from "node:fs";

/** The offset of the checksum in the header of the wal-index (sqlite.org/walformat.html, section 2.1). */
const CHECKSUM_AT = 40;

/**
 * Returns a function whose number changes with every commit, of any connection of any process.
 *
 * All processes share the header of the wal-index in the `-shm` file, and every commit changes its checksum, the last eight bytes. The
 * number is these bytes as a double. `pragma data_version` costs twice as much, because it takes a lock.
 *
 * Some checksums are NaN, which never equals itself: the caller then refreshes once too often. In memory the number is always NaN.
 */
export function commitMark({ filename }: Database): () => number {
  if (filename === "" || filename === ":memory:") return () => Number.NaN;
  // Never closed: closing any descriptor of a file drops all locks that the process has on it (fcntl(2)), also SQLite's. Another process
  // could then believe that it is alone, and reset the wal-index.
  const index = openSync(`${filename}-shm`, "r");
  const checksum = new Float64Array(1);
  const bytes = new Uint8Array(checksum.buffer);
  return () => {
    readSync(index, bytes, 0, bytes.length, CHECKSUM_AT);
    return checksum[0] ?? Number.NaN;
  };
}
