import type { Command } from "commander";
import { type DatabaseLocation, locationName } from "../../db/open.ts";
import { type BackedUp, backUp, restore } from "../../db/sqlite/backup.ts";
import { openCatalog, openState } from "../../db/sqlite/open.ts";
import { answer, type Cli, type CommonOptions, command } from "./command.ts";

export function backupCommand(cli: Cli): Command {
  return command("backup", "Copy both files, consistent and checked, while a server runs; the copy serves as --data")
    .argument("<dir>", "where the copy goes; created where it is missing")
    .action(async (directory: string, options: CommonOptions) => {
      if (options.database !== undefined)
        throw new Error(`Cannot back up ${locationName(options)}: pg_dump does that (docs/operate/postgres.md)`);
      const files = await backUpFiles(options, cli.machine.now(), directory);
      answer(
        cli,
        options,
        { directory, files },
        `Backed up to ${directory}: ${files.map(({ name, bytes }) => `${name} ${bytes.toLocaleString("en-US")} bytes`).join(", ")}`,
      );
      cli.machine.printError("The copy holds key hashes and the cursor secret: keep it as private as the original.");
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
  return command("restore", "Put a backup back over what is there; refused while a server or an import has the files open")
    .argument("<dir>", "a directory that `backup` made")
    .action(async (directory: string, options: CommonOptions) => {
      if (options.database !== undefined)
        throw new Error(`Cannot restore ${locationName(options)}: pg_restore does that (docs/operate/postgres.md)`);
      restore(directory, options.data);
      answer(cli, options, { directory, data: options.data }, `Restored ${options.data} from ${directory}`);
    });
}
