/** `fundfeed refresh`: turn every status whose date has passed. */
import { failureWith } from "../../../db/reason.ts";
import { warningOfChangesAhead } from "../../changes/judging.ts";
import { noTurns, turnStatuses } from "../../changes/status-turns.ts";
import { withCommas } from "../../text/in-words.ts";
import type { CliCommand } from "../command.ts";

export function refreshCommand(command: CliCommand): CliCommand {
  return command.action(async () => {
    const turns = noTurns();
    try {
      await command.withCatalog(async (db) => {
        const now = command.machine.now();
        const warning = await warningOfChangesAhead(db, now);
        if (warning !== undefined) command.machine.printError(warning);
        await turnStatuses(db, now, turns);
      });
    } catch (error) {
      if (turns.changed === 0) throw error;
      throw failureWith(error, `it had changed ${withCommas(turns.changed)}, and the same command changes the rest`);
    }
    command.print(turns, `${withCommas(turns.changed)} changed`);
  });
}
