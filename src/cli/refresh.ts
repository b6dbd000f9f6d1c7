import type { Command } from "commander";
import { recountIfBehind } from "../changes/counts.ts";
import { turnStatuses } from "../changes/status-turns.ts";
import type { Cli, CommonOptions } from "./command.ts";
import { withCatalog } from "./databases.ts";
import { printResult } from "./output.ts";

export function refreshCommand(command: Command, cli: Cli): Command {
  return command.action(async (options: CommonOptions) => {
    const turns = await withCatalog(cli, options, async (db) => {
      await recountIfBehind(db);
      return turnStatuses(db, cli.machine.now());
    });
    printResult(cli, options, turns, `${turns.changed} changed`);
  });
}
