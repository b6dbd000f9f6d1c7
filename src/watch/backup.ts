/** The part of backups that concerns watches. */
import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWatchFileToRead, WATCH_FILE } from "./watch-file.ts";

/**
 * Everything in watch.db at one moment, as the bytes of a file; undefined if there is none. Take it before the catalog is copied: a watch must
 * not be ahead of the catalog that is restored with it. Throws if the file is damaged.
 */
export function copyOfWatches(directory: string): Uint8Array | undefined {
  const file = openWatchFileToRead(directory);
  if (file === undefined) return undefined;
  try {
    const result = file.sqlite.query<{ quick_check: string }, []>("pragma quick_check(1)").get()?.quick_check;
    if (result !== "ok") throw new Error(`Cannot copy ${join(directory, WATCH_FILE)}: it is damaged: ${result}`);
    return file.sqlite.serialize();
  } finally {
    file.close();
  }
}

/** Puts a copy in the place of watch.db. Without a copy, there is none afterwards. */
export function replaceWatches(directory: string, copy: Uint8Array | undefined): void {
  const path = join(directory, WATCH_FILE);
  rmSync(`${path}-journal`, { force: true }); // Left by a killed run, it would be applied to the new file.
  if (copy === undefined) rmSync(path, { force: true });
  else {
    writeFileSync(`${path}.partial`, copy, { mode: 0o600, flush: true });
    chmodSync(`${path}.partial`, 0o600); // The mode above is that of a new file only.
    renameSync(`${path}.partial`, path);
  }
}
