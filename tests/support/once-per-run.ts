/**
 * What is made once per run and shared by its test files, such as the compiled program. `bun test --parallel` runs the files in several
 * processes, and `check` runs them on each engine; these share a directory. It is removed when the run has ended, in any way.
 */
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const WAIT_MS = 600_000;

/** The process that ends last: `check`, or `bun test`, which sets the second variable in the processes that `--parallel` starts. */
const run = Number(process.env.FUNDFEED_CHECK_PID ?? (process.env.JEST_WORKER_ID === undefined ? process.pid : process.ppid));
const directory = join(tmpdir(), `fundfeed-run-${run}-${startOf(run)}`);
const made = new Map<string, Promise<string>>();

/** Returns the path of `name` in the directory of the run. The first caller makes it, at the path that `make` gets; all others wait. */
export function oncePerRun(name: string, make: (path: string) => void | Promise<void>): Promise<string> {
  const path = made.get(name) ?? makeOnce(name, make);
  made.set(name, path);
  return path;
}

async function makeOnce(name: string, make: (path: string) => void | Promise<void>): Promise<string> {
  if (!existsSync(directory)) {
    mkdirSync(directory, { recursive: true });
    afterRun('rm -rf "$0"', directory);
  }
  const path = join(directory, name);
  using lock = new Database(`${path}.lock`); // Ends with this process, too.
  lock.run(`pragma busy_timeout = ${WAIT_MS}`);
  lock.run("begin exclusive");
  if (!existsSync(path)) {
    await make(`${path}.part`);
    renameSync(`${path}.part`, path);
  }
  return path;
}

/** Runs a line of shell, with `argument` as `$0`, when the run has ended, in any way. */
export function afterRun(line: string, argument: string): void {
  afterProcess(run, line, argument);
}

/**
 * Runs a line of shell, with `argument` as `$0`, when a process has ended, in any way. It waits in the background of a shell that exits at
 * once, because `bun test` kills its own children when it ends and calls no hook.
 */
export function afterProcess(pid: number, line: string, argument: string): void {
  const script = `trap "" INT TERM HUP; { while kill -0 "$1"; do sleep 1; done; ${line}; } &`;
  Bun.spawn(["sh", "-c", script, argument, `${pid}`], { stdio: ["ignore", "ignore", "ignore"] });
}

/** When a process started, where the system tells: its id alone may have been that of an earlier run. */
function startOf(pid: number): string {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) ? (readFileSync(path, "utf8").split(") ").at(-1)?.split(" ")[19] ?? "") : "";
}
