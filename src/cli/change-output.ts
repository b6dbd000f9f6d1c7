/** Where the change feed goes: standard output or a file, in one of the formats. */
import { styleText } from "node:util";
import type { CatalogDb } from "../../db/engine.ts";
import { attempt, Failure } from "../../db/reason.ts";
import { severities } from "../events/event.ts";
import type { FeedEntry, FeedFilter } from "../events/feed.ts";
import { entryInWords } from "../events/in-words.ts";
import { changesAtomPrinter } from "../feed/atom.ts";
import { csvPrinter, grouping, jsonPrinter, markdownPrinter, ndjsonPrinter, type Printer, standingOf } from "../feed/printers.ts";
import { numberInWords } from "../opportunities/opportunity.ts";
import { alsoAt, alsoAtInWords } from "../opportunities/related.ts";
import type { Machine } from "../runtime/machine.ts";
import { type Replacement, replaceFile } from "../runtime/replace-file.ts";
import { BYTE_ORDER_MARK } from "../text/csv.ts";
import { dateInWords, weekdayInWords } from "../text/date-in-words.ts";
import { clockOf } from "../text/instant.ts";
import { oneLine } from "../text/terminal-text.ts";
import type { CliCommand } from "./command.ts";
import { cut, wrapped } from "./output.ts";
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

const [NUMBER_MAX, TITLE_MIN, AGENCY_MIN] = [20, 10, 8];
const [TIME, SEVERITY] = [7, 15];

type Color = "bold" | "dim" | "green" | "red" | "yellow";
const colors: Readonly<Record<string, Color>> = { critical: "red", material: "yellow" };

const NEW = "new · ";

/** For people at a terminal: by day, and by opportunity, each change in words. */
function tablePrinter(width: number, hasColors: boolean): Printer {
  const groups = grouping();
  const painted = (text: string, color: Color | undefined) =>
    hasColors && color !== undefined ? styleText(color, text, { validateStream: false }) : text;

  const headOf = (entry: FeedEntry): string[] => {
    const { event, opportunity, duplicates } = entry;
    const number = cut(oneLine(numberInWords(opportunity)), NUMBER_MAX);
    const title = cut(oneLine(opportunity.title), Math.max(TITLE_MIN, width - TIME - Bun.stringWidth(number) - 2));
    const isNew = event.type === "opportunity_added";
    const facts = factsLine(entry, width - TIME - (isNew ? NEW.length : 0));
    const where = alsoAtInWords(alsoAt(duplicates), opportunity.status);
    return [
      `${clockOf(event.detected_at)}  ${painted(number, "bold")}  ${title}`,
      " ".repeat(TIME) + (isNew ? painted(NEW, "green") : "") + painted(facts, "dim"),
      ...(where === null ? [] : [" ".repeat(TIME) + painted(cut(oneLine(where), width - TIME), "dim")]),
    ];
  };
  const changesOf = (entry: FeedEntry): string[] => {
    const { event } = entry;
    const severity = cut(oneLine(event.severity), SEVERITY - 2);
    const tag = painted(severity, colors[event.severity]) + " ".repeat(SEVERITY - Bun.stringWidth(severity));
    const room = width - TIME - SEVERITY;
    const lines = entryInWords(entry).flatMap((words) => wrapped(oneLine(words), room).map((line) => cut(line, room)));
    return lines.map((line, n) => " ".repeat(TIME) + (n === 0 ? tag : " ".repeat(SEVERITY)) + line);
  };
  const linesOf = (entry: FeedEntry): string[] => {
    const { isFirst, isNewDay, isNewSet } = groups.next(entry);
    const day = isNewDay
      ? [...(isFirst ? [] : [""]), `${weekdayInWords(entry.event.detected_at)}, ${dateInWords(entry.event.detected_at)} (UTC)`, ""]
      : [];
    const head = isNewSet ? headOf(entry) : [];
    return [...day, ...head, ...(isNewSet && entry.event.type === "opportunity_added" ? [] : changesOf(entry))];
  };
  return { entries: (batch) => batch.flatMap((entry) => linesOf(entry).map((line) => `${line}\n`)).join("") };
}

/** If they do not fit, the name of the agency is cut: the deadline matters more. */
function factsLine(entry: FeedEntry, width: number): string {
  const [first = "", ...others] = standingOf(entry).map(oneLine);
  const rest = others.map((fact) => ` · ${fact}`).join("");
  return cut(cut(first, Math.max(AGENCY_MIN, width - Bun.stringWidth(rest))) + rest, width);
}
