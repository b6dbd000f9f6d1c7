/** The program: runs the command of argv and exits. Builds the `Machine` through which commands use process, clock and randomness. */
import { constants, fstatSync, fsyncSync, openSync, readFileSync, write as writeAsync, writeSync } from "node:fs";
import { styleText } from "node:util";
import { codeOf, Failure, reasonOf } from "../db/reason.ts";
import { runCommandLine } from "./cli/command-line.ts";
import { createProgressLine } from "./cli/progress.ts";
import { type Machine, OutputClosed } from "./runtime/machine.ts";
import { CHILD_VARIABLE } from "./runtime/supervise.ts";
import { restartWithoutFtl } from "./runtime/without-ftl.ts";
import { oneLine, safeLines } from "./text/terminal-text.ts";

/** The most characters of the log that may wait to be written. */
const LOG_PENDING_MAX = 32_000_000;
/** How long the exit of the program waits for them. */
const LOG_WAIT_MS = 2000;
let logPending = 0;
let logWritten = Promise.resolve();

/** When standard output has taken nothing for so long, a signal ends the program at once: while a write waits, no handler is called. */
const STUCK_MS = 1000;
const STOP_SIGNALS = ["SIGTERM", "SIGINT"] as const;
const stopHandlers: [NodeJS.Signals, () => void][] = [];
let isStuck = false;

/** The flag of a descriptor that is closed at the start of another program, as Linux counts it. */
const O_CLOEXEC = 0o2000000;

/** How every error message begins: red on a terminal, unless NO_COLOR is set. */
const ERROR_PREFIX = /^(error:|Cannot .*?:(?= ))/;

// An empty variable counts as unset: Docker Compose passes one for ${FUNDFEED_QUOTAS:-}.
for (const [name, value] of Object.entries(process.env)) if (name.startsWith("FUNDFEED_") && value === "") delete process.env[name];

process.umask(0o077); // Only the owner may read the files that this program creates: they hold key hashes and contacts.

const program = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];

if (process.send === undefined && ["import", "pull"].includes(process.argv[2] ?? "") && !isClosedAtStart(1))
  restartWithoutFtl(program, process.argv.slice(2), process.env);

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
  printLine: (text) => writeLine(1, safeLines(text)),
  printText: (text) => {
    progress?.clear();
    write(1, text);
  },
  readInput: () => Bun.stdin.stream(),
  writeOutput: (text) => writeAll(1, Buffer.from(text)),
  syncOutput,
  terminal: () =>
    process.stdout.isTTY
      ? { columns: process.stdout.columns, hasColors: styleText("bold", "x", { stream: process.stdout }) !== "x" }
      : undefined,
  printError: (text) =>
    writeLine(
      2,
      oneLine(text).replace(ERROR_PREFIX, (prefix) => styleText("red", prefix, { stream: process.stderr })),
    ),
  showProgress: (line) => progress?.show(line),
  writeLog,
  isLogOnTerminal: () => process.stderr.isTTY,
  onStopSignal: (stop) => {
    for (const name of STOP_SIGNALS) {
      process.on(name, stop);
      stopHandlers.push([name, stop]);
    }
  },
  onReloadSignal: (reload) => void process.on("SIGHUP", reload),
  usage: () => {
    const { user, system } = process.cpuUsage();
    return { residentBytes: process.memoryUsage.rss(), cpuSeconds: (user + system) / 1e6 };
  },
  program,
};

if (isClosedAtStart(1)) {
  machine.printError("Cannot print anything: standard output is closed; > /dev/null discards what is printed");
  process.exit(1);
}
const output = openOutput();

// A child of `up` stops when its parent is gone, however that ended.
if (process.send !== undefined && process.env[CHILD_VARIABLE] !== undefined)
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));

const exitCode = await runCommandLine(process.argv.slice(2), machine);
await Promise.race([logWritten, Bun.sleep(LOG_WAIT_MS)]);
process.exit(exitCode);

/**
 * Whether the program was started without this descriptor. The runtime then opens /dev/null in its place, to be closed at the start of another
 * program. No inherited descriptor is: it would have been closed at the start of this one. Only Linux tells.
 */
function isClosedAtStart(descriptor: number): boolean {
  try {
    const [, flags = ""] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
  } catch {
    return false;
  }
}

/** Writes in order, without making the server wait for a slow reader of its log. Drops what exceeds `LOG_PENDING_MAX`. */
function writeLog(text: string): void {
  if (logPending + text.length > LOG_PENDING_MAX) return;
  logPending += text.length;
  logWritten = logWritten
    .then(() => {
      progress?.clear();
      return writeAll(2, Buffer.from(safeLines(text)));
    })
    .catch(() => undefined) // A full disk, or a log reader that died, must not stop the server.
    .finally(() => {
      logPending -= text.length;
    });
}

/** Throws the error of the operating system. */
async function writeAll(descriptor: 1 | 2, bytes: Buffer): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) {
    const { promise, resolve } = Promise.withResolvers<number | NodeJS.ErrnoException>();
    writeAsync(descriptor, rest, (error, written) => resolve(error ?? written));
    const written = await promise;
    if (typeof written === "number") rest = rest.subarray(written);
    else if (written.code === "EAGAIN")
      await Bun.sleep(1); // The pipe is full.
    else throw written;
  }
}

/** Standard output. A pipe is opened once more, so that writing into a full one does not block. Only Linux does that. */
function openOutput(): number {
  try {
    if (fstatSync(1).isFIFO()) return openSync("/proc/self/fd/1", constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {} // Its reader has gone, or it belongs to another user.
  return 1;
}

function writeLine(descriptor: 1 | 2, line: string): void {
  progress?.clear();
  write(descriptor, `${line}\n`);
}

/** Writes all of `text` before it returns. Throws if standard output fails; ignores failures of standard error. */
function write(descriptor: 1 | 2, text: string): void {
  let rest = Buffer.from(text);
  let fullSince: number | undefined;
  try {
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(descriptor === 1 ? output : 2, rest));
        fullSince = undefined;
      } catch (error) {
        const code = codeOf(error);
        if (descriptor === 2 && code !== "EAGAIN") return; // A full disk, or a log reader that died, must not stop the server.
        if (code === "EPIPE") throw new OutputClosed();
        if (code !== "EAGAIN") throw new Failure(`Cannot write standard output: ${reasonOf(error)}`, { cause: error });
        Bun.sleepSync(1); // The pipe is full.
        fullSince ??= performance.now();
      }
      setStuck(fullSince !== undefined && performance.now() - fullSince > STUCK_MS);
    }
  } finally {
    setStuck(false);
  }
}

/** While it is stuck, signals to stop do what they do to a program that does not handle them. */
function setStuck(is: boolean): void {
  if (is === isStuck) return;
  isStuck = is;
  for (const [name, handle] of stopHandlers) is ? process.off(name, handle) : process.on(name, handle);
}

/** A pipe or terminal cannot be synced: what it has taken is the reader's. */
function syncOutput(): void {
  try {
    fsyncSync(1);
  } catch (error) {
    if (!["EINVAL", "ENOTSUP", "EROFS"].includes(codeOf(error)))
      throw new Failure(`Cannot write standard output: ${reasonOf(error)}`, { cause: error });
  }
}
