/** Detects commits to a database by one short read, because every request asks. (E-29) */
import { readSync } from "node:fs";

/** The offset of the checksum in the header of the wal-index (sqlite.org/walformat.html, section 2.1). */
const CHECKSUM_AT = 40;

/**
 * Takes a descriptor of the wal-index, and returns a function whose number changes with every commit, of any connection of any process.
 *
 * All processes share the header of the wal-index in the `-shm` file, and every commit changes its checksum, the last eight bytes. The
 * number is these bytes as a double. `pragma data_version` costs twice as much, because it takes a lock.
 *
 * Some checksums are NaN, which never equals itself: the caller then refreshes once too often.
 */
export function commitMark(index: number): () => number {
  const checksum = new Float64Array(1);
  const bytes = new Uint8Array(checksum.buffer);
  return () => {
    readSync(index, bytes, 0, bytes.length, CHECKSUM_AT);
    return checksum[0] ?? Number.NaN;
  };
}
