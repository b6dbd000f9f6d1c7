import { Argument, type Command, InvalidArgumentError } from "commander";
import { messageOf } from "../../db/reason.ts";
import type { Outcome } from "../import/context.ts";
import { emptySummary, type Summary } from "../import/import-log.ts";
import type { Net } from "../pull/download.ts";
import { type Pull, pull } from "../pull/pull.ts";
import { pause, repeat } from "../pull/repeat.ts";
import { type Upstream, upstreams } from "../pull/upstreams.ts";
import type { Machine } from "../runtime/machine.ts";
import { formatInstant } from "../text/instant.ts";
import { answer, type Cli, type CommonOptions, command, durationFrom, oneOf, redactContactsOption, redactsContacts } from "./command.ts";
import { inSentences, printRejects, withImportContext } from "./import.ts";
import { progressReporter } from "./progress.ts";

type PullOptions = CommonOptions & {
  every?: number;
  keep?: string;
  from?: URL;
  allowHttp?: true;
  allowRemovals?: true;
  force?: true;
  rejects?: string;
  redactContacts?: true;
};

/** What a test replaces: nobody wants to wait there. */
type Patience = Pick<Net, "timeouts" | "wait">;

const TIMEOUTS = { answerMs: 30_000, silenceMs: 60_000, totalMs: 3_600_000 };

export function pullCommand(cli: Cli, patient: Patience = { timeouts: TIMEOUTS, wait: pause }): Command {
  const names = upstreams.map(({ name }) => name);
  const list = upstreams.map(({ name, format, about }) => `  ${name.padEnd(20)} ${(format.source ?? "").padEnd(20)} ${about}`).join("\n");
  return command("pull", "Fetch what an upstream publishes and import it")
    .addArgument(oneOf(new Argument("<source>", "the upstream"), names))
    .option("--every <duration>", "do it again and again, such as every 6h, until SIGTERM or SIGINT", durationFrom("1m"))
    .option("--keep <dir>", "keep the fetched files in a directory of their own in there")
    .option("--from <url>", "base address to fetch from (FUNDFEED_<SOURCE>_URL)", httpAddress)
    .option("--allow-http", "fetch from a base address that is not https")
    .option("--allow-removals", "let a snapshot remove more than 20 % of a source's live records")
    .option("--force", "fetch and import what has not changed since the last pull, too")
    .option(
      "--rejects <file>",
      "where rejected records go (default: <source>.rejects.ndjson in the data directory, or here with --database)",
    )
    .addOption(redactContactsOption())
    .addHelpText(
      "after",
      `\nSources:\n${list}\n\nIn capitals: the source code of their records.\nThe key that sam-gov-api needs is read from FUNDFEED_SAM_GOV_KEY.`,
    )
    .action(async (name: string, options: PullOptions) => {
      const upstream = upstreams.find((each) => each.name === name);
      if (upstream !== undefined) await untilCut(cli.machine, (stop) => run(cli, upstream, options, { ...patient, stop }));
    });
}

/** The first signal ends things in good order; the second ends the program, which costs no more than being killed. */
function untilCut(machine: Machine, work: (stop: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const cut = Promise.withResolvers<void>();
  machine.onStopSignal(() => {
    if (stop.signal.aborted) cut.reject(new Error("Cut off by a second signal"));
    stop.abort();
  });
  return Promise.race([work(stop.signal), cut.promise]);
}

async function run(cli: Cli, upstream: Upstream, options: PullOptions, patient: Patience & { stop: AbortSignal }): Promise<void> {
  const { machine } = cli;
  const order = { ...orderOf(machine, upstream, options), redactContacts: redactsContacts(cli, options) };
  const net = {
    ...patient,
    allowHttp: options.allowHttp === true,
    now: machine.now,
    random: () => randomOf(machine),
    progress: downloads(cli),
  };
  const turn = () => withImportContext(cli, options, (context) => pull(context, net, order)).finally(() => machine.showProgress(""));

  if (options.every === undefined) {
    const outcome = await turn();
    answer(cli, options, summaryOf(upstream, outcome), sentenceOf(upstream, outcome));
    if (outcome !== undefined) printRejects(machine, outcome);
    if (outcome !== undefined && outcome.rejected > 0) cli.exitCode = 3;
    return;
  }
  await repeat(options.every, { now: machine.now, ...patient }, async () => {
    const time = formatInstant(machine.now());
    try {
      const outcome = await turn();
      machine.printLine(
        options.json ? JSON.stringify({ time, ...summaryOf(upstream, outcome) }) : `${time} ${sentenceOf(upstream, outcome)}`,
      );
      if (outcome !== undefined) printRejects(machine, outcome);
    } catch (error) {
      if (!patient.stop.aborted) machine.printError(`${time} ${messageOf(error)}`);
    }
  });
}

function orderOf({ env }: Machine, upstream: Upstream, options: PullOptions): Pull {
  const { from, keep, force, allowRemovals, database } = options;
  const { name, base, keyFrom } = upstream;
  const rejects = options.rejects ?? (database === undefined ? undefined : `${name}.rejects.ndjson`);
  const key = keyFrom === undefined ? undefined : (env[keyFrom] ?? "").trim();
  if (key === "") throw new Error(`Cannot pull ${name}: its key is missing from ${keyFrom}`);
  const variable = `FUNDFEED_${name.replaceAll("-", "_").toUpperCase()}_URL`;
  const address = from ?? readAddress(env[variable] ?? base);
  if (address === undefined) throw new Error(`Cannot pull ${name}: ${variable} must be ${ADDRESS}`);
  return { upstream, base: address, key, keep, force: force === true, allowRemovals: allowRemovals === true, rejects };
}

/** `fetched` is false when there was nothing new. */
function summaryOf({ name }: Upstream, outcome: Outcome | undefined): Summary & { source: string; fetched: boolean } {
  const { rejects: _, ...summary } = outcome ?? { ...emptySummary, rejects: [] };
  return { source: name, fetched: outcome !== undefined, ...summary };
}

function sentenceOf({ name }: Upstream, outcome: Outcome | undefined): string {
  return `${name}: ${outcome === undefined ? "nothing new" : inSentences(outcome, false)}`;
}

function downloads(cli: Cli): Net["progress"] {
  const report = progressReporter(cli.machine);
  return (bytes, total, place = 1, planned) => {
    if (planned !== undefined) return report({ step: "fetching", done: place, total: planned, unit: "responses" });
    const megabytes = { done: bytes / 1e6, total: total === undefined ? undefined : total / 1e6, unit: "MB", rateUnit: "MB" };
    report({ step: place === 1 ? "fetching" : `fetching response ${place},`, ...megabytes });
  };
}

function randomOf({ randomBytes }: Machine): number {
  return Buffer.from(randomBytes(4)).readUInt32BE() / 2 ** 32;
}

const ADDRESS = "an http or https address without query and password, such as https://mirror.example.org/extracts/";

function httpAddress(text: string): URL {
  const url = readAddress(text);
  if (url === undefined) throw new InvalidArgumentError(`It must be ${ADDRESS}.`);
  return url;
}

function readAddress(text: string): URL | undefined {
  const url = URL.parse(text.endsWith("/") ? text : `${text}/`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" || url.username + url.password !== "")
    return undefined;
  return url;
}
