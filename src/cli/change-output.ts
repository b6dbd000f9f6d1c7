/** Where the change feed goes: standard output or a file, in one of the formats. */
import type { CatalogDb } from "../../db/engine.ts";
import { attempt, Failure } from "../../db/reason.ts";
import { severities } from "../events/event.ts";
import type { FeedFilter } from "../events/feed.ts";
import { changesAtomPrinter } from "../feed/atom.ts";
import { csvPrinter, jsonPrinter, markdownPrinter, ndjsonPrinter, type Printer } from "../feed/printers.ts";
import type { Machine } from "../runtime/machine.ts";
import { type Replacement, replaceFile } from "../runtime/replace-file.ts";
import { BYTE_ORDER_MARK } from "../text/csv.ts";
import { tablePrinter } from "./change-table.ts";
import type { CliCommand } from "./command.ts";
import { PLAIN_WIDTH } from "./results.ts";
import { stopPoint } from "./stopping.ts";

export const changeFormats = ["table", "json", "ndjson", "csv", "md", "atom"] as const;
export type ChangeFormat = (typeof changeFormats)[number];

export type OutputChoice = { format: ChangeFormat; output?: string | undefined; bom?: true | undefined; feedUrl?: string | undefined };

export type Output = {
  print: (text: string) => void;
  /** Call it between two batches. Throws if a stop signal came and the output is a file. */
  stopIfAsked: () => Promise<void>;
  /** Returns once what was printed is on disk. A file is on disk only after `finish`. */
  sync: () => void;
  finish: () => void;
  abandon: () => void;
};

/** File modes: web servers publish feeds, which name no contacts. Other formats may contain personal data. */
const [PUBLIC, PRIVATE] = [0o644, 0o600];

/** Adds the options of output. `what` names the entries in the help: "events". */
export function addOutputOptions(command: CliCommand, what: string, formats: readonly ChangeFormat[]): CliCommand {
  const offered = severities.filter((each) => each !== "unknown");
  return command
    .choice("--at-least <severity>", `leave out less severe ${what}; noise shows all`, offered, "informational")
    .choice("--format <format>", "output format (default: table; json with --json)", formats)
    .option("--bom", "begin CSV with a byte-order mark, by which Excel recognizes UTF-8")
    .option("-o, --output <file>", "write into this file, which is replaced as a whole");
}

/** Opens the output and runs `work`, which finishes it. Throws if the file cannot be written; the former one then stays. */
export async function withOutput<T>(command: CliCommand, choice: OutputChoice, work: (output: Output) => Promise<T>): Promise<T> {
  const output = openOutput(command, choice);
  try {
    return await work(output);
  } catch (error) {
    output.abandon();
    throw error;
  }
}

function openOutput({ machine }: CliCommand, { output: path, format }: OutputChoice): Output {
  if (path === undefined)
    return {
      print: machine.printText,
      stopIfAsked: async () => undefined,
      sync: machine.syncOutput,
      finish: machine.syncOutput,
      abandon: () => undefined,
    };
  const naming = <T>(work: () => T): T => attempt(`Cannot write ${path}`, work);
  const file: Replacement = naming(() => replaceFile(path, format === "atom" ? PUBLIC : PRIVATE));
  return {
    stopIfAsked: stopPoint(machine, new Failure(`Cannot write ${path}: it was stopped`)),
    print: (text) => naming(() => file.write(text)),
    sync: () => undefined,
    finish: () => naming(file.finish),
    abandon: file.abandon,
  };
}

export async function printerFor({ machine }: CliCommand, db: CatalogDb, choice: OutputChoice, chosen: FeedFilter): Promise<Printer> {
  switch (choice.format) {
    case "table":
      return tablePrinter(widthOf(machine, choice), choice.output === undefined && machine.terminal()?.hasColors === true);
    case "json":
      return jsonPrinter();
    case "ndjson":
      return ndjsonPrinter();
    case "csv":
      return csvPrinter(choice.bom ? BYTE_ORDER_MARK : "");
    case "md":
      return markdownPrinter();
    case "atom":
      return changesAtomPrinter(db, chosen, choice.feedUrl);
  }
}

/** Columns of a line: those of the terminal, unless a file is written. */
export function widthOf({ terminal }: Machine, { output }: OutputChoice): number {
  return (output === undefined ? terminal()?.columns : undefined) ?? PLAIN_WIDTH;
}
