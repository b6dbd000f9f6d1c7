/** Whether anybody has committed to a database, told without a system call: it is asked at every request. */
import type { Database } from "bun:sqlite";

/**
 * A number that differs from before when any connection of any process has committed since.
 *
 * All processes share the header of the wal-index through the `-shm` file, and every commit gives it another checksum, its last
 * eight bytes (sqlite.org/walformat.html, section 2.1). `pragma data_version` says the same at the price of a lock and its release.
 * NaN, as which some checksums read, differs from itself: whoever asks looks once too often then. So it does in memory, always, and where
 * a file cannot be mapped, as on Windows.
 */
export function commitMark({ filename }: Database): () => number {
  if (filename === "" || filename === ":memory:") return () => Number.NaN;
  const index = mapped(`${filename}-shm`);
  if (index === undefined) return () => Number.NaN;
  const checksum = new Float64Array(index.buffer, index.byteOffset + 40, 1);
  return () => checksum[0] ?? Number.NaN;
}

function mapped(path: string): Uint8Array | undefined {
  try {
    return Bun.mmap(path, { shared: true });
  } catch {
    return undefined;
  }
}
