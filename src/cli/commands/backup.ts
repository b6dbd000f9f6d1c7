/** `fundfeed backup` and `fundfeed restore`. */
import { mkdirSync } from "node:fs";
import { type DatabaseLocation, locationName } from "../../../db/open.ts";
import { Failure } from "../../../db/reason.ts";
import { type BackedUp, type BackupReport, backUp, restore } from "../../../db/sqlite/backup.ts";
import { tryLockIn } from "../../../db/sqlite/lock.ts";
import { hasWatches, openCatalog, openState, openWatchFile } from "../../../db/sqlite/open.ts";
import type { Machine } from "../../runtime/machine.ts";
import { counted, withCommas } from "../../text/in-words.ts";
import type { EpochMs } from "../../text/instant.ts";
import { pauseOwned } from "../../watch/watches.ts";
import type { CliCommand, CommonOptions } from "../command.ts";
import { progressLine } from "../progress.ts";

export function backupCommand(command: CliCommand): CliCommand {
  return command
    .argument("<dir>", "directory for the copy; created if it is missing")
    .examples("fundfeed backup /var/backups/fundfeed-20261122")
    .action(async (directory: string, options: CommonOptions) => {
      if (options.database !== undefined)
        throw new Failure(`Cannot back up ${locationName(options)}: use pg_dump (fundfeed help postgres)`);
      const files = await backUpFiles(command.machine, options, directory);
      command.print(
        { directory, files },
        `Backed up to ${directory}: ${files.map(({ name, bytes }) => `${name} ${withCommas(bytes)} bytes`).join(", ")}`,
      );
      command.machine.printError("The copy contains key hashes and the cursor secret. Keep it as private as the original.");
    });
}

function progressOf({ showProgress }: Machine): BackupReport {
  return (step, name, bytes) => showProgress(progressLine({ step: `${step} ${name},`, done: bytes / 1e6, unit: "MB" }, 0));
}

async function backUpFiles(machine: Machine, { data, mode = "inspect" }: DatabaseLocation, directory: string): Promise<BackedUp[]> {
  const now = machine.now();
  await using catalog = openCatalog(data, now, { mode });
  await using state = openState(data, now, { mode });
  await using watch = hasWatches(data) ? openWatchFile(data, now, { mode }) : undefined;
  return backUp({ catalog, state, watch }, data, directory, progressOf(machine));
}

export function restoreCommand(command: CliCommand): CliCommand {
  return command
    .argument("<dir>", "directory that `backup` created")
    .examples("fundfeed restore /var/backups/fundfeed-20261122")
    .action(async (directory: string, options: CommonOptions) => {
      if (options.database !== undefined)
        throw new Failure(`Cannot restore ${locationName(options)}: use pg_restore (fundfeed help postgres)`);
      const work = () => restore(directory, options.data, { report: progressOf(command.machine) });
      if (!hasWatches(directory)) work();
      const paused = hasWatches(directory) ? await pausing(options.data, command.machine.now(), work) : 0;
      command.print({ directory, data: options.data, paused }, `Restored ${options.data} from ${directory}`);
      if (paused > 0)
        command.machine.printError(
          `${counted(paused, "watch", "watches")} of members ${paused === 1 ? "is" : "are"} paused: the backup may have members who were removed since. Remove them again (fundfeed members list); the others resume on My watches`,
        );
    });
}

/** Restores while no `watch run` delivers, and pauses the watches of members: some may have been removed since. Returns how many. (E-186) */
async function pausing(data: string, now: EpochMs, restore: () => void): Promise<number> {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  using lock = tryLockIn(data, "watch");
  if (lock === undefined) throw new Failure(`Cannot restore ${data}: a fundfeed watch run is at work there; stop it first`);
  restore();
  await using db = openWatchFile(data, now, { mode: "create" });
  return await pauseOwned(db, "a backup was restored; resume it here");
}
