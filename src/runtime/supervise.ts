/** This program, or another one, as a child that ends with its parent: its output comes back line by line. */
import { constants, getPriority, setPriority } from "node:os";

/** The environment variable that every such child has. `main.ts` stops a process that has it and whose parent is gone. */
export const CHILD_VARIABLE = "FUNDFEED_CHILD";

const LINE_MAX = 10_000;
/** How long to wait for the output of a child that has ended: a program that it started may hold the pipe open. */
const OUTPUT_WAIT_MS = 1000;

export type ChildProcess = {
  /** Resolves to its exit code, or to the signal that ended it, after its output. Never rejects. */
  ended: Promise<number | NodeJS.Signals>;
  stop: () => Promise<void>;
  kill: () => void;
};

type ChildOptions = {
  env: Readonly<Record<string, string | undefined>>;
  name: string;
  niceness?: number;
  graceMs: number;
  onOutput: (line: string) => void;
  onError: (line: string) => void;
};

/** Starts a child. Throws if there is no such program. */
export function startChild(
  command: readonly string[],
  { env, name, niceness = 0, graceMs, onOutput, onError }: ChildOptions,
): ChildProcess {
  const child = Bun.spawn([...command], {
    env: { ...env, [CHILD_VARIABLE]: name, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // A process group of its own: Ctrl-C in a terminal would signal it a second time, which cuts it off.
    ipc: () => undefined, // When this process dies, the channel closes, and the child notices.
  });
  ignoreFailure(() => setPriority(child.pid, Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW))); // It may have ended already, or the system may forbid it.
  const output = Promise.all([eachLine(child.stdout, onOutput), eachLine(child.stderr, onError)]);
  const end = async () => {
    await child.exited;
    await Promise.race([output, Bun.sleep(OUTPUT_WAIT_MS)]);
    return child.signalCode ?? child.exitCode ?? 1;
  };
  const ended = end();
  const kill = () => {
    ignoreFailure(() => process.kill(-child.pid, "SIGKILL")); // The group of a child that has ended is gone.
    child.kill("SIGKILL");
  };
  return {
    ended,
    kill,
    stop: async () => {
      child.kill("SIGTERM");
      const killer = setTimeout(kill, graceMs);
      await ended;
      clearTimeout(killer);
    },
  };
}

async function eachLine(stream: ReadableStream<Uint8Array>, pass: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  const passFull = (line: string) => {
    if (line.trim() !== "") pass(line);
  };
  let rest = "";
  for await (const piece of stream) {
    const [first = "", ...others] = decoder.decode(piece, { stream: true }).split("\n");
    const lines = [rest + first, ...others].map((line) => line.slice(0, LINE_MAX));
    rest = lines.pop() ?? "";
    lines.forEach(passFull);
  }
  passFull(rest);
}

function ignoreFailure(work: () => void): void {
  try {
    work();
  } catch {}
}
