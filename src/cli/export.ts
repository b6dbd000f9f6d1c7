import { type Command, Option } from "commander";
import type { CatalogDb } from "../../db/engine.ts";
import { reasonOf } from "../../db/reason.ts";
import { matches } from "../filter/filter.ts";
import { csvHeader, csvLineOf } from "../opportunities/csv.ts";
import { exportLines, exportOpportunities, type Selection } from "../opportunities/export.ts";
import type { Opportunity } from "../opportunities/opportunity.ts";
import { requireSources } from "../sources/source.ts";
import { BYTE_ORDER_MARK } from "../text/csv.ts";
import { sourceCodes } from "./arguments.ts";
import { type Cli, type CommonOptions, command, withCatalog } from "./command.ts";
import { addFilterOptions, type FilterOptions, filterOf } from "./filter-options.ts";
import { examples, formatCount } from "./output.ts";

type ExportOptions = CommonOptions & FilterOptions & { source?: string[]; format: "ndjson" | "csv"; bom?: true };

export function exportCommand(cli: Cli): Command {
  const exporting = command(
    "export",
    "Print all records as NDJSON; `import records` turns it into the same opportunities in an empty data directory",
  )
    .addOption(
      new Option("--format <format>", "ndjson with everything, or csv for spreadsheets").choices(["ndjson", "csv"]).default("ndjson"),
    )
    .option("--bom", "begin CSV with a byte-order mark, by which Excel recognizes UTF-8")
    .option("--source <code...>", "only these sources; repeated or with commas")
    .addHelpText(
      "after",
      examples("fundfeed export --status open,closing_soon --format csv --bom", "fundfeed export --source SAM_GOV --psc AC"),
    );
  return addFilterOptions(exporting).action(async (options: ExportOptions) => {
    if (options.bom && options.format !== "csv") exporting.error("error: --bom needs --format csv");
    const filter = filterOf({ ...options, source: sourceCodes(options.source) });
    const { source, ...others } = filter;
    const isFiltered = Object.keys(others).length > 0;
    await withCatalog(cli, options, async (db) => {
      await requireSources(db, source ?? [], "export");
      const now = cli.machine.now();
      const isIncluded = isFiltered ? (opportunity: Opportunity) => matches(others, opportunity, now) : undefined;
      await printAll(cli, db, options, { codes: source, isIncluded });
    });
  });
}

/** Record by record, so that memory does not grow with the catalog. */
async function printAll({ machine }: Cli, db: CatalogDb, { format, bom }: ExportOptions, selection: Selection): Promise<void> {
  if (format === "csv") machine.printText((bom ? BYTE_ORDER_MARK : "") + csvHeader);
  let printed = 0;
  const printing =
    format === "ndjson"
      ? exportLines(db, selection, (line) => {
          machine.printLine(line);
          printed++;
        })
      : exportOpportunities(db, selection, (opportunity) => {
          machine.printText(csvLineOf(opportunity));
          printed++;
        });
  await printing.catch((error: unknown) => {
    const reason = `the output is incomplete and ends after ${formatCount(printed, "record")}`;
    throw new Error(`Cannot finish export: ${reasonOf(error)}; ${reason}`, { cause: error });
  });
}
