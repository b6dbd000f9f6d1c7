import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Argument, type Command } from "commander";
import type { CatalogDb } from "../../db/engine.ts";
import { openCatalogAt } from "../../db/open.ts";
import { NoData } from "../../db/opening.ts";
import { openCatalog } from "../../db/sqlite/open.ts";
import type { ImportContext, Options, Outcome, Progress } from "../import/context.ts";
import { importEvents } from "../import/events.ts";
import { formats } from "../import/formats/all.ts";
import { openInput } from "../import/input.ts";
import { commandFor, recognize } from "../import/recognize.ts";
import { importFiles } from "../import/run.ts";
import type { Machine } from "../runtime/machine.ts";
import { oneOf, timestamp } from "./arguments.ts";
import { type Cli, type CommonOptions, command, isRedactingContacts, redactContactsOption, withCatalog } from "./command.ts";
import { examples, printResult } from "./output.ts";
import { progressReporter } from "./progress.ts";

type ImportOptions = CommonOptions & {
  snapshot?: true;
  allowRemovals?: true;
  asOf?: number;
  dryRun?: true;
  rejects?: string;
  redactContacts?: true;
};

/** How often an import yields to the event loop, which delivers signals. */
const YIELD_EVERY_MS = 100;

export function importCommand(cli: Cli): Command {
  const names = [...formats.map(({ name }) => name), "events"];
  const list = [
    ...formats.map(({ name, source, about }) => ({ name, source, about })),
    { name: "events", source: undefined, about: "history from another system as NDJSON: one event per line" },
  ];
  const importing = command("import", "Import files of one format; every difference from the stored records becomes an event")
    .usage("[options] <format> <file...>")
    .addArgument(formatArgument(names))
    .argument("[file...]", "files to import as one unit; - is standard input; .gz and .zip are unpacked")
    .option("--snapshot", "the files contain everything the source has: missing records become archived")
    .option("--allow-removals", "let a snapshot archive more than 20 % of a source's live records")
    .option("--as-of <timestamp>", "date the changes back to this instant, to backfill history", timestamp)
    .option("--dry-run", "print what would happen, and store nothing")
    .option(
      "--rejects <file>",
      "file for rejected records (default: <file>.rejects.ndjson, in the data directory if the file is elsewhere)",
    )
    .addOption(redactContactsOption())
    .addHelpText(
      "after",
      `\nFormats:\n${list.map(({ name, source = "as stated", about }) => `  ${name.padEnd(20)} ${source.padEnd(20)} ${about}`).join("\n")}`,
    )
    .addHelpText(
      "after",
      examples(
        "fundfeed import grants-gov GrantsDBExtract20261121v2.zip --snapshot",
        "fundfeed import sam-gov ContractOpportunitiesFullCSV.csv --dry-run",
        "fundfeed import records mine.ndjson more.ndjson.gz",
        "fundfeed export | ssh other.example.org fundfeed import records -",
      ),
    );
  return importing.action(async (name: string, files: string[], options: ImportOptions) => {
    if (!names.includes(name)) importing.error(`error: ${await missingFormat(name)}`);
    if (files.length === 0) importing.error("error: missing required argument 'file'");
    const withContext = options.dryRun ? withReadOnlyContext : withImportContext;
    const order = { ...optionsOf(files, options), redactContacts: isRedactingContacts(cli, options) };
    const outcome = await untilStopped(cli.machine, (stopping) =>
      withContext(cli, options, (context) => {
        const format = formats.find((each) => each.name === name);
        const stoppable = { ...context, ...stopping(context) };
        return format === undefined ? importEvents(stoppable, order) : importFiles(stoppable, format, order);
      }),
    );
    cli.machine.showProgress("");
    const { rejects: _, ...summary } = outcome;
    printResult(cli, options, summary, inSentences(outcome, options.dryRun === true));
    if (outcome.rejected > 0) cli.exitCode = 3;
    printRejects(cli.machine, outcome);
  });
}

/** Prints the most frequent reasons for rejections, and the files that list all of them. */
export function printRejects({ printError }: Machine, { reasons = [], rejects }: Pick<Outcome, "reasons" | "rejects">): void {
  for (const { reason, records, file, line } of reasons)
    printError(`${records.toLocaleString("en-US")} rejected: ${reason}; first at ${file === "-" ? "standard input" : file}:${line}`);
  for (const file of rejects) printError(`Rejected records with their reasons are in ${file}`);
}

/** Lets the path of an existing file pass: `missingFormat` then recognizes the file and suggests its format. */
function formatArgument(names: readonly string[]): Argument {
  const argument = oneOf(new Argument("<format>", "the files' format"), names);
  const parse = argument.parseArg;
  return argument.argParser((text, previous) => (!names.includes(text) && existsSync(text) ? text : parse?.(text, previous)));
}

async function missingFormat(file: string): Promise<string> {
  const input = await openInput(file, {}, tmpdir()).catch(() => undefined);
  const found = input && (await recognize(input));
  input?.close();
  const hint = found === undefined ? "" : `; the file looks like ${found.what}`;
  return `the format is missing: ${commandFor(found?.format ?? "FORMAT", file)}${hint}`;
}

/**
 * The first signal ends an import between two steps. While the import still waits, for another import or for standard input, nothing is
 * stored yet, and the program ends at once. So it does at the second signal.
 */
function untilStopped<T>(
  machine: Machine,
  work: (stopping: (context: ImportContext) => Pick<ImportContext, "stop" | "progress">) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const cut = Promise.withResolvers<never>();
  let hasBegun = false;
  machine.onStopSignal(() => {
    if (stop.signal.aborted) cut.reject(new Error("a second signal cut it off"));
    if (!hasBegun) cut.reject(new Error("it was stopped before anything was stored"));
    stop.abort();
  });
  const stopping = ({ progress }: ImportContext) => ({
    stop: stop.signal,
    progress: (made: Progress) => {
      hasBegun = true;
      return progress(made);
    },
  });
  return Promise.race([work(stopping), cut.promise]);
}

/** The catalog, and a directory for the work's own files: that of the data, or a temporary one where these are in PostgreSQL. */
export async function withImportContext<T>(cli: Cli, options: CommonOptions, work: (context: ImportContext) => Promise<T>): Promise<T> {
  if (options.database !== undefined)
    return inTemporary((directory) => withCatalog(cli, options, (db) => work(importContextOf(cli, db, directory))));
  return withCatalog(cli, options, (db) => work(importContextOf(cli, db, options.data)));
}

/** The same for what changes nothing: the catalog is only read, and where there is none, an empty one in memory stands for it. */
async function withReadOnlyContext<T>(cli: Cli, options: CommonOptions, work: (context: ImportContext) => Promise<T>): Promise<T> {
  return inTemporary(async (directory) => {
    const db = await openCatalogAt({ ...options, mode: "read" }, cli.machine.now()).catch((error: unknown) => {
      if (error instanceof NoData) return openCatalog(":memory:", cli.machine.now());
      throw error;
    });
    try {
      return await work(importContextOf(cli, db, directory));
    } finally {
      await db.close();
    }
  });
}

function importContextOf(cli: Cli, db: CatalogDb, directory: string): ImportContext {
  const { now, printError } = cli.machine;
  const report = progressReporter(cli.machine);
  let heardAt = now();
  const progress = async (made: Progress) => {
    report({ ...made, unit: "records" });
    if (made.share < 1 && now() - heardAt < YIELD_EVERY_MS) return;
    await Bun.sleep(0); // Signals are delivered by the event loop.
    heardAt = now();
  };
  return { db, directory, now, notify: printError, progress };
}

async function inTemporary<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "fundfeed-import-"));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function optionsOf(files: readonly string[], { snapshot, allowRemovals, asOf, dryRun, rejects, data, database }: ImportOptions): Options {
  return {
    files,
    snapshot: snapshot === true,
    allowRemovals: allowRemovals === true,
    asOf,
    dryRun: dryRun === true,
    rejects,
    rejectsDirectory: database === undefined ? data : ".",
  };
}

export function inSentences(outcome: Outcome, dryRun: boolean): string {
  const { read, added, changed, unchanged, merged, rejected, removed, linked, events } = outcome;
  const inWords = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, count]) => `${count.toLocaleString("en-US")} ${name}`)
      .join(", ");
  const ofRead = inWords({ added, changed, unchanged, merged, rejected });
  return `${dryRun ? "Would be: " : ""}${inWords({ read })}: ${ofRead}; ${inWords({ removed, linked, [events === 1 ? "event" : "events"]: events })}`;
}
