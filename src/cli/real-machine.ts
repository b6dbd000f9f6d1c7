/** The `Machine` of the program: its process, the clock and randomness. */
import { styleText } from "node:util";
import type { Machine } from "../runtime/machine.ts";
import { openStreams } from "../runtime/standard-streams.ts";
import { oneLine, safeLines } from "../text/terminal-text.ts";
import { createProgressLine } from "./progress.ts";

/** How every error message begins: red on a terminal, unless NO_COLOR is set. */
const ERROR_PREFIX = /^(error:|Cannot .*?:(?= ))/;

/** `program` is the command line that starts this program again. `finishLog` returns when the log is written, or after two seconds. */
export function openMachine(program: readonly string[]): { machine: Machine; finishLog: () => Promise<void> } {
  const { stdout, stderr, env } = process;
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
  return { machine, finishLog: streams.finishLog };
}
