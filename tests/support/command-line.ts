/** The command line inside the test's own process, for tests of output and exit codes. */
import { runCommandLine } from "../../src/cli/command-line.ts";
import type { Machine } from "../../src/runtime/machine.ts";

/** Exit code, standard output and standard error. */
export type CommandResult = { code: number; out: string; err: string };

/** Runs `fundfeed` with these arguments and nothing but `env` as its environment. A command that serves is stopped once it listens. */
export async function fundfeed(
  args: readonly string[],
  env: Record<string, string> = {},
  now = Date.now,
  columns?: number,
): Promise<CommandResult> {
  const out: string[] = [];
  const err: string[] = [];
  let stop = () => {};
  const machine = machineOf(env, {
    now,
    terminal: () => (columns === undefined ? undefined : { columns, hasColors: true }),
    printLine: (text) => {
      out.push(`${text}\n`);
      if (text.startsWith("listening on ")) stop();
    },
    printText: (text) => void out.push(text),
    printError: (text) => void err.push(`${text}\n`),
    onStopSignal: (handle) => {
      stop = handle;
    },
  });
  const code = await runCommandLine(args, machine);
  return { code, out: out.join(""), err: err.join("") };
}

export const ESC = String.fromCharCode(27);
export const withoutColors = (text: string) => text.replace(new RegExp(`${ESC}\\[\\d+m`, "g"), "");

/** Returns a machine with this environment and these outputs. Unless given, it has the real clock and random bytes, and no signals. */
export function machineOf(env: Record<string, string>, given: Pick<Machine, "printLine" | "printError"> & Partial<Machine>): Machine {
  return {
    env,
    now: Date.now,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    printText: given.printLine,
    readInput: async function* () {},
    writeOutput: async (text) => given.printLine(text.replace(/\n$/, "")),
    syncOutput: () => undefined,
    terminal: () => undefined,
    isLogOnTerminal: () => false,
    showProgress: () => undefined,
    writeLog: () => undefined,
    onReloadSignal: () => undefined,
    usage: () => ({ residentBytes: 0, cpuSeconds: 0 }),
    program: [],
    onStopSignal: () => undefined,
    ...given,
  };
}
