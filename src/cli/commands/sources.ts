/** `fundfeed sources list`, `fundfeed sources status`, `fundfeed sources add` and `fundfeed sources remove`. */
import { Failure } from "../../../db/reason.ts";
import { importNameOf } from "../../import/formats/all.ts";
import { type SourceStatus, sourceStatusesAt } from "../../opportunities/source-counts.ts";
import { noNewsInWords, readSourceAccounts, type SourceAccount } from "../../sources/freshness.ts";
import { countUnresolved } from "../../sources/published-agencies.ts";
import { addSource, listSources, newestPostedDates, removeSource } from "../../sources/source.ts";
import { didYouMean } from "../../text/closest.ts";
import { capitalized, counted, formatDuration, withCommas } from "../../text/in-words.ts";
import { DAY_MS, dateAt, type EpochMs, secondsSince } from "../../text/instant.ts";
import { upperCaseCode } from "../../text/source-code.ts";
import { oneLine } from "../../text/terminal-text.ts";
import { type CliCommand, durationMs } from "../command.ts";
import { indented, instantOrNull, TERMINAL_WIDTH, table, wrapped } from "../output.ts";

export function listCommand(command: CliCommand): CliCommand {
  return command.action(async () => {
    const sources = await command.withCatalog(listSources);
    const lines = sources.map(({ code, name }) => ({ code, import_as: importNameOf(code) ?? null, name }));
    const [header = "", ...rows] = table(lines, "No named sources").split("\n");
    const described = rows.flatMap((row, n) => [row, ...indented(oneLine(sources[n]?.description ?? ""), "  ")]);
    command.print(sources, [header, ...described].join("\n"));
  });
}

export function addCommand(command: CliCommand): CliCommand {
  return command
    .argument("<code>", "source code; turned into upper case")
    .requiredOption("--name <name>", "display name")
    .requiredOption("--description <text>", "what the source publishes")
    .examples('fundfeed sources add OWN --name "Our list" --description "Calls we collect"')
    .action(async (code: string, options: { name: string; description: string }) => {
      const source = await command.withCatalog((db) => addSource(db, { code, name: options.name, description: options.description }));
      command.print(source, `${source.code} is a named source`);
    });
}

export function removeCommand(command: CliCommand): CliCommand {
  return command.argument("<code>", "source code").action(async (given: string) => {
    const code = upperCaseCode(given.trim());
    await command.withCatalog(async (db) => {
      if (await removeSource(db, code)) return;
      const known = (await listSources(db)).map((source) => source.code);
      throw new Failure(`Cannot remove source ${code}: it is not a named source${didYouMean(code, known)}`);
    });
    command.print({ code }, `${code} is no longer a named source`);
  });
}

export function statusCommand(command: CliCommand): CliCommand {
  return command
    .option("--max-age <duration>", "exit with 1 if a source's last import is older: 90s, 15m, 6h, 2d", durationMs)
    .addHelpText("after", STATUS_HELP)
    .examples("fundfeed sources status --max-age 2d")
    .action(async (options: { maxAge?: number }) => {
      const now = command.machine.now();
      const today = dateAt(now);
      const rows = await command.withCatalog(async (db) => {
        const [statuses, newest] = [await sourceStatusesAt(db, now), await newestPostedDates(db, today)];
        const unresolved = await countUnresolved(db);
        const accounts = await readSourceAccounts(db, now);
        return statuses.flatMap((each) => {
          const { source } = each;
          const account = accounts.find((account) => account.source === source);
          return account === undefined ? [] : rowOf(each, newest.get(source) ?? null, unresolved.get(source) ?? 0, account, now);
        });
      });
      command.print(rows, [table(rows.map(lineOf), NOTHING_IMPORTED), ...remarks(rows)].join("\n"));
      const { maxAge = Number.POSITIVE_INFINITY } = options;
      const stale = rows.filter(({ last_import_age_seconds: age }) => age === null || age * 1000 > maxAge);
      if (options.maxAge === undefined || (rows.length > 0 && stale.length === 0)) return;
      const codes = stale.map(({ source }) => source).join(", ");
      command.machine.printError(rows.length === 0 ? NOTHING_IMPORTED : `Not imported for ${formatDuration(maxAge)}: ${codes}`);
      command.cli.exitCode = 1;
    });
}

const STATUS_HELP = `
open      records with status open or closing_soon
posted    how long ago the source posted its newest record
changed   how long ago an import last found something new or changed
imported  how long ago an import last finished, even without anything new
state     silent: what was imported ends, or has nothing new, for longer than
          is usual for this source; ok; – if too little is known

--json also has the records that are not archived, as "live", and those whose
agency is not in the program's table, as "unresolved".`;

const NOTHING_IMPORTED = "Nothing has been imported yet";

type StatusRow = ReturnType<typeof rowOf>;

function rowOf(status: SourceStatus, newest: string | null, unresolved: number, account: SourceAccount, now: EpochMs) {
  const { last_import_at, age_seconds, known_on, silent_since, changed_at } = account;
  const { state, silent_because, usual_news_pause_days, usual_import_pause_days } = account;
  return {
    ...status,
    newest_posted_on: newest,
    newest_posted_age_days: newest === null ? null : (Date.parse(dateAt(now)) - Date.parse(newest)) / DAY_MS,
    last_change_at: instantOrNull(changed_at),
    last_change_age_seconds: secondsSince(changed_at, now),
    last_import_at,
    last_import_age_seconds: age_seconds,
    ...{ known_on, state, silent_because, silent_since, usual_news_pause_days, usual_import_pause_days, unresolved },
  };
}

function lineOf(row: StatusRow) {
  const { source, records, open, newest_posted_age_days: posted, last_change_age_seconds, last_import_age_seconds, state } = row;
  const since = (seconds: number | null) => (seconds === null ? null : formatDuration(seconds * 1000));
  return {
    source,
    records,
    open,
    posted: posted === null ? null : posted === 0 ? "today" : counted(posted, "day"),
    changed: since(last_change_age_seconds),
    imported: since(last_import_age_seconds),
    state,
  };
}

function remarks(rows: readonly StatusRow[]): string[] {
  const unresolved = rows.filter((row) => row.unresolved > 0).map((row) => `${row.source} ${withCommas(row.unresolved)}`);
  const found = `Records of no known agency: ${unresolved.join(", ")}; --agency finds them only by their published names`;
  const lines = [...rows.flatMap(reasonsOfSilence), ...(unresolved.length === 0 ? [] : [found])];
  return lines.length === 0 ? [] : ["", ...lines.flatMap((line) => wrapped(line, TERMINAL_WIDTH))];
}

function reasonsOfSilence({ source, silent_since, silent_because, known_on, ...row }: StatusRow): string[] {
  if (silent_since === null) return [];
  const { usual_news_pause_days: news, usual_import_pause_days: imports } = row;
  const isImport = silent_because === "no_imports";
  const why = isImport ? `nothing after ${known_on} was imported` : "imports find nothing new";
  const usual = counted((isImport ? (imports ?? news) : news) ?? 0, "day");
  return [`${capitalized(noNewsInWords(silent_since, source))}: ${why}; usually a pause is no longer than ${usual}`];
}
