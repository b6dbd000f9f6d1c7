/** The part of backups that concerns watches. */

import { join } from "node:path";
import { Failure } from "../../db/reason.ts";
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
    if (result !== "ok") throw new Failure(`Cannot copy ${join(directory, WATCH_FILE)}: it is damaged: ${result}`);
    return file.sqlite.serialize();
  } finally {
    file.close();
  }
}
