/** `fundfeed mirror`: keep a copy of a server's records in sync. */
import { Failure } from "../../../db/reason.ts";
import { importNameOf } from "../../import/formats/all.ts";
import { clientOf, isFinal, mirrorReason, type ServerOptions } from "../../mirror/client.ts";
import { openSqliteStore } from "../../mirror/sqlite-store.ts";
import { openPrintingStore, type Scope } from "../../mirror/store.ts";
import { type SyncSummary, syncOnce } from "../../mirror/sync.ts";
import { type Machine, randomFraction } from "../../runtime/machine.ts";
import { readText } from "../../runtime/read-text.ts";
import { sleep } from "../../runtime/run-every.ts";
import { closest } from "../../text/closest.ts";
import { counted, formatDuration } from "../../text/in-words.ts";
import { apiBaseUrl, type CliCommand, durationAtLeast, sourceCodes } from "../command.ts";
import { progressReporter } from "../progress.ts";
import { repeat, stopSignal, type Waiting } from "../stopping.ts";

type MirrorOptions = {
  json?: true;
  into: string;
  every?: number;
  events?: true;
  source?: string[];
  keyFile?: string;
  allowHttp?: true;
};

const SQLITE_FILE = /\.(db|sqlite3?)$/i;
const ONLY_SQLITE =
  "a copy is an SQLite file; for NDJSON, use sqlite3 FILE 'select document from opportunities', or fundfeed export where the data are";

const LONG_WAIT_MS = 60_000;

type MirrorWaiting = Waiting & { timeoutMs?: number };

export function mirrorCommand(mirror: CliCommand, waiting: MirrorWaiting = { wait: sleep }): CliCommand {
  mirror
    .argument("<base-url>", "base URL of the server, ending in /v1", apiBaseUrl)
    .option("--into <file>", "file of the copy, ending in .sqlite, .sqlite3 or .db; - prints each new or changed record", "-")
    .former("--format", ONLY_SQLITE)
    .option("--every <duration>", "repeat, for example every 5m, until SIGTERM or SIGINT", durationAtLeast("10s"))
    .option("--events", "also copy the history of each changed record (fundfeed help sync says how many requests that takes)")
    .option("--source <codes>", "only these source codes, such as DSIP; repeat the option or separate codes with commas", sourceCodes)
    .option("--key-file <file>", "read the API key from this file instead of from FUNDFEED_KEY")
    .option("--allow-http", "allow sending the key to another machine without TLS")
    .addHelpText(
      "after",
      `
The API key is in FUNDFEED_KEY or --key-file, never on the command line.
An interrupted copy continues when the same command is run again.

The file of a copy has the views "opportunity", "event" and others with one
column a field, and full-text search (fundfeed help sql). Documents are
printed as the API returns them, one a line, each record before its events.`,
    )
    .examples(
      "fundfeed mirror https://api.example.org/v1 --into copy.sqlite --every 5m",
      "fundfeed mirror https://api.example.org/v1 --source SAM_GOV | jq .title",
    );
  return mirror.action(async (baseUrl: string, options: MirrorOptions) => {
    const { protocol, hostname } = new URL(baseUrl);
    const isThisMachine = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
    if (protocol !== "https:" && !isThisMachine && !options.allowHttp)
      mirror.error(`error: ${baseUrl} is not https; use --allow-http to send the key without TLS`);
    if (options.into !== "-" && !SQLITE_FILE.test(options.into))
      mirror.error(`error: ${options.into} does not end in .sqlite, .sqlite3 or .db: ${ONLY_SQLITE}`);
    await run(mirror, baseUrl, options, waiting);
  });
}

async function run(command: CliCommand, baseUrl: string, options: MirrorOptions, { wait, timeoutMs }: MirrorWaiting): Promise<void> {
  const { machine } = command;
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
  const { into } = options;
  const store = into === "-" ? openPrintingStore(machine.printLine) : openSqliteStore(into, scope, machine.printError);
  const warnOnce = sourceWarning(server, scope.source, machine);
  const sync = async () => {
    const reportProgress = progressReporter(machine);
    let saved = 0;
    const progress = ({ records, events }: SyncSummary) => {
      saved = records;
      reportProgress({ step: "mirroring", done: records, unit: `record${records === 1 ? "" : "s"}, ${counted(events, "event")}` });
    };
    try {
      await warnOnce();
      return await syncOnce({ ...server, ...scope, store, now: machine.now, progress });
    } catch (error) {
      const rest = into === "-" ? "" : "; the same command copies the rest";
      const soFar = saved === 0 ? "" : `; it came as far as ${counted(saved, "record")}${rest}`;
      throw new Failure(`Cannot mirror ${baseUrl}: ${mirrorReason(error)}${soFar}`, { cause: error });
    }
  };
  try {
    if (options.every === undefined) report(command, options, await sync());
    else
      await repeat(
        command,
        options.every,
        { wait, stop },
        async (time) => report(command, options, await sync(), time),
        (error) => !(error instanceof Error) || isFinal(error.cause),
      );
  } finally {
    await store.close();
  }
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

function report({ machine }: CliCommand, { json, into }: MirrorOptions, summary: SyncSummary, time?: string): void {
  const { records, events, mark } = summary;
  const print = into === "-" ? machine.printError : machine.printLine;
  const sentence = `${counted(records, "record")}, ${counted(events, "event")}; ${mark === null ? "the server has no records" : `up to date as of ${mark}`}`;
  print(json ? JSON.stringify({ ...(time !== undefined && { time }), ...summary }) : time === undefined ? sentence : `${time} ${sentence}`);
}

function readKey({ env }: Machine, file: string | undefined): string {
  const key = (file === undefined ? (env.FUNDFEED_KEY ?? "") : readText(file)).trim();
  const from = file ?? "FUNDFEED_KEY";
  if (key === "") throw new Failure(`Cannot mirror: put the API key into ${from}`);
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Failure(`Cannot mirror: ${from} does not contain an API key`);
  return key;
}
