/** Other programs as the benchmark runs them: on one core, watched, and ended by their own id. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where catalogs, inputs and the peer's database stay between runs. */
export const workDirectory = process.env.FUNDFEED_BENCH ?? join(tmpdir(), "fundfeed-bench");
mkdirSync(workDirectory, { recursive: true });

/** The cores: one for the program that is measured, one for what puts load on it. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

export const product = [process.execPath, join(import.meta.dir, "../src/main.ts")];

export type Used = { seconds: number; cpuSeconds: number; peakBytes: number };
export type Finished = Omit<Used, "peakBytes"> & { output: string };
export type Server = { address: string; process: Bun.Subprocess; startedInMs: number; stop: () => Promise<void> };

/** Runs a command on one core to its end. Throws what it printed when it fails. */
export async function run(core: number, command: string[]): Promise<Finished> {
  const started = performance.now();
  const child = Bun.spawn(["taskset", "-c", String(core), ...command], { stdout: "pipe", stderr: "pipe" });
  const [output, errors, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(" ")} exited with ${code}: ${errors}${output}`);
  const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0n) / 1e6;
  return { output, seconds: (performance.now() - started) / 1000, cpuSeconds };
}

/** Runs a command likewise, for what it uses: its processor time, and the most memory that it held. */
export async function measured(core: number, command: string[]): Promise<Used> {
  return JSON.parse((await run(core, [process.execPath, join(import.meta.dir, "measured.ts"), ...command])).output);
}

/** Starts a server on the server's core and waits until it says `listening on <address>`. Its log lines go to a file, as in production to a journal. */
export async function serve(command: string[]): Promise<Server> {
  const log = join(workDirectory, `server-${++servers}.log`);
  rmSync(log, { force: true });
  const started = performance.now();
  const child = Bun.spawn(["taskset", "-c", String(SERVER_CORE), ...command], { stdout: "pipe", stderr: Bun.file(log) });
  const stop = async () => {
    child.kill();
    await child.exited;
    rmSync(log, { force: true });
  };
  let said = "";
  for await (const piece of child.stdout) {
    said += Buffer.from(piece).toString();
    const address = /listening on (\S+)\s/.exec(said)?.[1];
    if (address !== undefined) return { address, process: child, startedInMs: performance.now() - started, stop };
  }
  throw new Error(`${command.join(" ")} ended before it listened: ${await Bun.file(log).text()}`);
}

let servers = 0;

/** Bytes of memory that a process holds now. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Microseconds that a process has computed so far, all its threads together: on a busy machine a steadier measure than the clock. */
export function computedMicroseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]));
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1000;
}
