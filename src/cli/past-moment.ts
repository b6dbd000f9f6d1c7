/** `--as-of`: what was stored at a moment of the past. */
import { AS_OF } from "../text/moment.ts";
import { momentOption } from "./arguments.ts";
import type { Cli, CliCommand } from "./command.ts";

/** Adds the option that shows the past. */
export function addAsOfOption(command: CliCommand, cli: Cli): CliCommand {
  return command.option(
    "--as-of <when>",
    "as it was stored then: 7d or 12h ago, yesterday, monday, a date, a timestamp",
    momentOption(cli, AS_OF),
  );
}
