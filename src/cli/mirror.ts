import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { messageOf, reasonOf } from "../../db/reason.ts";
import { importNameOf } from "../import/formats/all.ts";
import { type Feed, Refused, readSourceCodes } from "../mirror/feed.ts";
import { openNdjsonStore } from "../mirror/ndjson-store.ts";
import { openSqliteStore } from "../mirror/sqlite-store.ts";
import { openPrintingStore, type Scope, type Store } from "../mirror/store.ts";
import { type Summary, syncOnce } from "../mirror/sync.ts";
import { pause, repeat } from "../pull/repeat.ts";
import type { Machine } from "../runtime/machine.ts";
import { closest } from "../text/closest.ts";
import { formatInstant } from "../text/instant.ts";
import { type AnyOptions, baseAddress, type Cli, command, durationFrom, examples, inWords } from "./command.ts";
import { progressReporter } from "./progress.ts";

type MirrorOptions = AnyOptions & {
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

/** Waits that are worth a line of their own. */
const LONG_WAIT_MS = 60_000;

/** What a test replaces: nobody wants to wait there. */
type Patience = { wait: (ms: number, stop?: AbortSignal) => Promise<void>; timeoutMs?: number };

export function mirrorCommand(cli: Cli, patient: Patience = { wait: pause }): Command {
  const mirror = command("mirror", "Keep a copy of what a server publishes in step, through its API alone")
    .argument("<base-url>", "the server's base address, ending in /v1", baseAddress)
    .option("--into <file>", "the copy; - prints each new or changed record", "-")
    .addOption(new Option("--format <format>", "of the copy (default: by the file's ending)").choices(formats))
    .option("--every <duration>", "bring it in step again and again, such as every 5m, until SIGTERM or SIGINT", durationFrom("10s"))
    .option("--events", "copy the history of each changed record, too: one more request for each")
    .option("--source <codes>", "only these source codes, such as DSIP; repeated or with commas", sourceCodes)
    .option("--key-file <file>", "read the key from there instead of from FUNDFEED_KEY")
    .option("--allow-http", "send the key to another machine over plain http")
    .addHelpText(
      "after",
      `
The key is read from FUNDFEED_KEY, never from the command line.
A copy goes on where it was ended, by whatever: run the same command again.

  .ndjson, .jsonl          one document a line, newest first, each record followed by its events
  .db, .sqlite, .sqlite3   tables "opportunities" and "events" with a JSON "document" each
${examples("fundfeed mirror https://api.example.org/v1 --into opportunities.sqlite --every 5m", "fundfeed mirror https://api.example.org/v1 --source SAM_GOV | jq .title")}`,
    );
  return mirror.action(async (baseUrl: string, options: MirrorOptions) => {
    if (!isPrivate(baseUrl) && !options.allowHttp) mirror.error(`error: ${baseUrl} is not https (--allow-http lets http pass)`);
    const format = formatOf(options);
    if (format === undefined) mirror.error(`error: the ending of ${options.into} tells no format; add --format ndjson or --format sqlite`);
    else if (options.into === "-" && format !== "ndjson") mirror.error("error: a database cannot be printed; name a file with --into");
    else await run(cli, baseUrl, format, options, patient);
  });
}

async function run(cli: Cli, baseUrl: string, format: Format, options: MirrorOptions, { wait, timeoutMs }: Patience): Promise<void> {
  const { machine } = cli;
  const stop = new AbortController();
  machine.onStopSignal(() => stop.abort());
  const scope: Scope = { baseUrl, source: options.source ?? [], events: options.events === true };
  const feed: Feed = {
    baseUrl,
    key: readKey(machine, options.keyFile),
    fetch: (request) => fetch(request, { verbose: false }), // BUN_CONFIG_VERBOSE_FETCH would print the key.
    sleep: wait,
    random: () => Buffer.from(machine.randomBytes(4)).readUInt32BE() / 2 ** 32,
    stop: stop.signal,
    ...(timeoutMs !== undefined && { timeoutMs }),
    waiting: (ms, reason) => (ms < LONG_WAIT_MS ? machine.showProgress : machine.printError)(`waiting ${inWords(ms)}: ${reason}`),
  };
  const store = openStore(machine, format, options.into, scope);
  const warnOnce = sourceWarning(feed, scope.source, machine);
  const turn = async () => {
    const reportProgress = progressReporter(machine);
    const progress = ({ records, events }: Summary) =>
      reportProgress({ step: "mirroring", done: records, unit: `record${records === 1 ? "" : "s"}, ${counted(events, "event")}` });
    try {
      await warnOnce();
      return await syncOnce({ ...feed, ...scope, store, progress });
    } catch (error) {
      throw new Error(`Cannot mirror ${baseUrl}: ${reasonOf(error)}`, { cause: error });
    } finally {
      machine.showProgress("");
    }
  };
  try {
    if (options.every === undefined) report(cli, options, await turn());
    else await repeat(options.every, { now: machine.now, wait, stop: stop.signal }, () => keepOn(cli, options, turn, stop.signal));
  } finally {
    await store.close();
  }
}

/** Warns of sources that the server does not name, which most often are mistyped and copy nothing; once, as soon as the server answers. */
function sourceWarning(feed: Feed, sources: readonly string[], { printError }: Machine): () => Promise<void> {
  const wanted = new Set(sources).difference(new Set(["OTHER"]));
  return async () => {
    if (wanted.size === 0) return;
    const known = await readSourceCodes(feed);
    for (const code of wanted.difference(new Set(known))) {
      const meant = closest(code, known);
      const advice = meant === undefined ? `It names ${known.map(withImportName).join(", ")}.` : `Did you mean ${withImportName(meant)}?`;
      printError(`The server names no source ${code}: only records with that very code are copied. ${advice}`);
    }
    wanted.clear();
  };
}

function withImportName(code: string): string {
  const name = importNameOf(code);
  return name === undefined ? code : `${code} (imported as ${name})`;
}

/** What passes is told, and tried again at the next turn. */
async function keepOn(cli: Cli, options: MirrorOptions, turn: () => Promise<Summary>, stop: AbortSignal): Promise<void> {
  const time = formatInstant(cli.machine.now());
  try {
    report(cli, options, await turn(), time);
  } catch (error) {
    if (stop.aborted) return;
    if (!(error instanceof Error) || error.cause instanceof Refused) throw error;
    cli.machine.printError(`${time} ${error.message}`);
  }
}

/** On standard output, unless the records themselves go there. */
function report({ machine }: Cli, { json, into }: MirrorOptions, summary: Summary, time?: string): void {
  const { records, events, mark } = summary;
  const say = into === "-" ? machine.printError : machine.printLine;
  const sentence = `${counted(records, "record")}, ${counted(events, "event")}; in step with ${mark ?? "an empty catalog"}`;
  say(json ? JSON.stringify({ ...(time !== undefined && { time }), ...summary }) : time === undefined ? sentence : `${time} ${sentence}`);
}

function counted(count: number, name: string): string {
  return `${count.toLocaleString("en-US")} ${name}${count === 1 ? "" : "s"}`;
}

function openStore(machine: Machine, format: Format, into: string, scope: Scope): Store {
  if (into === "-") return openPrintingStore(machine.printLine);
  return format === "sqlite" ? openSqliteStore(into, scope) : openNdjsonStore(into, scope);
}

function formatOf({ into, format }: MirrorOptions): Format | undefined {
  if (format !== undefined) return format;
  if (into === "-" || /\.(ndjson|jsonl)$/i.test(into)) return "ndjson";
  return /\.(db|sqlite3?)$/i.test(into) ? "sqlite" : undefined;
}

function readKey({ env }: Machine, file: string | undefined): string {
  const key = (file === undefined ? (env.FUNDFEED_KEY ?? "") : readKeyFile(file)).trim();
  const from = file ?? "FUNDFEED_KEY";
  if (key === "") throw new Error(`Cannot mirror: there is no key in ${from}`);
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error(`Cannot mirror: what is in ${from} is not a key`);
  return key;
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`Cannot read the key: ${messageOf(error)}`);
  }
}

function sourceCodes(text: string, earlier: string[] = []): string[] {
  const codes = text.split(",").map((code) => code.trim().toUpperCase());
  if (codes.includes("")) throw new InvalidArgumentError("It must be source codes with commas between them.");
  return [...new Set([...earlier, ...codes])].sort();
}

/** Whether nobody on the way to that address can read the key. */
function isPrivate(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "https:" || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
