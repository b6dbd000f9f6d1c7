/** A process of this program that another one started, and what they tell each other. */

/** Which one of the workers a process is, and the port that all share. */
export type WorkerPlace = { number: number; port: number };

export type Order = "stop" | "reload";

/** A worker as the process that started it sees it. */
export type WorkerProcess = {
  /** What it prints once it listens; `undefined` when it ended before. */
  listening: Promise<string | undefined>;
  /** Its exit code or the signal that killed it, once all of its log is passed on. */
  ended: Promise<string>;
  /** Heard once it listens. */
  send: (order: Order) => void;
};

/** By this variable a worker knows its place. */
const VARIABLE = "FUNDFEED_WORKER";

/** The place of this process, where another one started it as a worker. */
export function workerPlace(env: Readonly<Record<string, string | undefined>>): WorkerPlace | undefined {
  const [, number, port] = /^(\d+):(\d+)$/.exec(env[VARIABLE] ?? "") ?? [];
  return number === undefined ? undefined : { number: Number(number), port: Number(port) };
}

/** Starts a worker. Whole lines of its log go to `writeLog`: what processes write to one pipe by themselves may be mixed. */
export function startWorker(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { number, port }: WorkerPlace,
  writeLog: (lines: string) => void,
): WorkerProcess {
  const listening = Promise.withResolvers<string | undefined>();
  const child = Bun.spawn([...command], {
    env: { ...env, [VARIABLE]: `${number}:${port}` },
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
    send: async (order) => {
      if ((await listening.promise) !== undefined && child.exitCode === null && child.signalCode === null) child.send(order);
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
