/** `fundfeed backup` and `fundfeed restore`. */
import { mkdirSync } from "node:fs";
import type { Command } from "commander";
import { type DatabaseLocation, locationName } from "../../../db/open.ts";
import { Failure } from "../../../db/reason.ts";
import { type BackedUp, type BackupReport, backUp, restore } from "../../../db/sqlite/backup.ts";
import { tryLockIn } from "../../../db/sqlite/lock.ts";
import { openCatalog, openState } from "../../../db/sqlite/open.ts";
import type { Machine } from "../../runtime/machine.ts";
import { copyOfWatches } from "../../watch/backup.ts";
import { WATCH_FILE } from "../../watch/watch-file.ts";
import type { Cli, CommonOptions } from "../command.ts";
import { examples, printResult } from "../output.ts";
import { progressLine } from "../progress.ts";

export function backupCommand(command: Command, cli: Cli): Command {
  return command
    .argument("<dir>", "directory for the copy; created if it is missing")
    .addHelpText("after", examples("fundfeed backup /var/backups/fundfeed-20261122"))
    .action(async (directory: string, options: CommonOptions) => {
      if (options.database !== undefined)
        throw new Failure(`Cannot back up ${locationName(options)}: use pg_dump (docs/operate/postgres.md)`);
      const watches = copyOfWatches(options.data); // First: a watch must not be ahead of the catalog.
      const files = await backUpFiles(cli.machine, options, directory, watches);
      printResult(
        cli,
        options,
        { directory, files },
        `Backed up to ${directory}: ${files.map(({ name, bytes }) => `${name} ${bytes.toLocaleString("en-US")} bytes`).join(", ")}`,
      );
      cli.machine.printError("The copy contains key hashes and the cursor secret. Keep it as private as the original.");
    });
}

/** "copying catalog.db, 1,864 MB" */
function progressOf({ showProgress }: Machine): BackupReport {
  return (step, name, bytes) => showProgress(progressLine({ step: `${step} ${name},`, done: bytes / 1e6, unit: "MB" }, 0));
}

async function backUpFiles(
  machine: Machine,
  { data, mode = "inspect" }: DatabaseLocation,
  directory: string,
  watches: Uint8Array | undefined,
): Promise<BackedUp[]> {
  const now = machine.now();
  const catalog = openCatalog(data, now, { mode });
  try {
    const state = openState(data, now, { mode });
    try {
      return backUp({ catalog, state }, data, directory, { report: progressOf(machine), further: { [WATCH_FILE]: watches } });
    } finally {
      machine.showProgress("");
      await state.close();
    }
  } finally {
    await catalog.close();
  }
}

export function restoreCommand(command: Command, cli: Cli): Command {
  return command
    .argument("<dir>", "directory that `backup` created")
    .addHelpText("after", examples("fundfeed restore /var/backups/fundfeed-20261122"))
    .action(async (directory: string, options: CommonOptions) => {
      if (options.database !== undefined)
        throw new Failure(`Cannot restore ${locationName(options)}: use pg_restore (docs/operate/postgres.md)`);
      const watches = copyOfWatches(directory);
      try {
        const report = progressOf(cli.machine);
        if (watches === undefined) restore(directory, options.data, { report });
        else withoutRuns(options.data, () => restore(directory, options.data, { report, further: { [WATCH_FILE]: watches } }));
      } finally {
        cli.machine.showProgress("");
      }
      printResult(cli, options, { directory, data: options.data }, `Restored ${options.data} from ${directory}`);
    });
}

/** Keeps `watch run` from delivering by the old watches and the new catalog. Throws while one is at work. */
function withoutRuns(data: string, work: () => void): void {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const release = tryLockIn(data, "watch");
  if (release === undefined) throw new Failure(`Cannot restore ${data}: a fundfeed watch run is at work there; stop it first`);
  try {
    work();
  } finally {
    release();
  }
}
