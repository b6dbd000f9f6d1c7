/** `fundfeed version`: print versions of the program and its schemas. */
import { Database } from "bun:sqlite";
import { migrations } from "../../../db/sqlite/migrate.ts";
import { build, commit, version } from "../../runtime/version.ts";
import type { CliCommand } from "../command.ts";

export function versionCommand(command: CliCommand): CliCommand {
  return command.addHelpText("after", HELP).action(() => {
    const versions = readVersions();
    const numbers = Object.entries(versions.schemas).map(([name, number]) => `${name} ${number}`);
    command.print(
      versions,
      `fundfeed ${versions.fundfeed} (commit ${versions.commit}, build ${versions.build}, Bun ${versions.bun}, SQLite ${versions.sqlite}; schemas: ${numbers.join(", ")})`,
    );
  });
}

/** The versions of the program and of what it is made of, and the numbers of its schemas. */
export function readVersions() {
  const sqlite = new Database(":memory:");
  const row = sqlite.query<{ version: string }, []>("select sqlite_version() as version").get();
  sqlite.close();
  const schemas = { catalog: migrations.catalog.length, state: migrations.state.length, watches: migrations.watch.length };
  return { fundfeed: version, commit, build, bun: Bun.version, sqlite: row?.version ?? "unknown", schemas };
}

const HELP = `
The commit is "checkout" if the program runs from its source. The build is the
platform of a program of a release, else "own". Data of a newer schema is
refused; data of an older one is migrated by a command that writes.`;
