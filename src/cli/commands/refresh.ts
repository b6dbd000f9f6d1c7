/** `fundfeed refresh`: turn every status whose date has passed. */
import { failureWith } from "../../../db/reason.ts";
import { warningOfChangesAhead } from "../../changes/judging.ts";
import { noTurns, turnStatuses } from "../../changes/status-turns.ts";
import { withCommas } from "../../text/counted.ts";
import type { Cli, CliCommand, CommonOptions } from "../command.ts";
import { withCatalog } from "../databases.ts";
import { printResult } from "../output.ts";

export function refreshCommand(command: CliCommand, cli: Cli): CliCommand {
  return command.action(async (options: CommonOptions) => {
    const turns = noTurns();
    try {
      await withCatalog(cli, options, async (db) => {
        const now = cli.machine.now();
        const warning = await warningOfChangesAhead(db, now);
        if (warning !== undefined) cli.machine.printError(warning);
        await turnStatuses(db, now, turns);
      });
    } catch (error) {
      if (turns.changed === 0) throw error;
      throw failureWith(error, `it had changed ${withCommas(turns.changed)}, and the same command changes the rest`);
    }
    printResult(cli, options, turns, `${withCommas(turns.changed)} changed`);
  });
}
