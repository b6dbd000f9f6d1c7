/** `fundfeed export`: print records in one of five forms. */
import type { CatalogDb } from "../../../db/engine.ts";
import { Failure, reasonOf } from "../../../db/reason.ts";
import type { OpportunityEvent } from "../../events/event.ts";
import { commonGrantsOf } from "../../export/common-grants.ts";
import { csvHeader, csvLineOf } from "../../export/csv.ts";
import { exportHistories, exportLines, exportOpportunities, type Selection } from "../../export/records.ts";
import { createExportFile } from "../../export/sqlite-file.ts";
import { type Filter, matches } from "../../filter/filter.ts";
import { resolveFilter } from "../../filter/known.ts";
import { dueOf } from "../../opportunities/due.ts";
import type { WholeOpportunity } from "../../opportunities/opportunity.ts";
import { contactsErasedInWords, nothingKnownInWords } from "../../past/in-words.ts";
import { capitalized } from "../../text/capitalized.ts";
import { counted } from "../../text/counted.ts";
import { BYTE_ORDER_MARK } from "../../text/csv.ts";
import { timeInWords } from "../../text/date-in-words.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { addAsOfOption, sourceCodes } from "../arguments.ts";
import type { CliCommand, CommonOptions } from "../command.ts";
import { addFilterOptions, type FilterOptions, givenFilter, refuseEmptyRanges } from "../filter-options.ts";
import { progressLine, progressReporter, recordReporter } from "../progress.ts";
import { stopPoint } from "../stopping.ts";

const formats = ["ndjson", "csv", "sqlite", "parquet", "commongrants"] as const;
type Format = (typeof formats)[number];

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
    const { asOf } = options;
    const { format } = options;
    if (format === "sqlite" && file === undefined)
      exporting.error("error: --format sqlite needs a file: fundfeed export --format sqlite FILE");
    if (format === "parquet" && file === undefined)
      exporting.error("error: --format parquet needs a directory: fundfeed export --format parquet DIR");
    if (format !== "sqlite" && format !== "parquet" && file !== undefined)
      exporting.error(`error: ${format} is printed; write it with > ${file}`);
    if (options.bom && options.format !== "csv") exporting.error("error: --bom needs --format csv");
    if (options.events && options.format !== "commongrants") exporting.error("error: --events needs --format commongrants");
    const filter = givenFilter(options);
    const now = asOf ?? exporting.machine.now();
    refuseEmptyRanges(exporting, filter, now);
    await exporting.withCatalog(async (db) => {
      const { source, ...others } = await resolveFilter(db, filter, "export");
      const isFiltered = Object.keys(others).length > 0;
      const isIncluded = !isFiltered
        ? undefined
        : (opportunity: WholeOpportunity, duplicates: readonly WholeOpportunity[]) => matches(others, opportunity, now, duplicates);
      const nothingKnown = asOf === undefined ? undefined : await nothingKnownInWords(db, asOf);
      if (nothingKnown !== undefined) exporting.machine.printError(capitalized(nothingKnown));
      let erased = 0;
      const chosen = { codes: source, isIncluded, now, asOf, noteErased: () => erased++, filter };
      if (format === "sqlite") await writeSqlite(exporting, db, file ?? "", chosen);
      else if (format === "parquet") await writeParquet(exporting, db, file ?? "", chosen);
      else await printAll(exporting, db, { ...options, format }, chosen);
      if (asOf !== undefined && nothingKnown === undefined) exporting.machine.printError(`As of ${timeInWords(formatInstant(asOf))}`);
      if (erased > 0) exporting.machine.printError(contactsErasedInWords(erased));
    });
  });
}

type Chosen = Selection & { now: EpochMs; filter: Filter };

/** Writes opportunities with their events into an SQLite file. A signal ends it between two steps, and leaves nothing of the new file. */
async function writeSqlite(command: CliCommand, db: CatalogDb, path: string, chosen: Chosen): Promise<void> {
  const written = { records: 0, events: 0 };
  const stopIfAsked = stopPoint(command.machine, new Error("it was stopped"));
  const reportProgress = progressReporter(command.machine);
  const file = createExportFile(path, { filter: JSON.stringify(chosen.filter), madeAt: formatInstant(chosen.now) });
  try {
    await exportHistories(db, { ...chosen, report: stopIfAsked }, (opportunity, history, text, duplicates) => {
      file.put(
        { id: opportunity.id, at: opportunity.updated_at, text },
        history.map((event) => ({ id: event.id, at: event.detected_at, text: JSON.stringify(event) })),
        { ...opportunity, due: dueOf(opportunity, chosen.now, duplicates) },
      );
      written.records++;
      written.events += history.length;
      reportProgress({ step: "exporting", done: written.records, unit: "records" });
    });
    await file.finish(async (next) => {
      command.machine.showProgress(progressLine({ ...next, unit: "steps" }, 0));
      await stopIfAsked();
    });
  } catch (error) {
    throw new Failure(`Cannot export into ${path}: ${reasonOf(error)}`, { cause: error });
  } finally {
    file.abandon();
  }
  const text = `${counted(written.records, "record")} and ${counted(written.events, "event")} in ${path}`;
  command.print({ file: path, ...written }, text);
}

/** Writes opportunities with their events into Parquet files. A signal ends it, and leaves nothing of the new files. */
async function writeParquet(command: CliCommand, db: CatalogDb, directory: string, chosen: Chosen): Promise<void> {
  const stopIfAsked = stopPoint(command.machine, new Error("it was stopped"));
  const report = recordReporter(command.machine, "exporting");
  const { createParquetFiles } = await import("../../export/parquet.ts"); // Its packages are for this format alone.
  let files: Awaited<ReturnType<typeof createParquetFiles>> | undefined;
  try {
    files = await createParquetFiles(directory, { filter: JSON.stringify(chosen.filter), made_at: formatInstant(chosen.now) });
    const stopOrReport = async (read: number, total: number) => {
      await stopIfAsked();
      await report(read, total);
    };
    const { put } = files;
    await exportHistories(db, { ...chosen, report: stopOrReport }, (opportunity, history, _, duplicates) =>
      put({ ...opportunity, due: dueOf(opportunity, chosen.now, duplicates) }, history),
    );
    const { records, events, amounts_left_out } = files.finish();
    const leftOut = amounts_left_out > 0 ? `; ${counted(amounts_left_out, "amount")} left out, with too many digits` : "";
    const text = `${counted(records, "record")} and ${counted(events, "event")} in ${directory}${leftOut}`;
    command.print({ directory, records, events, amounts_left_out }, text);
  } catch (error) {
    throw new Failure(`Cannot export into ${directory}: ${reasonOf(error)}`, { cause: error });
  } finally {
    files?.abandon();
  }
}

type Printed = { format: Exclude<Format, "sqlite" | "parquet">; bom?: true; events?: true };

/** Record by record, so that memory does not grow with the catalog. */
async function printAll({ machine }: CliCommand, db: CatalogDb, { format, bom, events }: Printed, chosen: Chosen): Promise<void> {
  // On a terminal, the records themselves show the progress.
  const selection = machine.terminal() === undefined ? { ...chosen, report: recordReporter(machine, "exporting") } : chosen;
  const { now } = selection;
  if (format === "csv") machine.printText((bom ? BYTE_ORDER_MARK : "") + csvHeader);
  let printed = 0;
  const printLine = (line: string) => {
    machine.printLine(line);
    printed++;
  };
  const printCsv = (opportunity: WholeOpportunity, duplicates: readonly WholeOpportunity[]) => {
    machine.printText(csvLineOf(opportunity, now, duplicates));
    printed++;
  };
  const printCommonGrants = (opportunity: WholeOpportunity, history?: OpportunityEvent[]) =>
    printLine(JSON.stringify(commonGrantsOf(opportunity, history)));
  const printing = {
    ndjson: () => exportLines(db, selection, printLine),
    csv: () => exportOpportunities(db, selection, printCsv),
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
