import { mkdirSync } from "node:fs";
import type { Command } from "commander";
import { type DatabaseLocation, locationName } from "../../db/open.ts";
import { type BackedUp, backUp, restore } from "../../db/sqlite/backup.ts";
import { tryLockIn } from "../../db/sqlite/lock.ts";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { copyOfWatches, replaceWatches } from "../watch/backup.ts";
import { WATCH_FILE } from "../watch/watch-file.ts";
import { type Cli, type CommonOptions, command } from "./command.ts";
import { printResult } from "./output.ts";

export function backupCommand(cli: Cli): Command {
  return command("backup", "Copy the databases and the watches while a server runs; the copy is consistent, checked and usable as --data")
    .argument("<dir>", "directory for the copy; created if it is missing")
    .action(async (directory: string, options: CommonOptions) => {
      if (options.database !== undefined)
        throw new Error(`Cannot back up ${locationName(options)}: use pg_dump (docs/operate/postgres.md)`);
      const watches = copyOfWatches(options.data); // First: a watch must not be ahead of the catalog.
      const files = await backUpFiles(options, cli.machine.now(), directory);
      replaceWatches(directory, watches);
      if (watches !== undefined) files.push({ name: WATCH_FILE, bytes: watches.length });
      printResult(
        cli,
        options,
        { directory, files },
        `Backed up to ${directory}: ${files.map(({ name, bytes }) => `${name} ${bytes.toLocaleString("en-US")} bytes`).join(", ")}`,
      );
      cli.machine.printError("The copy contains key hashes and the cursor secret. Keep it as private as the original.");
    });
}

async function backUpFiles({ data, mode = "inspect" }: DatabaseLocation, now: number, directory: string): Promise<BackedUp[]> {
  const catalog = openCatalog(data, now, { mode });
  try {
    const state = openState(data, now, { mode });
    try {
      return backUp({ catalog, state }, data, directory);
    } finally {
      await state.close();
    }
  } finally {
    await catalog.close();
  }
}

export function restoreCommand(cli: Cli): Command {
  return command("restore", "Replace the databases with a backup; refused while a server or an import has them open")
    .argument("<dir>", "directory that `backup` created")
    .action(async (directory: string, options: CommonOptions) => {
      if (options.database !== undefined)
        throw new Error(`Cannot restore ${locationName(options)}: use pg_restore (docs/operate/postgres.md)`);
      const watches = copyOfWatches(directory);
      if (watches === undefined) restore(directory, options.data);
      else
        withoutRuns(options.data, () => {
          restore(directory, options.data);
          replaceWatches(options.data, watches);
        });
      printResult(cli, options, { directory, data: options.data }, `Restored ${options.data} from ${directory}`);
    });
}

/** Keeps `watch run` from delivering by the old watches and the new catalog. Throws while one is at work. */
function withoutRuns(data: string, work: () => void): void {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const release = tryLockIn(data, "watch");
  if (release === undefined) throw new Error(`Cannot restore ${data}: a fundfeed watch run is at work there; stop it first`);
  try {
    work();
  } finally {
    release();
  }
}
