/** Whether anybody has committed to a database, told by one short read: it is asked at every request. */
import type { Database } from "bun:sqlite";
import { openSync, readSync } from "node:fs";

/** Where the header of the wal-index has its checksum (sqlite.org/walformat.html, section 2.1). */
const CHECKSUM_AT = 40;

/**
 * A number that differs from before when any connection of any process has committed since.
 *
 * All processes share the header of the wal-index through the `-shm` file, and every commit gives it another checksum, its last
 * eight bytes. `pragma data_version` says the same at twice the price, for a lock and its release.
 * NaN, as which some checksums read, differs from itself: whoever asks looks once too often then. So it does in memory, always.
 */
export function commitMark({ filename }: Database): () => number {
  if (filename === "" || filename === ":memory:") return () => Number.NaN;
  // Never closed, and not mapped either: closing any descriptor of a file drops every lock that the process has on it (fcntl(2)), SQLite's
  // too. Another process would then believe that it is alone, and begin the wal-index anew under this one's hands.
  const index = openSync(`${filename}-shm`, "r");
  const checksum = new Float64Array(1);
  const bytes = new Uint8Array(checksum.buffer);
  return () => {
    readSync(index, bytes, 0, bytes.length, CHECKSUM_AT);
    return checksum[0] ?? Number.NaN;
  };
}
