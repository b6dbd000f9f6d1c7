/** The compiled program in processes of its own, with a clock that can be wrong, in the working directory of the tests. */
import { program, QUICK } from "./binary.ts";
import type { CommandResult } from "./command-line.ts";
import { inScratch } from "./imports.ts";
import { preloading } from "./preload.ts";

type ClockOptions = { clockShiftMs?: number };
type RunOptions = ClockOptions & { killAfterMs?: number; killWhen?: Promise<unknown> };

/** A killed import leaves files in its temporary directory; `afterAll(dropScratch)` removes them. */
function start(args: readonly string[], { clockShiftMs = 0 }: ClockOptions) {
  const clock = clockShiftMs === 0 ? {} : { BUN_OPTIONS: preloading("shifted-clock.ts"), FUNDFEED_TEST_CLOCK_SHIFT: `${clockShiftMs}` };
  return Bun.spawn([program, ...args], {
    env: { ...process.env, TMPDIR: inScratch(), ...QUICK, ...clock },
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Runs a command to its end, or kills it with SIGKILL after `killAfterMs` or `killWhen`. The code of a killed command is `null`. */
export async function run(
  args: readonly string[],
  { killAfterMs, killWhen, ...clock }: RunOptions = {},
): Promise<Omit<CommandResult, "code"> & { code: number | null }> {
  const child = start(args, clock);
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  void killWhen?.then(() => child.kill("SIGKILL"));
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  clearTimeout(timer);
  return { code: child.signalCode === null ? child.exitCode : null, out, err };
}

/** Runs a command and returns its standard output. Throws if the command fails. */
export async function outputOf(args: readonly string[], clock: ClockOptions = {}): Promise<string> {
  const { code, out, err } = await run(args, clock);
  if (code !== 0) throw new Error(`fundfeed ${args.join(" ")} exited with ${code}: ${err || out}`);
  return out;
}

/** `stop()` returns the exit code; `null` after SIGKILL. `errors` is what it wrote to standard error until it ended. */
export type SourceServer = { base: string; errors: Promise<string>; stop: (signal: "SIGTERM" | "SIGKILL") => Promise<number | null> };

/** Starts a server on a free port, and waits until it listens. `location` is the option that names its databases. Throws if it ends before. */
export async function serve(location: readonly string[], clock: ClockOptions = {}): Promise<SourceServer> {
  return listening("serve", location, clock);
}

/** Starts `browse` on a free port, and waits until it listens. */
export async function browse(location: readonly string[]): Promise<SourceServer> {
  return listening("browse", location, {});
}

async function listening(command: string, location: readonly string[], clock: ClockOptions): Promise<SourceServer> {
  const child = start([command, "--port", "0", ...location], clock);
  const errors = child.stderr.text(); // Reads the log all the time, so that its pipe never fills up.
  const reader = child.stdout.getReader();
  let printed = "";
  while (!printed.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The server ended before it listened: ${await errors}`);
    printed += Buffer.from(value).toString();
  }
  return {
    base: printed.trim().replace("listening on ", ""),
    errors,
    stop: async (signal) => {
      child.kill(signal);
      await child.exited;
      return child.exitCode;
    },
  };
}
