/** `fundfeed sources probe`: check that the upstreams of pull still publish what is read. */
import { rmSync } from "node:fs";
import { Argument, type Command } from "commander";
import { Failure } from "../../../db/reason.ts";
import type { Exchange, Net } from "../../pull/download.ts";
import { type Probe, type ProbeResult, probe } from "../../pull/probe.ts";
import type { ShapeFinding } from "../../pull/shape.ts";
import { type Upstream, upstreams } from "../../pull/upstreams.ts";
import { temporaryDirectory } from "../../runtime/left-behind.ts";
import { sleep } from "../../runtime/run-every.ts";
import { oneLine } from "../../text/terminal-text.ts";
import { oneWordOf } from "../arguments.ts";
import type { Cli, CliCommand } from "../command.ts";
import { formatCount, type OutputOptions, printResult, TERMINAL_WIDTH, table, wrapped } from "../output.ts";
import { untilStopped } from "../stopping.ts";
import { baseOf, baseUrl, contactOption, keyOf, needsKey, netOf } from "./pull.ts";

type ProbeOptions = OutputOptions & { from?: URL; allowHttp?: true; contact?: string };

/** What tests replace, so that they need not wait. */
export type ProbeWaiting = Pick<Net, "timeouts" | "wait">;

/** An upstream that needs a key is skipped without one, unless it was asked for by name. */
type Row = Omit<Probe, "result"> & { result: ProbeResult | "skipped" };

const TIMEOUTS = { responseMs: 30_000, silenceMs: 30_000, totalMs: 60_000 };

const HELP = `
result   ok: the records are as known; changed: a field is missing, empty or
         of another type, or records would be rejected; empty: there was no
         record to look at; failed: no response, or not the upstream's;
         skipped: its key is missing
records  how many there are in all, where the upstream says so
read     how many of them were looked at
newest   the day of the file, or of the newest posting among those

Sends a few small requests to each upstream, one at a time and each once.
Nothing is stored. Exits with 1 if a result is changed, empty or failed.

Examples:
  fundfeed sources probe
  fundfeed sources probe dsip --json
  # crontab: at 6:17 each morning; cron mails what is printed on standard error
  17 6 * * *  /usr/local/bin/fundfeed sources probe > /var/log/fundfeed-probe`;

export function probeCommand(command: CliCommand, cli: Cli, waiting: ProbeWaiting = { timeouts: TIMEOUTS, wait: sleep }): CliCommand {
  const names = upstreams.map(({ name }) => name);
  return command
    .addArgument(oneWordOf(new Argument("[upstream]", "the upstream (default: all)"), names))
    .option("--from <url>", "base URL of the upstream (FUNDFEED_<UPSTREAM>_URL)", baseUrl)
    .option("--allow-http", "allow a base URL without TLS")
    .addOption(contactOption())
    .addHelpText("after", HELP)
    .action(async (name: string | undefined, options: ProbeOptions, self: Command) => {
      if (options.from !== undefined && name === undefined) self.error("error: --from needs a source");
      const chosen = upstreams.filter((each) => name === undefined || each.name === name);
      await untilStopped(cli.machine, async (stop) => {
        const rows = await probeAll(cli, chosen, options, { ...waiting, stop });
        printResult(cli, options, rows, textOf(rows));
        report(cli, rows);
      });
    });
}

async function probeAll(
  cli: Cli,
  chosen: readonly Upstream[],
  options: ProbeOptions,
  waiting: ProbeWaiting & Pick<Net, "stop">,
): Promise<Row[]> {
  const { env, showProgress } = cli.machine;
  const net = netOf(cli.machine, options, waiting, () => undefined);
  const rows: Row[] = [];
  const directory = temporaryDirectory("probe");
  try {
    for (const upstream of chosen) {
      if (waiting.stop.aborted) throw new Failure("Cannot finish probing: it was stopped");
      showProgress(`probing ${upstream.name}, ${rows.length + 1} of ${chosen.length}`);
      const key = keyOf(env, upstream);
      if (key === "" && chosen.length === 1) throw new Failure(`Cannot probe ${upstream.name}: ${needsKey(upstream)}`);
      rows.push(key === "" ? skipped(upstream) : await probe(net, directory, { upstream, base: baseOf(env, upstream, options.from), key }));
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
  return rows;
}

function skipped(upstream: Upstream): Row {
  const nothing = { total: null, sampled: 0, rejected: 0, reasons: [], newest_on: null, newest_age_days: null, fields: [], requests: [] };
  return { source: upstream.name, result: "skipped", reason: needsKey(upstream), ...nothing };
}

/** On standard error, which cron mails. */
function report(cli: Cli, rows: readonly Row[]): void {
  const off = rows.filter(({ result }) => result !== "ok" && result !== "skipped");
  if (off.length === 0) return;
  cli.machine.printError(`Not as known: ${off.map(({ source, result }) => `${source} (${result})`).join(", ")}`);
  cli.exitCode = 1;
}

/* Text */

function textOf(rows: readonly Row[]): string {
  const lines = rows.map(({ source, result, total, sampled, newest_age_days }) => ({
    source,
    result,
    records: total,
    read: sampled,
    newest: newest_age_days === null ? null : newest_age_days === 0 ? "today" : `${formatCount(newest_age_days, "day")} ago`,
  }));
  return [table(lines, ""), ...rows.map(detailsOf)].join("\n\n");
}

function detailsOf({ source, reason, reasons, rejected, fields, requests }: Row): string {
  const lines = [
    ...requests.flatMap(exchangeLines),
    ...(reason === null ? [] : labelled("reason", reason)),
    ...reasons.flatMap((each) => labelled("rejected", `${formatCount(rejected, "record")}: ${each}`)),
    ...fields.flatMap((field) => labelled(field.problem, wordsOf(field))),
  ];
  return [source, ...lines].join("\n");
}

function exchangeLines({ method, url, headers, body, status, content_type, ms }: Exchange): string[] {
  const sent = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const got = status === null ? "no response" : `${status} ${content_type ?? "without content type"}`;
  return [
    ...labelled("sent", `${method} ${url}`),
    ...(body === null ? [] : labelled("", JSON.stringify(body))),
    ...labelled("", sent.join("; ")),
    ...labelled("got", `${got} in ${(ms / 1000).toFixed(1)} s`),
  ];
}

function wordsOf({ field, problem, expected, found }: ShapeFinding): string {
  if (problem === "type") return `${field}: ${found} instead of ${expected}`;
  if (problem === "new") return `${field}: ${found}`;
  return `${field}: ${expected === "always" ? "all known records have" : "most known records have"} ${problem === "empty" ? "a value" : "it"}`;
}

const LABEL_WIDTH = 11;

function labelled(label: string, text: string): string[] {
  const lines = wrapped(oneLine(text), TERMINAL_WIDTH - LABEL_WIDTH);
  return lines.map((line, index) => (index === 0 ? `  ${label}` : "").padEnd(LABEL_WIDTH) + line);
}
