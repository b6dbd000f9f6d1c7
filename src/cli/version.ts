import { Database } from "bun:sqlite";
import type { Command } from "commander";
import { version } from "../runtime/version.ts";
import { type AnyOptions, answer, type Cli, command } from "./command.ts";

export function versionCommand(cli: Cli): Command {
  return command("version", "Versions of fundfeed, Bun and SQLite").action((options: AnyOptions) => {
    const sqlite = new Database(":memory:");
    const row = sqlite.query<{ version: string }, []>("select sqlite_version() as version").get();
    sqlite.close();
    const versions = { fundfeed: version, bun: Bun.version, sqlite: row?.version ?? "unknown" };
    answer(cli, options, versions, `fundfeed ${versions.fundfeed} (Bun ${versions.bun}, SQLite ${versions.sqlite})`);
  });
}
