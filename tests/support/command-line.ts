/** The command line in the test's own process, for what needs no process: what is printed, what is told, the exit code. */
import { runCommandLine } from "../../src/cli/command-line.ts";

export type Told = { code: number; out: string; err: string };

export async function fundfeed(args: readonly string[], env: Record<string, string> = {}): Promise<Told> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine(args, {
    env,
    now: Date.now,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    print: (text) => void out.push(`${text}\n`),
    tell: (text) => void err.push(`${text}\n`),
    showProgress: () => undefined,
    writeLog: () => undefined,
    onStopSignal: () => undefined,
  });
  return { code, out: out.join(""), err: err.join("") };
}
