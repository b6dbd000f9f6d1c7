import type { Command } from "commander";
import { reasonOf } from "../../db/reason.ts";
import { noTurns, turnStatuses } from "../changes/status-turns.ts";
import type { Cli, CommonOptions } from "./command.ts";
import { withCatalog } from "./databases.ts";
import { printResult } from "./output.ts";

export function refreshCommand(command: Command, cli: Cli): Command {
  return command.action(async (options: CommonOptions) => {
    const turns = noTurns();
    try {
      await withCatalog(cli, options, (db) => turnStatuses(db, cli.machine.now(), turns));
    } catch (error) {
      if (turns.changed === 0) throw error;
      throw new Error(`${reasonOf(error)}; it had changed ${turns.changed}, and the same command changes the rest`, { cause: error });
    }
    printResult(cli, options, turns, `${turns.changed} changed`);
  });
}
