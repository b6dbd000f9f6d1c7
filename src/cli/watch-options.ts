/** What the commands of `watch` share: where watch.db is, and opening it. */
import type { CatalogDb, WatchDb } from "../../db/engine.ts";
import { Failure } from "../../db/reason.ts";
import { openWatchFile } from "../../db/sqlite/open.ts";
import type { Filter } from "../filter/filter.ts";
import { withCommas } from "../text/in-words.ts";
import { DAY_MS, type EpochMs } from "../text/instant.ts";
import { type Matching, watchedInWords } from "../watch/matching.ts";
import type { Watch, WatchStatus } from "../watch/watch.ts";
import { listWatches, requireWatch } from "../watch/watches.ts";
import type { CliCommand, CommonOptions } from "./command.ts";
import { refuseEmptyRanges } from "./filter-options.ts";

export const CHANGED_MEANWHILE = "another command has changed it meanwhile; run this one again";

/** A range such as from a date to 30d from now may be empty now and not later. */
const CENTURY_MS = 100 * 365 * DAY_MS;

export type WatchOptions = CommonOptions & { watchData?: string };

export function addWatchOptions(command: CliCommand): CliCommand {
  return command.setting("--watch-data <dir>", "directory of watch.db (default: the data directory; required with --database)");
}

/** Ends the command with a usage error if a filter has a range that is always empty from now on. */
export function refuseAlwaysEmptyRanges(command: CliCommand, filter: Filter, now: EpochMs): void {
  refuseEmptyRanges(command, filter, now, now + CENTURY_MS);
}

/** What a watch is about, and how many opportunities that are now. */
export function definitionInWords(definition: Matching, matching: number, now: EpochMs): string {
  return `${watchedInWords(definition, now)}; ${withCommas(matching)} match now`;
}

/** Says on standard error what is wrong, so that a list in a terminal or a mail from cron shows it. */
export function tellTrouble({ machine }: CliCommand, name: string, { paused, pending }: Pick<WatchStatus, "paused" | "pending">): void {
  if (paused !== null) machine.printError(`Watch ${name} is paused: ${paused}. fundfeed watch resume ${name} ends the pause`);
  else if (pending?.attempts.error) machine.printError(`Watch ${name} is failing: ${pending.attempts.error}`);
}

/** Opens the catalog, and watch.db to read or to write, runs `work` and closes both. */
export async function withWatches<T>(
  command: CliCommand,
  mode: "read" | "create",
  work: (db: WatchDb, catalog: CatalogDb) => Promise<T>,
): Promise<T> {
  const { now, printError } = command.machine;
  return command.withCatalog(async (catalog) => {
    await using db = openWatchFile(watchDirectory(command.opts()), now(), { mode, onMigrated: printError });
    return await work(db, catalog);
  });
}

/** The watches with these names; all without any. Throws if one of them does not exist. */
export async function watchesNamed(db: WatchDb, names: readonly string[]): Promise<Watch[]> {
  return names.length === 0 ? listWatches(db) : (await Promise.all(names.map((name) => requireWatch(db, name)))).flat();
}

/** The directory of watch.db. Throws with --database and without --watch-data. */
export function watchDirectory({ watchData, data, database }: WatchOptions): string {
  const directory = watchData ?? (database === undefined ? data : undefined);
  if (directory === undefined)
    throw new Failure("Cannot find the watches: with --database, name the directory of watch.db with --watch-data or FUNDFEED_WATCH_DATA");
  return directory;
}
