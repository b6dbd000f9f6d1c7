/** What the commands of `watch` share: where watch.db is, and opening it. */
import { type Command, Option } from "commander";
import type { CatalogDb } from "../../db/engine.ts";
import { openWatchFile, openWatchFileToRead, type WatchFile } from "../watch/watch-file.ts";
import type { Cli, CommonOptions } from "./command.ts";
import { withCatalog } from "./databases.ts";

export type WatchOptions = CommonOptions & { watchData?: string };

export function addWatchOptions(command: Command): Command {
  return command.addOption(
    new Option("--watch-data <dir>", "directory of watch.db (default: the data directory; required with --database)").env(
      "FUNDFEED_WATCH_DATA",
    ),
  );
}

/** Opens the catalog and watch.db, which is created if it is missing, runs `work` and closes both. */
export async function withWatches<T>(
  cli: Cli,
  options: WatchOptions,
  work: (file: WatchFile, catalog: CatalogDb) => Promise<T>,
): Promise<T> {
  return withCatalog(cli, options, async (catalog) => {
    const file = openWatchFile(watchDirectory(options));
    try {
      return await work(file, catalog);
    } finally {
      file.close();
    }
  });
}

/** The same for a command that only reads. `work` gets undefined if there is no watch.db. */
export async function withWatchesToRead<T>(cli: Cli, options: WatchOptions, work: (file: WatchFile | undefined) => Promise<T>): Promise<T> {
  return withCatalog(cli, options, async () => {
    const file = openWatchFileToRead(watchDirectory(options));
    try {
      return await work(file);
    } finally {
      file?.close();
    }
  });
}

/** The directory of watch.db. Throws with --database and without --watch-data. */
export function watchDirectory({ watchData, data, database }: WatchOptions): string {
  const directory = watchData ?? (database === undefined ? data : undefined);
  if (directory === undefined)
    throw new Error("Cannot find the watches: with --database, name the directory of watch.db with --watch-data or FUNDFEED_WATCH_DATA");
  return directory;
}
