/** The processes of a benchmark: commands and servers, each on one core. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The directory in which catalogs, inputs and the peer's database stay for the next run. */
export const workDirectory = process.env.FUNDFEED_BENCH ?? join(tmpdir(), "fundfeed-bench");
mkdirSync(workDirectory, { recursive: true });

/** One core for the measured server, one for the load on it. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** The command line of this checkout's program. */
export const fundfeed = [process.execPath, join(import.meta.dir, "../src/main.ts")];

export type Usage = { seconds: number; cpuSeconds: number; peakBytes: number };
type Finished = Omit<Usage, "peakBytes"> & { output: string };
export type Server = { address: string; process: Bun.Subprocess; startedInMs: number; stop: () => Promise<void> };

/** Runs a command to its end on one core. Throws if it fails, with its output in the message. */
export async function run(core: number, command: string[]): Promise<Finished> {
  const started = performance.now();
  const child = Bun.spawn(["taskset", "-c", String(core), ...command], { stdout: "pipe", stderr: "pipe" });
  const [output, errors, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(" ")} exited with ${code}: ${errors}${output}`);
  const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0n) / 1e6;
  return { output, seconds: (performance.now() - started) / 1000, cpuSeconds };
}

/** Runs a command to its end on one core, and returns its time and its peak memory. Throws if it fails. */
export async function runMeasured(core: number, command: string[]): Promise<Usage> {
  return JSON.parse((await run(core, [process.execPath, join(import.meta.dir, "run-measured.ts"), ...command])).output);
}

/**
 * Starts a server on the server's core and waits until it prints `listening on <address>`. Its log goes to a file, as it would to a journal
 * in production. Throws if the server ends before it listens.
 */
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
  let printed = "";
  for await (const piece of child.stdout) {
    printed += Buffer.from(piece).toString();
    const address = /listening on (\S+)\s/.exec(printed)?.[1];
    if (address !== undefined) return { address, process: child, startedInMs: performance.now() - started, stop };
  }
  throw new Error(`${command.join(" ")} ended before it listened: ${await Bun.file(log).text()}`);
}

let servers = 0;

export async function residentBytes(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** Returns the CPU time that all threads of a process have used so far, in microseconds. It varies less than wall-clock time on a busy machine. */
export function cpuMicroseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]));
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1000;
}
