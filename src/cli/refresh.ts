import type { Command } from "commander";
import { refresh } from "../changes/refresh.ts";
import { answer, type Cli, type CommonOptions, command, withCatalog } from "./command.ts";

export function refreshCommand(cli: Cli): Command {
  return command("refresh", "Move every status whose date has passed; a running server does this by itself").action(
    async (options: CommonOptions) => {
      const refreshed = await withCatalog(cli, options, async (db) => refresh(db, cli.machine.now()));
      answer(cli, options, refreshed, `${refreshed.changed} changed`);
    },
  );
}
