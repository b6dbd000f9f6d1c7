/** The program: runs the command of argv and exits. Builds the `Machine` through which commands use process, clock and randomness. */
import { styleText } from "node:util";
import { runCommandLine } from "./cli/command-line.ts";
import { createProgressLine } from "./cli/progress.ts";
import type { Machine } from "./runtime/machine.ts";
import { isClosedAtStart, openStreams } from "./runtime/standard-streams.ts";
import { CHILD_VARIABLE } from "./runtime/supervise.ts";
import { restartWithoutFtl } from "./runtime/without-ftl.ts";
import { oneLine, safeLines } from "./text/terminal-text.ts";

/** How every error message begins: red on a terminal, unless NO_COLOR is set. */
const ERROR_PREFIX = /^(error:|Cannot .*?:(?= ))/;

// An empty variable counts as unset: Docker Compose passes one for ${FUNDFEED_QUOTAS:-}.
for (const [name, value] of Object.entries(process.env)) if (name.startsWith("FUNDFEED_") && value === "") delete process.env[name];

process.umask(0o077); // Only the owner may read the files that this program creates: they hold key hashes and contacts.

const { stdout, stderr, env } = process;
const args = process.argv.slice(2);
const program = Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];
const hasOutput = !isClosedAtStart(1);
if (process.send === undefined && ["import", "pull"].includes(args[0] ?? "") && hasOutput) restartWithoutFtl(program, args, env);

const streams = openStreams(() => progress?.clear());
const progress = stderr.isTTY
  ? createProgressLine(
      (text) => streams.write(2, text),
      () => stderr.columns,
    )
  : undefined;
const printError = (text: string) =>
  streams.writeLine(
    2,
    oneLine(text).replace(ERROR_PREFIX, (prefix) => styleText("red", prefix, { stream: stderr })),
  );

const machine: Machine = {
  ...streams,
  env,
  program,
  now: Date.now,
  randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
  printLine: (text) => streams.writeLine(1, safeLines(text)),
  printText: (text) => {
    progress?.clear();
    streams.write(1, text);
  },
  readInput: () => Bun.stdin.stream(),
  terminal: () => (stdout.isTTY ? { columns: stdout.columns, hasColors: styleText("bold", "x", { stream: stdout }) !== "x" } : undefined),
  printError,
  showProgress: (line) => progress?.show(line),
  isLogOnTerminal: () => stderr.isTTY,
  onReloadSignal: (reload) => void process.on("SIGHUP", reload),
  usage: () => {
    const { user, system } = process.cpuUsage();
    return { residentBytes: process.memoryUsage.rss(), cpuSeconds: (user + system) / 1e6 };
  },
};

if (!hasOutput) {
  printError("Cannot print anything: standard output is closed; > /dev/null discards what is printed");
  process.exit(1);
}

// A child of `up` stops when its parent is gone, however that ended.
if (process.send !== undefined && env[CHILD_VARIABLE] !== undefined) process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));

const exitCode = await runCommandLine(args, machine);
await streams.finishLog();
process.exit(exitCode);
