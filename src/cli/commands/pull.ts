/** `fundfeed pull`: download what an upstream publishes, and import it. */
import { Argument } from "commander";
import { Failure } from "../../../db/reason.ts";
import type { ImportOutcome } from "../../import/context.ts";
import { emptySummary, type Summary } from "../../import/import-log.ts";
import type { Net } from "../../pull/download.ts";
import { type Pull, pull } from "../../pull/pull.ts";
import { type Upstream, upstreams } from "../../pull/upstreams.ts";
import { type Machine, randomFraction } from "../../runtime/machine.ts";
import { sleep } from "../../runtime/run-every.ts";
import { HOUR_MS } from "../../text/instant.ts";
import {
  type CliCommand,
  type CommonOptions,
  durationAtLeast,
  isRedactingContacts,
  oneWordOf,
  parserBy,
  plainHttpUrl,
  redactContactsOption,
} from "../command.ts";
import { formatOutcome, printRejects, withImportContext } from "../import-context.ts";
import { helpEntry } from "../output.ts";
import { progressReporter } from "../progress.ts";
import { repeat, untilStopped } from "../stopping.ts";

type PullOptions = CommonOptions & {
  every?: number;
  keep?: string;
  from?: URL;
  allowHttp?: true;
  allowRemovals?: true;
  force?: true;
  rejects?: string;
  contact?: string;
  redactContacts?: true;
};

type Waiting = Pick<Net, "timeouts" | "wait">;

const TIMEOUTS = { responseMs: 30_000, silenceMs: 60_000, totalMs: HOUR_MS };

export function pullCommand(command: CliCommand, waiting: Waiting = { timeouts: TIMEOUTS, wait: sleep }): CliCommand {
  const names = upstreams.map(({ name }) => name);
  const list = upstreams.map(({ name, format, about }) => helpEntry(`${name.padEnd(18)}  ${(format.source ?? "").padEnd(12)}`, about));
  const keys = upstreams.flatMap(({ name, keyFrom }) => (keyFrom === undefined ? [] : [`${name} needs a key, in ${keyFrom}.`]));
  return command
    .addArgument(oneWordOf(new Argument("<upstream>", "the upstream"), names))
    .option("--every <duration>", "repeat, for example every 6h, until SIGTERM or SIGINT", durationAtLeast("1m"))
    .option("--keep <dir>", "keep the downloaded files in a new subdirectory of this directory")
    .option("--from <url>", "base URL to download from (FUNDFEED_<UPSTREAM>_URL)", baseUrl)
    .option("--allow-http", "allow a base URL without TLS")
    .option("--allow-removals", "let a snapshot archive more than 20 % of a source's live records")
    .option("--force", "download and import even what has not changed since the last pull")
    .option(
      "--rejects <file>",
      "file for rejected records (default: <upstream>.rejects.ndjson in the data directory, or here with --database)",
    )
    .setting("--contact <address>", "e-mail address or page by which the upstreams can reach you, sent with each request", contactAddress)
    .addOption(redactContactsOption())
    .addHelpText("after", `\nUpstreams:\n${list.join("\n")}\n\nIn capitals: the source code of the records.\n${keys.join("\n")}`)
    .examples("fundfeed pull grants-gov", "fundfeed pull dsip --every 6h --contact ann@example.org")
    .action(async (name: string, options: PullOptions) => {
      const upstream = upstreams.find((each) => each.name === name);
      if (upstream !== undefined) await untilStopped(command.machine, (stop) => run(command, upstream, options, { ...waiting, stop }));
    });
}

async function run(command: CliCommand, upstream: Upstream, options: PullOptions, waiting: Waiting & { stop: AbortSignal }): Promise<void> {
  const { machine } = command;
  const job = { ...jobOf(machine, upstream, options), redactContacts: isRedactingContacts(command, options) };
  const { allowHttp = false, contact } = options;
  const random = () => randomFraction(machine);
  const net = { ...waiting, allowHttp, contact, now: machine.now, random, progress: downloadProgress(machine) };
  const pullOnce = () => withImportContext(command, (context) => pull(context, net, job));

  if (options.every === undefined) {
    const outcome = await pullOnce();
    command.print(summaryOf(upstream, outcome), textOf(upstream, outcome));
    if (outcome !== undefined) printRejects(machine, outcome);
    if (outcome !== undefined && outcome.rejected > 0) command.cli.exitCode = 3;
    return;
  }
  await repeat(command, options.every, waiting, async (time) => {
    const outcome = await pullOnce();
    machine.printLine(options.json ? JSON.stringify({ time, ...summaryOf(upstream, outcome) }) : `${time} ${textOf(upstream, outcome)}`);
    if (outcome !== undefined) printRejects(machine, outcome);
  });
}

function jobOf({ env }: Machine, upstream: Upstream, options: PullOptions): Pull {
  const { from, database } = options;
  const { name } = upstream;
  const rejects = options.rejects ?? (database === undefined ? undefined : `${name}.rejects.ndjson`);
  const key = keyOf(env, upstream);
  if (key === "") throw new Failure(`Cannot pull ${name}: put its key into the environment variable ${upstream.keyFrom}`);
  const base = baseOf(env, upstream, from);
  return { ...options, upstream, base, fallback: fallbackOf(env, upstream, base), key, rejects };
}

/** The key from the environment; "" if it is missing, `undefined` if the upstream needs none. */
export function keyOf(env: Machine["env"], { keyFrom }: Upstream): string | undefined {
  return keyFrom === undefined ? undefined : (env[keyFrom] ?? "").trim();
}

/** The base URL by option, environment or table. Throws if the one in the environment is not valid. */
export function baseOf(env: Machine["env"], upstream: Upstream, from: URL | undefined): URL {
  const variable = `FUNDFEED_${upstream.name.replaceAll("-", "_").toUpperCase()}_URL`;
  const url = from ?? parseBaseUrl(env[variable] ?? upstream.base);
  if (url === undefined) throw new Failure(`Cannot pull ${upstream.name}: ${variable} must be ${BASE_URL}`);
  return url;
}

/** The upstream's own site stands in for its own API, and for another one only if the environment says so. */
function fallbackOf(env: Machine["env"], upstream: Upstream, base: URL): URL | undefined {
  const { name, fallback } = upstream;
  if (fallback === undefined) return undefined;
  const given = env[fallback.variable] ?? (base.href === upstream.base ? fallback.base : undefined);
  const url = given === undefined ? undefined : parseBaseUrl(given);
  if (given !== undefined && url === undefined) throw new Failure(`Cannot pull ${name}: ${fallback.variable} must be ${BASE_URL}`);
  return url;
}

function summaryOf({ name }: Upstream, outcome: ImportOutcome | undefined): Summary & { source: string; fetched: boolean } {
  const { rejects, ...summary } = outcome ?? { ...emptySummary, rejects: [] };
  return { source: name, fetched: outcome !== undefined, ...summary };
}

function textOf({ name }: Upstream, outcome: ImportOutcome | undefined): string {
  return `${name}: ${outcome === undefined ? "nothing new" : formatOutcome(outcome)}`;
}

function downloadProgress(machine: Machine): Net["progress"] {
  const report = progressReporter(machine);
  return (bytes, total, response = 1, planned) => {
    if (planned !== undefined) return report({ step: "downloading", done: response, total: planned, unit: "responses" });
    const megabytes = { done: bytes / 1e6, total: total === undefined ? undefined : total / 1e6, unit: "MB", rateUnit: "MB" };
    report({ step: response === 1 ? "downloading" : `downloading response ${response},`, ...megabytes });
  };
}

/** An address that can stand in the comment of a User-Agent header. */
const contactAddress = parserBy("It must be an e-mail address or an http or https URL.", (text) => {
  const isAddress = /^[^\s@()<>]+@[^\s@()<>]+\.[a-z]{2,}$/i.test(text) || /^https?:\/\/./.test(text);
  return isAddress && text.length <= 200 && !/[^!-~]|[()\\;]/.test(text) ? text : undefined;
});

const BASE_URL = "an http or https URL without query and password, such as https://mirror.example.org/extracts/";

const baseUrl = parserBy(`It must be ${BASE_URL}.`, parseBaseUrl);

function parseBaseUrl(text: string): URL | undefined {
  return plainHttpUrl(text.endsWith("/") ? text : `${text}/`);
}
