/** The program as processes of its own: run, killed, served and started again. */
import { join } from "node:path";
import { inScratch } from "./imports.ts";

const root = join(import.meta.dir, "../..");

type Given = { clockShiftMs?: number; killAfterMs?: number };

/** What a killed import leaves in its temporary directory goes with `afterAll(dropScratch)`. */
function start(args: readonly string[], { clockShiftMs = 0 }: Given = {}) {
  return Bun.spawn(["bun", "--preload", join(import.meta.dir, "shifted-clock.ts"), join(root, "src/main.ts"), ...args], {
    cwd: root,
    env: { ...process.env, TMPDIR: inScratch(), FUNDFEED_TEST_CLOCK_SHIFT: `${clockShiftMs}` },
    stdout: "pipe",
    stderr: "pipe",
  });
}

export type Ended = { code: number | null; out: string; err: string };

/** Runs one command to its end, or to its SIGKILL (code `null`). */
export async function run(args: readonly string[], given: Given = {}): Promise<Ended> {
  const child = start(args, given);
  const timer = given.killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), given.killAfterMs);
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  clearTimeout(timer);
  return { code: child.signalCode === null ? child.exitCode : null, out, err };
}

/** Runs one command that must succeed, and answers with what it printed. */
export async function succeed(args: readonly string[], given: Given = {}): Promise<string> {
  const { code, out, err } = await run(args, given);
  if (code !== 0) throw new Error(`fundfeed ${args.join(" ")} ended with ${code}: ${err || out}`);
  return out;
}

export type Server = { base: string; stop: (signal: "SIGTERM" | "SIGKILL") => Promise<number | null> };

/** Serves on a free port, once it accepts connections; `place` are the options that name the databases. */
export async function serve(place: readonly string[], given: Given = {}): Promise<Server> {
  const child = start(["serve", "--port", "0", ...place], given);
  const errors = child.stderr.text(); // Read, so that the log never fills its pipe.
  const reader = child.stdout.getReader();
  let printed = "";
  while (!printed.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The server did not start: ${await errors}`);
    printed += Buffer.from(value).toString();
  }
  return {
    base: printed.trim().replace("listening on ", ""),
    stop: async (signal) => {
      child.kill(signal);
      await child.exited;
      return child.exitCode;
    },
  };
}
