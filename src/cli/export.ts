import type { Command } from "commander";
import { reasonOf } from "../../db/reason.ts";
import { exportLines } from "../opportunities/export.ts";
import { requireSources } from "../sources/source.ts";
import { type Cli, type CommonOptions, command, withCatalog } from "./command.ts";

export function exportCommand(cli: Cli): Command {
  return command("export", "All records as `records` NDJSON: importing it into an empty data directory gives the same opportunities")
    .option("--source <code...>", "only these sources; repeated or with commas")
    .action(async (options: CommonOptions & { source?: string[] }) => {
      const codes = sourceCodes(options.source);
      await withCatalog(cli, options, async (db) => {
        await requireSources(db, codes ?? [], "export");
        let printed = 0;
        const print = (line: string) => {
          cli.machine.printLine(line);
          printed++;
        };
        await exportLines(db, codes, print).catch((error: unknown) => {
          const reason = `what was printed is not whole: it ended after ${printed.toLocaleString("en-US")} records`;
          throw new Error(`Cannot finish export: ${reasonOf(error)}; ${reason}`, { cause: error });
        });
      });
    });
}

/** Source codes as they are stored, from an option that is repeated or has commas. */
export function sourceCodes(given: readonly string[] | undefined): string[] | undefined {
  return given?.flatMap((each) => each.split(",")).map((code) => code.trim().toUpperCase());
}
