/** Standard output and error. Results are written before a call returns, however slowly they are read; the log makes nobody wait. */
import { constants, fstatSync, fsyncSync, openSync, readFileSync, write as writeAsync, writeSync } from "node:fs";
import { codeOf, Failure, reasonOf } from "../../db/reason.ts";
import { safeLines } from "../text/terminal-text.ts";
import { OutputClosed } from "./machine.ts";

const LOG_PENDING_MAX = 32_000_000;
const LOG_WAIT_MS = 2000;
/** When standard output has taken nothing for this long, a signal ends the program at once: while a write waits, no handler is called. */
const STUCK_MS = 1000;

const STOP_SIGNALS = ["SIGTERM", "SIGINT"] as const;

const O_CLOEXEC = 0o2000000;

type Descriptor = 1 | 2;

/** Whether the program was started without this descriptor: the runtime then opens /dev/null there, with O_CLOEXEC, as no inherited one is. */
export function isClosedAtStart(descriptor: Descriptor): boolean {
  try {
    const [, flags = ""] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
  } catch {
    return false;
  }
}

/** Opens the streams. `clearProgress` is called before each write that would otherwise end in the progress line. */
export function openStreams(clearProgress: () => void) {
  const output = openOutput();
  const stopHandlers: (() => void)[] = [];
  let isStuck = false;
  let logPending = 0;
  let logWritten = Promise.resolve();

  /** While it is stuck, signals to stop do what they do to a program that does not handle them. */
  const setStuck = (is: boolean): void => {
    if (is === isStuck) return;
    isStuck = is;
    for (const name of STOP_SIGNALS) for (const handle of stopHandlers) is ? process.off(name, handle) : process.on(name, handle);
  };

  /** Writes all of `text` before it returns. Throws if standard output fails; ignores failures of standard error. */
  const write = (descriptor: Descriptor, text: string): void => {
    let rest = Buffer.from(text);
    let fullSince: number | undefined;
    try {
      while (rest.length > 0) {
        try {
          rest = rest.subarray(writeSync(descriptor === 1 ? output : 2, rest));
          fullSince = undefined;
        } catch (error) {
          const code = codeOf(error);
          if (descriptor === 2 && code !== "EAGAIN") return; // A full disk, or a log reader that died, must not stop the server.
          if (code === "EPIPE") throw new OutputClosed();
          if (code !== "EAGAIN") throw new Failure(`Cannot write standard output: ${reasonOf(error)}`, { cause: error });
          Bun.sleepSync(1); // The pipe is full.
          fullSince ??= performance.now();
        }
        setStuck(fullSince !== undefined && performance.now() - fullSince > STUCK_MS);
      }
    } finally {
      setStuck(false);
    }
  };

  return {
    write,
    writeLine: (descriptor: Descriptor, line: string): void => {
      clearProgress();
      write(descriptor, `${line}\n`);
    },
    writeOutput: (text: string): Promise<void> => writeAll(1, Buffer.from(text)),
    syncOutput,
    /** Writes in order, without making the server wait for a slow reader of its log. Drops what exceeds `LOG_PENDING_MAX`. */
    writeLog: (text: string): void => {
      if (logPending + text.length > LOG_PENDING_MAX) return;
      logPending += text.length;
      logWritten = logWritten
        .then(() => {
          clearProgress();
          return writeAll(2, Buffer.from(safeLines(text)));
        })
        .catch(() => undefined) // A full disk, or a log reader that died, must not stop the server.
        .finally(() => {
          logPending -= text.length;
        });
    },
    finishLog: () => Promise.race([logWritten, Bun.sleep(LOG_WAIT_MS)]),
    onStopSignal: (stop: () => void): void => {
      stopHandlers.push(stop);
      for (const name of STOP_SIGNALS) process.on(name, stop);
    },
  };
}

/** Standard output. A pipe is opened once more, so that writing into a full one does not block. Only Linux does that. */
function openOutput(): number {
  try {
    if (fstatSync(1).isFIFO()) return openSync("/proc/self/fd/1", constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {} // Its reader has gone, or it belongs to another user.
  return 1;
}

async function writeAll(descriptor: Descriptor, bytes: Buffer): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) {
    const { promise, resolve } = Promise.withResolvers<number | NodeJS.ErrnoException>();
    writeAsync(descriptor, rest, (error, written) => resolve(error ?? written));
    const written = await promise;
    if (typeof written === "number") rest = rest.subarray(written);
    else if (written.code === "EAGAIN") await Bun.sleep(1);
    else throw written;
  }
}

/** A pipe or terminal cannot be synced: what it has taken is the reader's. */
function syncOutput(): void {
  try {
    fsyncSync(1);
  } catch (error) {
    if (!["EINVAL", "ENOTSUP", "EROFS"].includes(codeOf(error)))
      throw new Failure(`Cannot write standard output: ${reasonOf(error)}`, { cause: error });
  }
}
