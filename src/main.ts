/** The program: argv and environment → one command. The only place that reads process, clock and randomness, or exits. */
import { write as writeBeside, writeSync } from "node:fs";
import { styleText } from "node:util";
import { codeOf, reasonOf } from "../db/reason.ts";
import { runCommandLine } from "./cli/command-line.ts";
import { createProgressLine } from "./cli/progress-line.ts";
import type { Machine } from "./runtime/machine.ts";
import { type Order, startWorker, workerPlace } from "./runtime/worker-process.ts";
import { oneLine, safeLines } from "./text/terminal-text.ts";

/** Characters of the log that wait to be written, and how long the end of the program waits for them. */
const LOG_HELD_MAX = 32_000_000;
const LOG_WAIT_MS = 2000;
let heldLog = 0;
let logWritten = Promise.resolve();

/** What a person should see at once, in red on a terminal (unless NO_COLOR is set): how every refusal begins. */
const REFUSAL = /^(error:|Cannot .*?:(?= ))/;

// An empty variable is none: it is what compose makes of ${FUNDFEED_QUOTAS:-}.
for (const [name, value] of Object.entries(process.env)) if (name.startsWith("FUNDFEED_") && value === "") delete process.env[name];

process.umask(0o077); // What is written here, keys' hashes included, is its owner's alone.

/** Where another process of this program started this one as its worker. */
const worker = process.send === undefined ? undefined : workerPlace(process.env);
const signals = { stop: ["SIGTERM", "SIGINT"], reload: ["SIGHUP"] } as const;

const progress = process.stderr.isTTY
  ? createProgressLine(
      (text) => write(2, text),
      () => process.stderr.columns,
    )
  : undefined;

const machine: Machine = {
  env: process.env,
  now: Date.now,
  randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
  printLine: (text) => (worker === undefined ? writeLine(1, safeLines(text)) : void process.send?.(text)),
  printError: (text) =>
    writeLine(
      2,
      oneLine(text).replace(REFUSAL, (what) => styleText("red", what, { stream: process.stderr })),
    ),
  showProgress: (line) => progress?.show(line),
  writeLog,
  onStopSignal: (stop) => onOrder("stop", stop),
  onReloadSignal: (reload) => onOrder("reload", reload),
  usage: () => {
    const { user, system } = process.cpuUsage();
    return { residentBytes: process.memoryUsage.rss(), cpuSeconds: (user + system) / 1e6 };
  },
  startWorker: (place) => {
    const program = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
    return startWorker([...program, ...process.argv.slice(2)], process.env, place, writeLog);
  },
  worker,
};

const exitCode = await runCommandLine(process.argv.slice(2), machine);
await Promise.race([logWritten, Bun.sleep(LOG_WAIT_MS)]);
process.exit(exitCode);

/**
 * A worker hears it from the process that started it, and stops when that is gone. It takes no signals: terminals and systemd send
 * them to both, and a second one to stop would cut requests.
 */
function onOrder(order: Order, obey: () => void): void {
  for (const signal of signals[order]) process.on(signal, worker === undefined ? obey : () => undefined);
  if (worker === undefined) return;
  process.on("message", (told) => {
    if (told === order) obey();
  });
  if (order === "stop") process.on("disconnect", obey);
}

/** Beside the service, which must not wait for whoever reads its log. In order; what a reader that stands still leaves is dropped. */
function writeLog(text: string): void {
  if (heldLog + text.length > LOG_HELD_MAX) return;
  heldLog += text.length;
  logWritten = logWritten
    .then(() => {
      progress?.clear();
      return writeAll(Buffer.from(safeLines(text)));
    })
    .finally(() => {
      heldLog -= text.length;
    });
}

async function writeAll(bytes: Buffer): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) {
    const { promise, resolve } = Promise.withResolvers<number | NodeJS.ErrnoException>();
    writeBeside(2, rest, (error, written) => resolve(error ?? written));
    const written = await promise;
    if (typeof written === "number") rest = rest.subarray(written);
    else if (written.code === "EAGAIN")
      await Bun.sleep(1); // A pipe that is full for the moment.
    else return; // A full disk or a log's reader that died must not end the service.
  }
}

function writeLine(descriptor: 1 | 2, line: string): void {
  progress?.clear();
  write(descriptor, `${line}\n`);
}

/** Whole, at once and in order. Nobody may be there to read it any more: then a command ends, and a log goes on unread. */
function write(descriptor: 1 | 2, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const code = codeOf(error);
      if (descriptor === 2 && code !== "EAGAIN") return; // A full disk or a log's reader that died must not end the service.
      if (code === "EPIPE") process.exit(0);
      if (code !== "EAGAIN") throw new Error(`Cannot write standard output: ${reasonOf(error)}`, { cause: error });
      Bun.sleepSync(1); // A pipe that is full for the moment.
    }
  }
}
