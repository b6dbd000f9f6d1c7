/** The command line in the test's own process, for what needs no process: what is printed, what is told, the exit code. */
import { runCommandLine } from "../../src/cli/command-line.ts";
import type { Machine } from "../../src/runtime/machine.ts";

export type Told = { code: number; out: string; err: string };

export async function fundfeed(args: readonly string[], env: Record<string, string> = {}): Promise<Told> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine(
    args,
    machineOf(env, { printLine: (text) => void out.push(`${text}\n`), printError: (text) => void err.push(`${text}\n`) }),
  );
  return { code, out: out.join(""), err: err.join("") };
}

/** This machine, but for its environment and what is said. */
export function machineOf(env: Record<string, string>, output: Pick<Machine, "printLine" | "printError">): Machine {
  return {
    ...output,
    env,
    now: Date.now,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    showProgress: () => undefined,
    writeLog: () => undefined,
    onReloadSignal: () => undefined,
    usage: () => ({ residentBytes: 0, cpuSeconds: 0 }),
    startWorker: () => {
      throw new Error("no workers here");
    },
    onStopSignal: () => undefined,
  };
}
