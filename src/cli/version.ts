import { Database } from "bun:sqlite";
import type { Command } from "commander";
import { version } from "../runtime/version.ts";
import type { Cli } from "./command.ts";
import { type OutputOptions, printResult } from "./output.ts";

export function versionCommand(command: Command, cli: Cli): Command {
  return command.action((options: OutputOptions) => {
    const sqlite = new Database(":memory:");
    const row = sqlite.query<{ version: string }, []>("select sqlite_version() as version").get();
    sqlite.close();
    const versions = { fundfeed: version, bun: Bun.version, sqlite: row?.version ?? "unknown" };
    printResult(cli, options, versions, `fundfeed ${versions.fundfeed} (Bun ${versions.bun}, SQLite ${versions.sqlite})`);
  });
}
