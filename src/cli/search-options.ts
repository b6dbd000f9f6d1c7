/** What the commands that search share: where the search index is, and bringing it up to date. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CatalogDb } from "../../db/engine.ts";
import { codeOf, Failure, reasonOf } from "../../db/reason.ts";
import type { Machine } from "../runtime/machine.ts";
import { catchUp, type Report } from "../search/catch-up.ts";
import { isDamaged, isUnwritable, openSearchFile, openTemporarySearchFile, type SearchFile } from "../search/search-file.ts";
import type { EpochMs } from "../text/instant.ts";
import type { CliCommand, CommonOptions } from "./command.ts";
import { progressReporter } from "./progress.ts";

export type SearchOptions = CommonOptions & { searchData?: string };

export function addSearchOptions(command: CliCommand): CliCommand {
  return command.setting("--search-data <dir>", "directory of the search index, search.db (default: the data directory)");
}

/** Opens the search index, brings it up to date and runs `work`. Throws between two steps once `stop` is aborted. */
export async function withSearchIndex<T>(
  command: CliCommand,
  catalog: CatalogDb,
  work: (index: SearchFile) => Promise<T>,
  stop?: AbortSignal,
): Promise<T> {
  const { machine } = command;
  using opened = new DisposableStack();
  const index = opened.adopt(openIndex(command.opts(), machine.printError), ({ close }) => close());
  return await useIndex(index, catalog, indexProgress(machine, stop), machine.now(), () => {
    machine.showProgress("");
    return work(index);
  });
}

/** Shows how far the index is. Throws once `stop` is aborted: what was indexed so far is kept. */
export function indexProgress(machine: Machine, stop?: AbortSignal): Report {
  const report = progressReporter(machine);
  return async (done, total) => {
    report({ step: "indexing", done, total, unit: "records" });
    if (stop === undefined) return;
    await nextTurn(); // Signals are delivered by the event loop.
    if (stop.aborted) throw new Failure("Cannot finish the search index: it was stopped");
  };
}

/** Brings an open index up to date, with statuses as they are at `now`, and runs `work`. */
export async function useIndex<T>(
  index: SearchFile,
  catalog: CatalogDb,
  report: Report,
  now: EpochMs,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    await catchUp(catalog, index, report, now);
    return await work();
  } catch (error) {
    if (!/^SQLITE_CORRUPT/.test(codeOf(error)) || !isDamaged(index)) throw error;
    const { filename } = index.sqlite;
    throw new Failure(`Cannot search: ${filename} is damaged; delete it, and the next search builds it again`, { cause: error });
  }
}

/** Opens the search index: where the options say, or in a temporary directory if it cannot be kept there. `notify` gets the reason. */
export function openIndex({ searchData, data, database }: SearchOptions, notify: (message: string) => void): SearchFile {
  const directory = searchData ?? (database === undefined ? data : undefined);
  if (directory === undefined) {
    notify("Built the search index in a temporary directory; --search-data DIR keeps it for the next search");
    return openTemporarySearchFile();
  }
  try {
    return openSearchFile(directory);
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    const reason = reasonOf((error as Error).cause);
    notify(
      `Cannot keep the search index in ${directory}: ${reason}. Built it in a temporary directory; --search-data DIR keeps it elsewhere`,
    );
    return openTemporarySearchFile();
  }
}
