import type { Command } from "commander";
import { exportLines } from "../opportunities/export.ts";
import { requireSources } from "../sources.ts";
import { type Cli, type CommonOptions, command, withCatalog } from "./command.ts";

export function exportCommand(cli: Cli): Command {
  return command("export", "All records as `records` NDJSON: importing it into an empty data directory gives the same opportunities")
    .option("--source <code...>", "only these sources; repeated or with commas")
    .action(async (options: CommonOptions & { source?: string[] }) => {
      const codes = sourceCodes(options.source);
      await withCatalog(cli, options, async (db) => {
        await requireSources(db, codes ?? [], "export");
        await exportLines(db, codes, cli.machine.print);
      });
    });
}

/** Source codes as they are stored, from an option that is repeated or has commas. */
export function sourceCodes(given: readonly string[] | undefined): string[] | undefined {
  return given?.flatMap((each) => each.split(",")).map((code) => code.trim().toUpperCase());
}
