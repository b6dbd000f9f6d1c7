import type { Command } from "commander";
import { reasonOf } from "../../db/reason.ts";
import { exportLines } from "../opportunities/export.ts";
import { requireSources } from "../sources/source.ts";
import { sourceCodes } from "./arguments.ts";
import { type Cli, type CommonOptions, command, withCatalog } from "./command.ts";
import { formatCount } from "./output.ts";

export function exportCommand(cli: Cli): Command {
  return command("export", "Print all records as NDJSON; `import records` turns it into the same opportunities in an empty data directory")
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
          const reason = `the output is incomplete and ends after ${formatCount(printed, "record")}`;
          throw new Error(`Cannot finish export: ${reasonOf(error)}; ${reason}`, { cause: error });
        });
      });
    });
}
