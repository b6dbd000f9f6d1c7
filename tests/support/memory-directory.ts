import { chmodSync, existsSync, mkdtempSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterProcess } from "./once-per-run.ts";

/** Where Linux keeps files in memory. */
const MEMORY = "/dev/shm";
/** A run leaves up to 2.1 GB in its temporary directory, and its processes need 4 GB at most. */
const ROOM_BYTES = 4 * 2 ** 30;
const AVAILABLE_BYTES = 8 * 2 ** 30;

/**
 * Makes a directory for temporary files that no disk has to store, and returns its path. Returns `undefined` where there is no such place, too
 * little room or memory, or where programs may not be started from it. It is removed when this process has ended, in any way.
 */
export function memoryDirectory(): string | undefined {
  if (!existsSync(MEMORY) || process.availableMemory() < AVAILABLE_BYTES) return undefined;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < ROOM_BYTES) return undefined;
  const directory = mkdtempSync(join(MEMORY, "fundfeed-check-"));
  afterProcess(process.pid, 'for n in 1 2 3 4 5; do rm -rf "$0" && break; sleep 1; done', directory); // Databases in it may be ending.
  chmodSync(directory, 0o1777); // Tests start some programs as another user.
  return startsPrograms(directory) ? directory : undefined;
}

/** Containers often mount it with `noexec`. */
function startsPrograms(directory: string): boolean {
  const path = join(directory, "program");
  writeFileSync(path, "#!/bin/sh\n", { mode: 0o755 });
  return Bun.spawnSync(["sh", "-c", '"$0"', path], { stderr: "ignore" }).exitCode === 0;
}
