/** `serve --workers`: a server process that another process of this program started, and the messages between the two. */

/** The number of a worker, from 1, the port that all workers share, and whether the log of their parent process goes to a terminal. */
export type WorkerConfig = { number: number; port: number; isLogOnTerminal: boolean };

/** What a parent sends its workers: the meaning of the signal that it got. */
export type WorkerSignal = "stop" | "reload";

/** A worker as its parent process sees it. */
export type WorkerProcess = {
  /** Resolves to the line that it prints once it listens, or to `undefined` if it ended before that. */
  listening: Promise<string | undefined>;
  /** Resolves to its exit code, or to the signal that killed it, after all of its log has been passed on. */
  ended: Promise<string>;
  /** Delivered once the worker listens. */
  send: (signal: WorkerSignal) => void;
};

/** The environment variable that makes a process a worker: "number:port:terminal" or "number:port:file". */
const WORKER_VARIABLE = "FUNDFEED_WORKER";

/** The configuration of this process as a worker, or `undefined` if it is none. */
export function workerConfig(env: Readonly<Record<string, string | undefined>>): WorkerConfig | undefined {
  const [, number, port, log] = /^(\d+):(\d+):(terminal|file)$/.exec(env[WORKER_VARIABLE] ?? "") ?? [];
  return number === undefined ? undefined : { number: Number(number), port: Number(port), isLogOnTerminal: log === "terminal" };
}

/** Starts a worker. Its log comes back through a pipe in whole lines: processes that write to one pipe would mix theirs. */
export function startWorker(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { number, port, isLogOnTerminal }: WorkerConfig,
  writeLog: (lines: string) => void,
): WorkerProcess {
  const listening = Promise.withResolvers<string | undefined>();
  const child = Bun.spawn([...command], {
    env: { ...env, [WORKER_VARIABLE]: `${number}:${port}:${isLogOnTerminal ? "terminal" : "file"}` },
    stdio: ["ignore", "ignore", "pipe"],
    ipc: (printed) => listening.resolve(String(printed)),
  });
  const end = async () => {
    await Promise.all([child.exited, passLines(child.stderr, writeLog)]);
    listening.resolve(undefined);
    return String(child.signalCode ?? child.exitCode);
  };
  return {
    listening: listening.promise,
    ended: end(),
    send: async (signal) => {
      if ((await listening.promise) !== undefined && child.exitCode === null && child.signalCode === null) child.send(signal);
    },
  };
}

async function passLines(log: ReadableStream<Uint8Array>, writeLog: (lines: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of log) {
    const text = rest + decoder.decode(piece, { stream: true });
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) writeLog(text.slice(0, end));
    rest = text.slice(end);
  }
  if (rest !== "") writeLog(`${rest}\n`);
}
