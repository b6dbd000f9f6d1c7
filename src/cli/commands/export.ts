/** `fundfeed export`: print records in one of five forms. */
import type { CatalogDb } from "../../../db/engine.ts";
import { Failure, reasonOf } from "../../../db/reason.ts";
import type { OpportunityEvent } from "../../events/event.ts";
import { commonGrantsOf } from "../../export/common-grants.ts";
import { csvHeader, csvLineOf } from "../../export/csv.ts";
import { exportHistories, exportLines, exportOpportunities, type Selection } from "../../export/records.ts";
import { createExportFile, type ExportFile } from "../../export/sqlite-file.ts";
import { type Filter, matches } from "../../filter/filter.ts";
import { resolveFilter } from "../../filter/known.ts";
import { dueOf } from "../../opportunities/due.ts";
import type { WholeOpportunity } from "../../opportunities/opportunity.ts";
import { contactsErasedInWords, nothingKnownInWords } from "../../past/as-of.ts";
import { BYTE_ORDER_MARK } from "../../text/csv.ts";
import { timeInWords } from "../../text/date-in-words.ts";
import { capitalized, counted } from "../../text/in-words.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { addAsOfOption, type CliCommand, type CommonOptions, sourceCodes } from "../command.ts";
import { addFilterOptions, type FilterOptions, givenFilter, refuseEmptyRanges } from "../filter-options.ts";
import { progressLine, progressReporter, recordReporter } from "../progress.ts";
import { stopPoint } from "../stopping.ts";

const formats = ["ndjson", "csv", "sqlite", "parquet", "commongrants"] as const;
type Format = (typeof formats)[number];

const targets = { sqlite: "file", parquet: "directory" } as const;
const isFile = (format: Format): format is keyof typeof targets => format in targets;

type ExportOptions = CommonOptions & FilterOptions & { source?: string[]; format: Format; bom?: true; events?: true; asOf?: EpochMs };

export function exportCommand(exporting: CliCommand): CliCommand {
  exporting
    .argument("[file]", "with sqlite: the file to write; with parquet: the directory")
    .choice(
      "--format <format>",
      "ndjson with everything, csv for spreadsheets, sqlite for SQL, parquet for DuckDB and pandas, or commongrants: NDJSON in HHS's protocol",
      formats,
      "ndjson",
    )
    .option("--bom", "begin CSV with a byte-order mark, by which Excel recognizes UTF-8")
    .option("--events", "with commongrants: each record's history as a custom field")
    .option("--source <code...>", "only these sources; repeated or with commas", sourceCodes);
  addAsOfOption(exporting).examples(
    "fundfeed export --status open,closing_soon --format csv --bom",
    "fundfeed export --source SAM_GOV --psc AC",
    "fundfeed export --format sqlite opportunities.sqlite",
    "fundfeed export --format parquet opportunities",
    "fundfeed export --source GRANTS_GOV --format commongrants --events",
  );
  return addFilterOptions(exporting).action(async (file: string | undefined, options: ExportOptions) => {
    const { asOf, format } = options;
    if (isFile(format) && file === undefined)
      exporting.error(
        `error: --format ${format} needs a ${targets[format]}: fundfeed export --format ${format} ${targets[format] === "file" ? "FILE" : "DIR"}`,
      );
    if (!isFile(format) && file !== undefined) exporting.error(`error: ${format} is printed; write it with > ${file}`);
    if (options.bom && format !== "csv") exporting.error("error: --bom needs --format csv");
    if (options.events && format !== "commongrants") exporting.error("error: --events needs --format commongrants");
    const filter = givenFilter(options);
    const now = asOf ?? exporting.machine.now();
    refuseEmptyRanges(exporting, filter, now);
    await exporting.withCatalog(async (db) => {
      const { source, ...others } = await resolveFilter(db, filter, "export");
      const isMatch: Selection["isIncluded"] = (opportunity, duplicates) => matches(others, opportunity, now, duplicates);
      const isIncluded = Object.keys(others).length > 0 ? isMatch : undefined;
      const nothingKnown = asOf === undefined ? undefined : await nothingKnownInWords(db, asOf);
      if (nothingKnown !== undefined) exporting.machine.printError(capitalized(nothingKnown));
      let erased = 0;
      const chosen = { codes: source, isIncluded, now, asOf, noteErased: () => erased++, filter };
      if (isFile(format)) await writeFiles(exporting, db, format, file ?? "", chosen);
      else await printAll(exporting, db, { ...options, format }, chosen);
      if (asOf !== undefined && nothingKnown === undefined) exporting.machine.printError(`As of ${timeInWords(formatInstant(asOf))}`);
      if (erased > 0) exporting.machine.printError(contactsErasedInWords(erased));
    });
  });
}

type Chosen = Selection & { now: EpochMs; filter: Filter };

/** Writes opportunities with their events. A signal ends it between two steps, and leaves nothing of the new files. */
async function writeFiles(command: CliCommand, db: CatalogDb, format: keyof typeof targets, path: string, chosen: Chosen): Promise<void> {
  const { machine } = command;
  const stopIfAsked = stopPoint(machine, new Error("it was stopped"));
  const reportProgress = progressReporter(machine);
  let [done, total]: [number, number | undefined] = [0, undefined];
  const report = async (_: number, all: number) => {
    total = all;
    await stopIfAsked();
  };
  const about = { filter: JSON.stringify(chosen.filter), made_at: formatInstant(chosen.now) };
  let file: ExportFile | undefined;
  let written: Awaited<ReturnType<ExportFile["finish"]>>;
  try {
    file = await (format === "sqlite"
      ? createExportFile(path, about)
      : (await import("../../export/parquet.ts")).createParquetFiles(path, about));
    const { put } = file;
    await exportHistories(db, { ...chosen, report }, (opportunity, history, text, duplicates) => {
      put({ ...opportunity, due: dueOf(opportunity, chosen.now, duplicates) }, history, text);
      reportProgress({ step: "exporting", done: ++done, total, unit: "records" });
    });
    written = await file.finish(async (next) => {
      machine.showProgress(progressLine({ ...next, unit: "steps" }, 0));
      await stopIfAsked();
    });
  } catch (error) {
    throw new Failure(`Cannot export into ${path}: ${reasonOf(error)}`, { cause: error });
  } finally {
    file?.abandon();
  }
  const { records, events, amounts_left_out = 0 } = written;
  const leftOut = amounts_left_out > 0 ? `; ${counted(amounts_left_out, "amount")} left out, with too many digits` : "";
  const text = `${counted(records, "record")} and ${counted(events, "event")} in ${path}${leftOut}`;
  command.print({ [targets[format]]: path, ...written }, text);
}

/** Record by record, so that memory does not grow with the catalog. */
async function printAll(
  { machine }: CliCommand,
  db: CatalogDb,
  { format, bom, events }: ExportOptions & { format: Exclude<Format, keyof typeof targets> },
  chosen: Chosen,
): Promise<void> {
  // On a terminal, the records themselves show the progress.
  const selection = machine.terminal() === undefined ? { ...chosen, report: recordReporter(machine, "exporting") } : chosen;
  const { now } = selection;
  if (format === "csv") machine.printText((bom ? BYTE_ORDER_MARK : "") + csvHeader);
  let printed = 0;
  const count = (print: (text: string) => void) => (text: string) => {
    print(text);
    printed++;
  };
  const [printLine, printText] = [count(machine.printLine), count(machine.printText)];
  const printCommonGrants = (opportunity: WholeOpportunity, history?: OpportunityEvent[]) =>
    printLine(JSON.stringify(commonGrantsOf(opportunity, history)));
  const printing = {
    ndjson: () => exportLines(db, selection, printLine),
    csv: () => exportOpportunities(db, selection, (opportunity, duplicates) => printText(csvLineOf(opportunity, now, duplicates))),
    commongrants: () =>
      events
        ? exportHistories(db, selection, printCommonGrants)
        : exportOpportunities(db, selection, (opportunity) => printCommonGrants(opportunity)),
  };
  try {
    await printing[format]();
  } catch (error) {
    const reason = `the output is incomplete and ends after ${counted(printed, "record")}`;
    throw new Failure(`Cannot finish export: ${reasonOf(error)}; ${reason}`, { cause: error });
  }
}
