import type { Command } from "commander";
import { recountIfBehind } from "../changes/counts.ts";
import { turnStatuses } from "../changes/status-turns.ts";
import { type Cli, type CommonOptions, command, withCatalog } from "./command.ts";
import { printResult } from "./output.ts";

export function refreshCommand(cli: Cli): Command {
  return command("refresh", "Turn every status whose date has passed; a running server does this on its own").action(
    async (options: CommonOptions) => {
      const turns = await withCatalog(cli, options, async (db) => {
        await recountIfBehind(db);
        return turnStatuses(db, cli.machine.now());
      });
      printResult(cli, options, turns, `${turns.changed} changed`);
    },
  );
}
