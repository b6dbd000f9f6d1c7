/** `fundfeed version`: print versions of the program and its schemas. */
import { Database } from "bun:sqlite";
import { migrations } from "../../../db/sqlite/migrate.ts";
import { commit, version } from "../../runtime/version.ts";
import type { Cli, CliCommand } from "../command.ts";
import { type OutputOptions, printResult } from "../output.ts";

export function versionCommand(command: CliCommand, cli: Cli): CliCommand {
  return command.addHelpText("after", HELP).action((options: OutputOptions) => {
    const sqlite = new Database(":memory:");
    const row = sqlite.query<{ version: string }, []>("select sqlite_version() as version").get();
    sqlite.close();
    const schemas = { catalog: migrations.catalog.length, state: migrations.state.length, watches: migrations.watch.length };
    const versions = { fundfeed: version, commit, bun: Bun.version, sqlite: row?.version ?? "unknown", schemas };
    const numbers = Object.entries(schemas).map(([name, number]) => `${name} ${number}`);
    printResult(
      cli,
      options,
      versions,
      `fundfeed ${version} (commit ${commit}, Bun ${versions.bun}, SQLite ${versions.sqlite}; schemas: ${numbers.join(", ")})`,
    );
  });
}

const HELP = `
The commit is "checkout" if the program runs from its source. Data of a newer
schema is refused; data of an older one is migrated by a command that writes.`;
