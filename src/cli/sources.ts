import type { Command } from "commander";
import { importNameOf } from "../import/formats/all.ts";
import { addSource, listSources, newestPostedDates, removeSource, type SourceStatus, sourceStatuses } from "../sources/source.ts";
import { didYouMean } from "../text/closest.ts";
import { formatInstant } from "../text/instant.ts";
import {
  answer,
  type Cli,
  type CommonOptions,
  command,
  commandGroup,
  duration,
  instantOrNull,
  inWords,
  table,
  withCatalog,
} from "./command.ts";

export function sourcesCommand(cli: Cli): Command {
  const list = command("list", "The source catalog").action(async (options: CommonOptions) => {
    const sources = await withCatalog(cli, options, listSources);
    const lines = sources.map(({ code, ...about }) => ({ code, import_as: importNameOf(code) ?? null, ...about }));
    answer(cli, options, sources, table(lines, "The catalog names no source"));
  });

  const add = command("add", "Name a source, or change the name and description of one")
    .argument("<code>", "its code; upper-cased")
    .requiredOption("--name <name>", "display name")
    .requiredOption("--description <text>", "what it publishes")
    .action(async (code: string, options: CommonOptions & { name: string; description: string }) => {
      const source = await withCatalog(cli, options, (db) => addSource(db, { code, name: options.name, description: options.description }));
      answer(cli, options, source, `${source.code} is in the catalog`);
    });

  const remove = command("remove", "Take a source out of the catalog; its records stay and count as OTHER")
    .argument("<code>", "its code")
    .action(async (code: string, options: CommonOptions) => {
      await withCatalog(cli, options, async (db) => {
        if (await removeSource(db, code)) return;
        const known = (await listSources(db)).map((source) => source.code);
        throw new Error(`Cannot remove source ${code.toUpperCase()}: the catalog does not name it${didYouMean(code, known)}`);
      });
      answer(cli, options, { code: code.toUpperCase() }, `${code.toUpperCase()} is no longer in the catalog`);
    });

  const status = command("status", "How many records each source has, how new its newest is, and when it was last imported")
    .option("--max-age <duration>", "exit with 1 when a source's last import is older: 90s, 15m, 6h, 2d", duration)
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
        last_import: row.last_import_age_seconds === null ? null : `${inWords(row.last_import_age_seconds * 1000)} ago`,
      }));
      answer(cli, options, rows, table(lines, "Nothing has been imported yet"));
      if (options.maxAge !== undefined) reportStale(cli, statuses, options.maxAge);
    });

  return commandGroup("sources", "The source catalog and how fresh each source is", [list, status, add, remove]);
}

const DAY_MS = 86_400_000;

const STATUS_HELP = `
open          records with the status open or closing_soon
not archived  all but those with the status archived
newest data   the newest date on which the source posted one of its records
last import   when an import of the source last finished, new data or not`;

function daysAgo(days: number): string {
  return days === 0 ? "today" : days === 1 ? "1 day ago" : `${days.toLocaleString("en-US")} days ago`;
}

function reportStale(cli: Cli, statuses: readonly SourceStatus[], maxAge: number): void {
  const earliest = cli.machine.now() - maxAge;
  const stale = statuses.filter(({ last_import_at }) => last_import_at === null || last_import_at < earliest);
  if (statuses.length > 0 && stale.length === 0) return;
  const codes = stale.map(({ source }) => source).join(", ");
  cli.machine.printError(statuses.length === 0 ? "Nothing has been imported yet" : `Not imported for ${inWords(maxAge)}: ${codes}`);
  cli.exitCode = 1;
}
