/** `fundfeed import`: import files of one format. */
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { Argument } from "commander";
import type { ImportProgress } from "../../import/context.ts";
import { importEvents } from "../../import/events.ts";
import { formats } from "../../import/formats/all.ts";
import { openInput } from "../../import/readers/input.ts";
import { commandFor, recognize } from "../../import/recognize.ts";
import { importFiles } from "../../import/run.ts";
import { FIXED } from "../../text/moment.ts";
import { type CliCommand, type CommonOptions, isRedactingContacts, momentOption, oneWordOf, redactContactsOption } from "../command.ts";
import { formatOutcome, printRejects, withImportContext, withReadOnlyContext } from "../import-context.ts";
import { helpEntry } from "../output.ts";
import { untilStopped } from "../stopping.ts";

type GivenOptions = CommonOptions & {
  snapshot?: true;
  allowRemovals?: true;
  asOf?: number;
  dryRun?: true;
  rejects?: string;
  redactContacts?: true;
};

export function importCommand(importing: CliCommand): CliCommand {
  const names = [...formats.map(({ name }) => name), "events"];
  const list = [...formats, { name: "events", source: undefined, about: "history from another system as NDJSON: one event per line" }];
  const entries = list.map(({ name, source = "as stated", about }) => helpEntry(`${name.padEnd(18)}  ${source.padEnd(18)}`, about));
  importing
    .addArgument(formatArgument(names))
    .argument("[file...]", "files to import as one unit; - is standard input; .gz and .zip are unpacked")
    .option("--snapshot", "the files contain everything the source has: missing records become archived")
    .option("--allow-removals", "let a snapshot archive more than 20 % of a source's live records")
    .option("--as-of <when>", "date the changes back to this date or timestamp, to backfill history", momentOption(importing, FIXED))
    .option("--dry-run", "print what would happen, and store nothing")
    .option(
      "--rejects <file>",
      "file for rejected records (default: <file>.rejects.ndjson, in the data directory if the file is elsewhere)",
    )
    .addOption(redactContactsOption())
    .addHelpText("after", `\nFormats:\n${entries.join("\n")}`)
    .examples(
      "fundfeed import grants-gov GrantsDBExtract20261121v2.zip --snapshot",
      "fundfeed import sam-gov ContractOpportunitiesFullCSV.csv --dry-run",
      "fundfeed import records mine.ndjson more.ndjson.gz",
      "fundfeed export | ssh other.example.org fundfeed import records -",
    );
  return importing.action(async (name: string, files: string[], options: GivenOptions) => {
    if (!names.includes(name)) importing.error(`error: ${await missingFormat(name)}`);
    if (files.length === 0) importing.error("error: missing required argument 'file'");
    const withContext = options.dryRun ? withReadOnlyContext : withImportContext;
    const rejectsDirectory = options.database === undefined ? options.data : ".";
    const importOptions = { ...options, files, rejectsDirectory, redactContacts: isRedactingContacts(importing, options) };
    let hasBegun = false;
    const work = (stop: AbortSignal) =>
      withContext(importing, (context) => {
        const progress = (state: ImportProgress) => {
          hasBegun = true;
          return context.progress(state);
        };
        const format = formats.find((each) => each.name === name);
        const stoppable = { ...context, stop, progress };
        return format === undefined ? importEvents(stoppable, importOptions) : importFiles(stoppable, format, importOptions);
      });
    const outcome = await untilStopped(importing.machine, work, () => hasBegun);
    const { rejects, linked, ...counted } = outcome;
    if (options.dryRun) importing.print(counted, `Dry run: ${formatOutcome(outcome, true)}`);
    else importing.print({ ...counted, linked }, formatOutcome(outcome));
    if (outcome.rejected > 0) importing.cli.exitCode = 3;
    printRejects(importing.machine, outcome);
  });
}

/** Lets the path of an existing file pass: `missingFormat` then recognizes the file and suggests its format. */
function formatArgument(names: readonly string[]): Argument {
  const argument = oneWordOf(new Argument("<format>", "the files' format"), names);
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
