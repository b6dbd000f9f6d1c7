/** The change feed from a position on: continued by a cursor file, or followed as events are stored. */
import { join } from "node:path";
import type { CatalogDb } from "../../db/engine.ts";
import { fingerprintOf } from "../../db/file-identity.ts";
import { Failure } from "../../db/reason.ts";
import { fileNames } from "../../db/sqlite/open.ts";
import { type FeedFilter, type FeedPosition, LostPositionError, latestPosition, positionAt, readFeed } from "../events/feed.ts";
import { readCursorFile, saveCursorFile } from "../feed/cursor-file.ts";
import type { Printer } from "../feed/printers.ts";
import { describeFilter } from "../filter/filter.ts";
import { resolveFilter } from "../filter/known.ts";
import { catalogIdentity } from "../opportunities/read-model.ts";
import { runEvery, sleep } from "../runtime/run-every.ts";
import type { EpochMs } from "../text/instant.ts";
import { type Output, type OutputChoice, printerFor, withOutput } from "./change-output.ts";
import type { CliCommand, CommonOptions } from "./command.ts";
import { repeatsInWords } from "./results.ts";
import { stopSignal } from "./stopping.ts";

/** Entries printed at a time. With a cursor file, a killed run prints at most these again. */
const BATCH = 200;
const LOOK_EVERY_MS = 1000;

type ChangesRun = CommonOptions &
  OutputChoice & {
    chosen: FeedFilter;
    cursorFile?: string | undefined;
    limit?: number | undefined;
    /** Where a run without a position begins: after this instant, at the first event ("all"), or with what is stored from now on. */
    since: EpochMs | "all" | "now";
  };

type Reading = { catalog: string; position: FeedPosition; printed: number; repeats: number; printer: Printer; output: Output };

/** Prints the events after the position. The cursor file moves only when the output is on disk, so no event is lost by a kill. */
export async function printFeed(command: CliCommand, run: ChangesRun): Promise<void> {
  await withOutput(command, run, async (output) => {
    await command.withCatalog(async (db) => {
      const reading = await begin(command, db, run, output);
      const isMore = await printNew(command, db, run, reading);
      const { filter, types, atLeast } = run.chosen;
      const words = describeFilter(filter, command.machine.now());
      output.print(
        reading.printer.end?.({
          at_least: atLeast,
          types: types ?? null,
          filter,
          filter_in_words: words,
          has_more: isMore,
          repeats: reading.repeats,
        }) ?? "",
      );
      output.finish();
      save(run, reading);
      if (reading.repeats > 0) command.machine.printError(repeatsInWords(reading.repeats));
    });
  });
}

/** Prints the events after the position, and then new ones as they are stored, until the program is told to stop. */
export async function followFeed(command: CliCommand, run: ChangesRun): Promise<void> {
  const { machine } = command;
  command.cli.isLasting = true;
  const stop = stopSignal(machine);
  const clock = { now: machine.now, wait: sleep, stop };
  await withOutput(command, run, async (output) => {
    let reading: Reading | undefined;
    const look = async (db: CatalogDb) => {
      reading ??= await begin(command, db, run, output);
      if ((await catalogIdentity(db)) !== reading.catalog) throw new LostPositionError();
      await printNew(command, db, run, reading, stop);
    };
    if (run.database !== undefined) await command.withCatalog((db) => runEvery(LOOK_EVERY_MS, clock, () => look(db)));
    else {
      // Opened for each look: a reader of files that were not in use does not see new commits, and a restore replaces the file.
      const hasNews = commitNotice(run.data);
      await runEvery(LOOK_EVERY_MS, clock, async () => {
        if (hasNews()) await command.withCatalog(look);
      });
    }
  });
}

/** Saves the start of a first run at once, so that the next run begins there even if this one is killed. */
async function begin(command: CliCommand, db: CatalogDb, run: ChangesRun, output: Output): Promise<Reading> {
  const { cursorFile, since } = run;
  const catalog = await catalogIdentity(db);
  const stored = cursorFile === undefined ? undefined : readCursorFile(cursorFile, catalog);
  const start = () => (since === "now" ? latestPosition(db) : since === "all" ? null : positionAt(db, since));
  const position = stored === undefined ? await start() : stored;
  const reading = { catalog, position, printed: 0, repeats: 0, printer: await printerFor(command, db, run, run.chosen), output };
  if (stored === undefined) save(run, reading);
  output.print(reading.printer.begin ?? "");
  return reading;
}

/** Prints until the end of the feed, the limit, or the stop. Returns whether there may be more. */
async function printNew({ machine }: CliCommand, db: CatalogDb, run: ChangesRun, reading: Reading, stop?: AbortSignal): Promise<boolean> {
  const { output, printer } = reading;
  const filter = await resolveFilter(db, run.chosen.filter, "show changes of");
  const isStreamed = run.output === undefined && run.format !== "json";
  while (stop?.aborted !== true) {
    const most = Math.min(BATCH, (run.limit ?? Number.POSITIVE_INFINITY) - reading.printed);
    if (most === 0) return true;
    const { entries, repeats, position, atEnd } = await readFeed(db, reading.position, { ...run.chosen, filter }, machine.now(), most);
    if (entries.length > 0) output.print(printer.entries(entries));
    await output.stopIfAsked();
    const isNew = reading.position?.seq !== position?.seq;
    Object.assign(reading, { position, printed: reading.printed + entries.length, repeats: reading.repeats + repeats });
    if (isNew && isStreamed) {
      output.sync();
      save(run, reading);
    }
    if (atEnd) return false;
  }
  return true;
}

function save({ cursorFile }: ChangesRun, { catalog, position }: Reading): void {
  if (cursorFile !== undefined) saveCursorFile(cursorFile, catalog, position);
}

/** What a LostPositionError says to people. */
export function lostPosition(cursorFile: string | undefined): Failure {
  const reason = "the catalog does not have the event there: it was replaced by another one, or by a backup";
  return cursorFile === undefined
    ? new Failure(`Cannot follow the changes: ${reason}. Run the command again, with --since for what came between`)
    : new Failure(`Cannot continue from ${cursorFile}: ${reason}. Delete the file to start again from --since`);
}

function commitNotice(directory: string): () => boolean {
  let mark = "";
  let isSettled = false;
  return () => {
    const before = mark;
    mark = catalogMark(directory);
    const isSame = mark === before;
    const isDue = !isSame || !isSettled;
    isSettled = isSame;
    return isDue;
  };
}

/**
 * A text that changes with the catalog, which is not opened. Two commits within milliseconds may leave the same text: read it once more after it
 * stayed the same.
 */
function catalogMark(directory: string): string {
  const path = join(directory, fileNames.catalog);
  return [path, `${path}-wal`].map(fingerprintOf).join(" ");
}
