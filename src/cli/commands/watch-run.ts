/** `fundfeed watch run`: deliver what is new to the receivers of watches. */

import { attempt, Failure, failureOf, messageOf } from "../../../db/reason.ts";
import { tryLockIn } from "../../../db/sqlite/lock.ts";
import { freeBytes } from "../../../db/sqlite/read-file.ts";
import { removedAmong } from "../../accounts/members.ts";
import { watchMetricsText } from "../../monitoring/watch-metrics.ts";
import { isOutputClosed } from "../../runtime/machine.ts";
import { replaceText } from "../../runtime/replace-file.ts";
import { runEvery, sleep } from "../../runtime/run-every.ts";
import { counted, formatDuration, withCommas } from "../../text/in-words.ts";
import { type EpochMs, formatInstant } from "../../text/instant.ts";
import { removeWatchesOf } from "../../watch/member-watches.ts";
import { countsInWords } from "../../watch/message.ts";
import { nextTimes, runWatches, type WatchOutcome } from "../../watch/run.ts";
import { MEMBER } from "../../watch/send.ts";
import { type CliCommand, durationAtLeast } from "../command.ts";
import { withInstants } from "../output.ts";
import { addSearchOptions, type SearchOptions, withSearchIndex } from "../search-options.ts";
import type { Waiting } from "../stopping.ts";
import { withSending } from "../watch-mails.ts";
import { addWatchOptions, type WatchOptions, watchDirectory, watchesNamed, withWatches } from "../watch-options.ts";

type RunOptions = WatchOptions & SearchOptions & { every?: number; metricsFile?: string };

const RETRY_WAIT_MIN_MS = 1000;
const METRICS = "write metrics into this file after each run, for Prometheus's node exporter: …/watch.prom";

/** Nothing is sent with less room on the disk: that it was accepted could not be stored, and each run would send it again. */
const FREE_MIN_BYTES = 1 << 20;
const DISK_FULL = "the disk of watch.db is full";

export function runCommand(running: CliCommand, { wait }: Waiting = { wait: sleep }): CliCommand {
  addWatchOptions(running)
    .argument("[names...]", "only these watches")
    .option("--every <duration>", "repeat, for example every 15m, until SIGTERM or SIGINT", durationAtLeast("10s"))
    .setting("--metrics-file <file>", METRICS, undefined, undefined, undefined, "WATCH_");
  return addSearchOptions(running)
    .examples("fundfeed watch run", "fundfeed watch run --every 15m", "fundfeed watch run quantum | jq .data.events")
    .action(async (names: string[], options: RunOptions) => {
      const { machine } = running;
      const stop = new AbortController();
      const cutOff = Promise.withResolvers<void>();
      machine.onStopSignal(() => (stop.signal.aborted ? cutOff.resolve() : stop.abort()));
      const work = () => runAll(running, names, options, { wait, stop: stop.signal });
      await Promise.race([work(), cutOff.promise]);
    });
}

async function runAll(
  command: CliCommand,
  names: readonly string[],
  options: RunOptions,
  waiting: Waiting & { stop: AbortSignal },
): Promise<void> {
  const { every } = options;
  if (every === undefined) {
    const { outcomes, metricsFailure } = await runOnce(command, names, options, waiting.stop);
    report(command, options, outcomes);
    if (metricsFailure !== null) command.machine.printError(metricsFailure);
    if (metricsFailure !== null || outcomes.some(({ failure, paused }) => failure !== null || paused !== null)) command.cli.exitCode = 1;
    return;
  }
  command.cli.isLasting = true;
  const runAndReport = async (only: "all" | "due") => {
    const time = formatInstant(command.machine.now());
    try {
      const { outcomes, nextAt, metricsFailure } = await runOnce(command, names, options, waiting.stop, only);
      report(command, options, outcomes, time);
      if (metricsFailure !== null) command.machine.printError(`${time} ${metricsFailure}`);
      return nextAt;
    } catch (error) {
      if (isOutputClosed(error)) throw error;
      command.machine.printError(`${time} ${messageOf(error)}`);
      return undefined;
    }
  };
  await runEvery(every, { now: command.machine.now, ...waiting }, async () => {
    let nextAt = await runAndReport("all");
    // Between two runs, failed messages are sent again, and watches with a schedule run. The time left is what was waited, not the clock's.
    for (let left = every; nextAt !== undefined && !waiting.stop.aborted; ) {
      const delay = Math.max(nextAt - command.machine.now(), RETRY_WAIT_MIN_MS);
      if (delay >= left) return;
      await waiting.wait(delay, waiting.stop);
      left -= delay;
      if (!waiting.stop.aborted) nextAt = await runAndReport("due");
    }
  });
}

/** One run. Only one program at a time delivers the messages of a watch.db. */
async function runOnce(
  command: CliCommand,
  names: readonly string[],
  options: RunOptions,
  stop: AbortSignal,
  only: "all" | "due" = "all",
): Promise<{ outcomes: WatchOutcome[]; nextAt: EpochMs | undefined; metricsFailure: string | null }> {
  const { machine } = command;
  return withWatches(command, "create", async (db, catalog) => {
    using lock = tryLockIn(watchDirectory(options), "watch");
    if (lock === undefined) throw new Failure("Cannot run the watches: another fundfeed watch run is at work on them");
    const all = await watchesNamed(db, names);
    return await withSending(command, all, async ({ state, ...sending }) => {
      // Where `members remove` did not reach this watch.db.
      const removed = state === undefined ? [] : await removedAmong(state, [...new Set(all.flatMap(({ owner }) => owner ?? []))]);
      await removeWatchesOf(db, removed);
      const named = all.filter(({ owner }) => owner === null || !removed.includes(owner));
      const blocked = () => (freeBytes(watchDirectory(options)) < FREE_MIN_BYTES ? DISK_FULL : null);
      const setUp = named.filter((watch) => sending.setupFault(watch) === null);
      const due = async () => nextTimes(db, setUp, machine.now());
      const watches = only === "all" ? named : (await due()).filter(({ at }) => at <= machine.now()).map(({ watch }) => watch);
      const context = { machine, catalog, db, stop, timeLimitMs: options.every, ...sending, blocked };
      const outcomes = await withSearchIndex(command, catalog, (index) => runWatches({ ...context, index }, watches), stop);
      const metricsFailure = writeMetrics(options.metricsFile, await watchMetricsText(db, machine.now()));
      const times = (await due()).map(({ at }) => at);
      return { outcomes, nextAt: times.length === 0 || blocked() !== null ? undefined : Math.min(...times), metricsFailure };
    });
  });
}

/** Others may read the file, because the node exporter is another user. Returns the error instead of throwing, so that deliveries are still reported. */
function writeMetrics(path: string | undefined, text: string): string | null {
  return path === undefined ? null : failureOf(() => attempt(`Cannot write ${path}`, () => replaceText(path, text, 0o644)));
}

/** On standard error, because standard output is a receiver. With --json, one line on standard output. */
function report({ machine }: CliCommand, { json, every }: RunOptions, outcomes: readonly WatchOutcome[], time?: string): void {
  const at = machine.now();
  const watches = outcomes.map((each) => withInstants({ ...each, failure: each.failure && withInstants(each.failure) }));
  if (json) machine.printLine(JSON.stringify({ type: "watch.run", time: time ?? formatInstant(at), watches }));
  else if (outcomes.length === 0 && every === undefined) machine.printError("No watches yet; fundfeed watch add makes one");
  else {
    // Members may have thousands: those without news share a line.
    const isSilent = ({ to, messages, failure, paused }: WatchOutcome) =>
      to.startsWith(MEMBER) && messages === 0 && failure === null && paused === null;
    const silent = outcomes.filter(isSilent).length;
    if (silent > 0)
      machine.printError(`${time === undefined ? "" : `${time} `}${withCommas(silent)} of the members' watches: nothing to send now`);
    const isBad = ({ failure, paused }: WatchOutcome) => failure !== null || paused !== null;
    const shown = outcomes.filter((each) => !isSilent(each));
    // What failed comes last: `up` shows the last line as the reason of the run.
    for (const outcome of [...shown.filter((each) => !isBad(each)), ...shown.filter(isBad)]) {
      const isOne = outcomes.filter(({ watch }) => watch === outcome.watch).length === 1;
      const name = isOne ? outcome.watch : `${outcome.watch} to ${outcome.to}`;
      for (const line of linesOf(outcome, at)) machine.printError(`${time === undefined ? "" : `${time} `}${name}: ${line}`);
    }
  }
}

function linesOf({ messages, counts, failure, paused, waits_until }: WatchOutcome, now: EpochMs): string[] {
  const delivered =
    messages === 0 ? [] : [`delivered ${countsInWords(counts)}${messages === 1 ? "" : ` in ${counted(messages, "message")}`}`];
  if (paused !== null) return [...delivered, `paused: ${paused}`];
  if (failure !== null) return [...delivered, `${failure.reason}; ${retryInWords(failure, now)}`];
  if (messages > 0) return delivered;
  return [waits_until === null ? "nothing new" : `its next messages are made at ${formatInstant(waits_until)}`];
}

function retryInWords({ retry_at, tried }: NonNullable<WatchOutcome["failure"]>, now: EpochMs): string {
  if (retry_at === null) return "the next run tries again";
  return `${tried ? "" : "not tried now, "}sent again in ${formatDuration(Math.max(retry_at - now, 1000))}`;
}
