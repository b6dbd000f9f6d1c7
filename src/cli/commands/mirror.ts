/** `fundfeed mirror`: keep a copy of a server's records in sync. */
import { Failure } from "../../../db/reason.ts";
import { importNameOf } from "../../import/formats/all.ts";
import { clientOf, isFinal, mirrorReason, type ServerOptions } from "../../mirror/client.ts";
import { openNdjsonStore } from "../../mirror/ndjson-store.ts";
import { openSqliteStore } from "../../mirror/sqlite-store.ts";
import { openPrintingStore, type Scope, type Store } from "../../mirror/store.ts";
import { type SyncSummary, syncOnce } from "../../mirror/sync.ts";
import { type Machine, randomFraction } from "../../runtime/machine.ts";
import { sleep } from "../../runtime/run-every.ts";
import { closest } from "../../text/closest.ts";
import { formatDuration } from "../../text/duration.ts";
import { apiBaseUrl, durationAtLeast, sourceCodes } from "../arguments.ts";
import type { Cli, CliCommand } from "../command.ts";
import { formatCount, helpEntry, type OutputOptions } from "../output.ts";
import { progressReporter } from "../progress.ts";
import { isPrivate, readKey } from "../server-key.ts";
import { repeat, stopSignal, type Waiting } from "../stopping.ts";

type MirrorOptions = OutputOptions & {
  into: string;
  format?: Format;
  every?: number;
  events?: true;
  source?: string[];
  keyFile?: string;
  allowHttp?: true;
};

const formats = ["ndjson", "sqlite"] as const;
type Format = (typeof formats)[number];

/** Longer waits are printed as a line, not only as progress. */
const LONG_WAIT_MS = 60_000;

/** What tests replace, so that they need not wait. */
type MirrorWaiting = Waiting & { timeoutMs?: number };

export function mirrorCommand(mirror: CliCommand, cli: Cli, waiting: MirrorWaiting = { wait: sleep }): CliCommand {
  mirror
    .argument("<base-url>", "base URL of the server, ending in /v1", apiBaseUrl)
    .option("--into <file>", "file of the copy; - prints each new or changed record", "-")
    .choice("--format <format>", "format of the copy (default: from the file's extension)", formats)
    .option("--every <duration>", "repeat, for example every 5m, until SIGTERM or SIGINT", durationAtLeast("10s"))
    .option("--events", "also copy the history of each changed record, with one more request for each")
    .option("--source <codes>", "only these source codes, such as DSIP; repeat the option or separate codes with commas", sourceCodes)
    .option("--key-file <file>", "read the API key from this file instead of from FUNDFEED_KEY")
    .option("--allow-http", "allow sending the key to another machine without TLS")
    .addHelpText(
      "after",
      `
The API key is in FUNDFEED_KEY or --key-file, never on the command line.
An interrupted copy continues when the same command is run again.

${helpEntry(".ndjson, .jsonl       ", "one document per line, newest first, each record followed by its events")}
${helpEntry(".db, .sqlite, .sqlite3", 'views "opportunity", "event" and others with one column a field, and full-text search (docs/sql.md)')}`,
    )
    .examples(
      "fundfeed mirror https://api.example.org/v1 --into copy.sqlite --every 5m",
      "fundfeed mirror https://api.example.org/v1 --source SAM_GOV | jq .title",
    );
  return mirror.action(async (baseUrl: string, options: MirrorOptions) => {
    if (!isPrivate(baseUrl) && !options.allowHttp)
      mirror.error(`error: ${baseUrl} is not https; use --allow-http to send the key without TLS`);
    const format = formatOf(options);
    if (format === undefined) mirror.error(`error: the format of ${options.into} is unknown; add --format ndjson or --format sqlite`);
    else if (options.into === "-" && format !== "ndjson") mirror.error("error: a database cannot be printed; give a file with --into");
    else await run(cli, baseUrl, format, options, waiting);
  });
}

async function run(cli: Cli, baseUrl: string, format: Format, options: MirrorOptions, { wait, timeoutMs }: MirrorWaiting): Promise<void> {
  const { machine } = cli;
  const stop = stopSignal(machine);
  const scope: Scope = { baseUrl, source: options.source?.toSorted() ?? [], events: options.events === true };
  const server: ServerOptions = {
    baseUrl,
    key: readKey(machine, options.keyFile),
    fetch: (request) => fetch(request, { verbose: false }), // BUN_CONFIG_VERBOSE_FETCH would print the key.
    wait,
    random: () => randomFraction(machine),
    signal: stop,
    ...(timeoutMs !== undefined && { timeoutMs }),
    onWait: (ms, error) =>
      (ms < LONG_WAIT_MS ? machine.showProgress : machine.printError)(`waiting ${formatDuration(ms)}: ${mirrorReason(error)}`),
  };
  const store = openStore(machine, format, options.into, scope);
  const warnOnce = sourceWarning(server, scope.source, machine);
  const sync = async () => {
    const reportProgress = progressReporter(machine);
    let saved = 0;
    const progress = ({ records, events }: SyncSummary) => {
      saved = records;
      reportProgress({ step: "mirroring", done: records, unit: `record${records === 1 ? "" : "s"}, ${formatCount(events, "event")}` });
    };
    try {
      await warnOnce();
      return await syncOnce({ ...server, ...scope, store, now: machine.now, progress });
    } catch (error) {
      throw new Failure(`Cannot mirror ${baseUrl}: ${mirrorReason(error)}${savedSoFar(saved, format, options)}`, { cause: error });
    }
  };
  try {
    if (options.every === undefined) report(cli, options, await sync());
    else await repeat(cli, options.every, { wait, stop }, async (time) => report(cli, options, await sync(), time), isFinalFailure);
  } finally {
    await store.close();
  }
}

function isFinalFailure(error: unknown): boolean {
  return !(error instanceof Error) || isFinal(error.cause);
}

/** The end of an error after some records were saved. A file of NDJSON is replaced as a whole, so it has none of them. */
function savedSoFar(saved: number, format: Format, { into }: MirrorOptions): string {
  if (saved === 0 || (format === "ndjson" && into !== "-")) return "";
  return `; it came as far as ${formatCount(saved, "record")}${into === "-" ? "" : "; the same command copies the rest"}`;
}

/** Warns once of source codes that the server does not name: most are mistyped, and nothing would be copied. */
function sourceWarning(server: ServerOptions, sources: readonly string[], { printError }: Machine): () => Promise<void> {
  const wanted = new Set(sources).difference(new Set(["OTHER"]));
  return async () => {
    if (wanted.size === 0) return;
    const known = (await clientOf(server).listSources()).data.map(({ code }) => code);
    for (const code of wanted.difference(new Set(known))) {
      const meant = closest(code, known);
      const advice =
        meant === undefined ? `Its sources are ${known.map(withImportName).join(", ")}.` : `Did you mean ${withImportName(meant)}?`;
      printError(`The server does not name a source ${code}; only records with exactly this code are copied. ${advice}`);
    }
    wanted.clear();
  };
}

function withImportName(code: string): string {
  const name = importNameOf(code);
  return name === undefined ? code : `${code} (imported as ${name})`;
}

/** Prints on standard output, unless the records go there. */
function report({ machine }: Cli, { json, into }: MirrorOptions, summary: SyncSummary, time?: string): void {
  const { records, events, mark } = summary;
  const print = into === "-" ? machine.printError : machine.printLine;
  const sentence = `${formatCount(records, "record")}, ${formatCount(events, "event")}; ${mark === null ? "the server has no records" : `up to date as of ${mark}`}`;
  print(json ? JSON.stringify({ ...(time !== undefined && { time }), ...summary }) : time === undefined ? sentence : `${time} ${sentence}`);
}

function openStore(machine: Machine, format: Format, into: string, scope: Scope): Store {
  if (into === "-") return openPrintingStore(machine.printLine);
  if (format === "ndjson") return openNdjsonStore(into, scope, machine.printError);
  return openSqliteStore(into, scope, machine.printError);
}

function formatOf({ into, format }: MirrorOptions): Format | undefined {
  if (format !== undefined) return format;
  if (into === "-" || /\.(ndjson|jsonl)$/i.test(into)) return "ndjson";
  return /\.(db|sqlite3?)$/i.test(into) ? "sqlite" : undefined;
}
