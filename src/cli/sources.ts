import type { Command } from "commander";
import { importNameOf } from "../import/formats/all.ts";
import { addSource, listSources, newestPostedDates, removeSource, type SourceStatus, sourceStatuses } from "../sources/source.ts";
import { didYouMean } from "../text/closest.ts";
import { formatInstant } from "../text/instant.ts";
import { oneLine } from "../text/terminal-text.ts";
import { durationMs } from "./arguments.ts";
import { type Cli, type CommonOptions, command, commandGroup, withCatalog } from "./command.ts";
import { daysAgo, formatDuration, instantOrNull, printResult, TERMINAL_WIDTH, table } from "./output.ts";
import { probeCommand, type Waiting } from "./probe.ts";
import { wrapped } from "./wrap.ts";

function descriptionLines(description: string): string[] {
  return wrapped(oneLine(description), TERMINAL_WIDTH - 2).map((line) => `  ${line}`);
}

export function sourcesCommand(cli: Cli, waiting?: Waiting): Command {
  const list = command("list", "List the named sources").action(async (options: CommonOptions) => {
    const sources = await withCatalog(cli, options, listSources);
    const lines = sources.map(({ code, name }) => ({ code, import_as: importNameOf(code) ?? null, name }));
    const [header = "", ...rows] = table(lines, "No named sources").split("\n");
    const described = rows.flatMap((row, n) => [row, ...descriptionLines(sources[n]?.description ?? "")]);
    printResult(cli, options, sources, [header, ...described].join("\n"));
  });

  const add = command("add", "Name a source, or change its name and description")
    .argument("<code>", "source code; turned into upper case")
    .requiredOption("--name <name>", "display name")
    .requiredOption("--description <text>", "what the source publishes")
    .action(async (code: string, options: CommonOptions & { name: string; description: string }) => {
      const source = await withCatalog(cli, options, (db) => addSource(db, { code, name: options.name, description: options.description }));
      printResult(cli, options, source, `${source.code} is a named source`);
    });

  const remove = command("remove", "Remove a source's name; its records stay and count as OTHER")
    .argument("<code>", "source code")
    .action(async (code: string, options: CommonOptions) => {
      await withCatalog(cli, options, async (db) => {
        if (await removeSource(db, code)) return;
        const known = (await listSources(db)).map((source) => source.code);
        throw new Error(`Cannot remove source ${code.toUpperCase()}: it is not a named source${didYouMean(code, known)}`);
      });
      printResult(cli, options, { code: code.toUpperCase() }, `${code.toUpperCase()} is no longer a named source`);
    });

  const status = command("status", "Show each source's number of records, newest data and last import")
    .option("--max-age <duration>", "exit with 1 if a source's last import is older: 90s, 15m, 6h, 2d", durationMs)
    .addHelpText("after", STATUS_HELP)
    .action(async (options: CommonOptions & { maxAge?: number }) => {
      const now = cli.machine.now();
      const today = formatInstant(now).slice(0, 10);
      const { statuses, newest } = await withCatalog(cli, options, async (db) => ({
        statuses: await sourceStatuses(db),
        newest: await newestPostedDates(db, today),
      }));
      const rows = statuses.map((each) => {
        const date = newest.get(each.source) ?? null;
        const imported = each.last_import_at;
        return {
          ...each,
          newest_posted_on: date,
          newest_posted_age_days: date === null ? null : (Date.parse(today) - Date.parse(date)) / DAY_MS,
          last_import_at: instantOrNull(imported),
          last_import_age_seconds: imported === null ? null : Math.floor(Math.max(0, now - imported) / 1000),
        };
      });
      const lines = rows.map((row) => ({
        source: row.source,
        records: row.records,
        open: row.open,
        not_archived: row.live,
        newest_data: row.newest_posted_age_days === null ? null : daysAgo(row.newest_posted_age_days),
        last_import: row.last_import_age_seconds === null ? null : `${formatDuration(row.last_import_age_seconds * 1000)} ago`,
      }));
      printResult(cli, options, rows, table(lines, NOTHING_IMPORTED));
      if (options.maxAge !== undefined) reportStale(cli, statuses, options.maxAge);
    });

  return commandGroup("sources", "Manage named sources, and show how fresh each source is", [
    list,
    status,
    probeCommand(cli, waiting),
    add,
    remove,
  ]);
}

const DAY_MS = 86_400_000;

const STATUS_HELP = `
open          records with status open or closing_soon
not archived  records with any status but archived
newest data   when the source posted its newest record
last import   when an import of the source last finished, even without new data`;

const NOTHING_IMPORTED = "Nothing has been imported yet";

function reportStale(cli: Cli, statuses: readonly SourceStatus[], maxAge: number): void {
  const earliest = cli.machine.now() - maxAge;
  const stale = statuses.filter(({ last_import_at }) => last_import_at === null || last_import_at < earliest);
  if (statuses.length > 0 && stale.length === 0) return;
  const codes = stale.map(({ source }) => source).join(", ");
  cli.machine.printError(statuses.length === 0 ? NOTHING_IMPORTED : `Not imported for ${formatDuration(maxAge)}: ${codes}`);
  cli.exitCode = 1;
}
