/** The reader process: `up` starts it at once, and the next request starts another one after it ended. It is killed if it stops answering. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { backoffMs } from "../../clients/typescript/src/backoff.ts";
import { Failure } from "../../db/reason.ts";
import { counter } from "../monitoring/families.ts";
import { temporaryDirectory } from "../runtime/left-behind.ts";
import { sleep } from "../runtime/run-every.ts";
import { type ChildProcess, startChild } from "../runtime/supervise.ts";

export const READER_HOST = "reader";
export const MCP_PATH = "/mcp";
export const ALIVE_PATH = "/alive";
export const READER_VARIABLE = "FUNDFEED_READER";

type ReaderDeps = {
  command: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  writeLog: (lines: string) => void;
  onFailure: (message: string) => void;
  limits?: Partial<typeof LIMITS>;
};

const LIMITS = {
  startMs: 60_000,
  /** How long a response may take before the reader is checked, and how long that check may take. The sum is less than a client's timeout. */
  answerMs: 10_000,
  pauseMs: 1000,
  pauseMaxMs: 60_000,
  steadyMs: 60_000,
  graceMs: 5000,
};

/** On one core the API goes first, then the pages, then the jobs. */
const NICENESS = 5;

/** The operating system truncates longer socket paths. */
const SOCKET_PATH_BYTES_MAX = 107;

type Running = { child: ChildProcess; socket: string; listening: Promise<void> };

export function createReaderProcess({ command, env, writeLog, onFailure, limits }: ReaderDeps) {
  const { startMs, answerMs, pauseMs, pauseMaxMs, steadyMs, graceMs } = { ...LIMITS, ...limits };
  let directory: string | undefined;
  let running: Running | undefined;
  let starts = 0;
  let failures = 0;
  let notBefore = 0;
  let isStopping = false;

  const start = (): Running => {
    directory ??= temporaryDirectory("reader"); // Not the data directory, whose path may be too long for a socket.
    const socket = join(directory, `${++starts}`); // A new path each time, so that no connection to an older reader is reused.
    if (Buffer.byteLength(socket) > SOCKET_PATH_BYTES_MAX)
      throw new Failure(`Cannot start the reader: the path ${socket} is too long for a socket; set TMPDIR to a shorter one`);
    const startedAt = performance.now();
    const listening = Promise.withResolvers<void>();
    const child = startChild(command, {
      env: { ...env, [READER_VARIABLE]: socket },
      name: "reader",
      niceness: NICENESS,
      graceMs,
      onOutput: () => listening.resolve(), // reader.ts prints one line once it listens.
      onError: (line) => writeLog(`${line}\n`),
    });
    const tooLate = setTimeout(child.kill, startMs);
    const started: Running = { child, socket, listening: listening.promise.finally(() => clearTimeout(tooLate)) };
    started.listening.catch(() => undefined); // The requests that wait get the error.
    void child.ended.then((end) => {
      listening.reject(new Error(`The reader ended (${end})`));
      if (running === started) running = undefined;
      failures = performance.now() - startedAt > steadyMs ? 0 : failures + 1;
      const pause = failures === 0 ? 0 : backoffMs(failures, { firstMs: pauseMs, maxMs: pauseMaxMs });
      notBefore = performance.now() + pause;
      const when = pause === 0 ? "The next request" : `After ${pause / 1000} s, the next request`;
      if (!isStopping) onFailure(`The reader of the pages ended (${end}). ${when} starts another one`);
    });
    return started;
  };

  const isAlive = async ({ socket }: Running): Promise<boolean> => {
    const asked = fetch(`http://${READER_HOST}${ALIVE_PATH}`, { unix: socket, signal: AbortSignal.timeout(answerMs) });
    return asked.then(
      () => true,
      () => false,
    );
  };

  const responseOf = async (response: Promise<Response>, reader: Running): Promise<Response> => {
    for (;;) {
      const waited = new AbortController();
      const first = await Promise.race([response, sleep(answerMs, waited.signal)]).finally(() => waited.abort());
      if (first !== undefined) return first;
      if (running === reader && !(await isAlive(reader))) {
        onFailure(`The reader of the pages has not answered for ${answerMs / 1000} s, and is killed`);
        reader.child.kill();
      }
    }
  };

  return {
    /** Starts the reader if it does not run. Never rejects: 503 while it cannot respond. Only a stream of events is not complete. */
    fetch: async (path: string, request: Pick<RequestInit, "method" | "headers" | "body" | "signal">): Promise<Response> => {
      const waitMs = notBefore - performance.now();
      if (isStopping || (running === undefined && waitMs > 0)) return unavailable(waitMs);
      let reader: Running | undefined;
      try {
        running ??= start();
        reader = running;
        await reader.listening;
        const { socket: unix } = reader;
        const response = fetch(`http://${READER_HOST}${path}`, { ...request, unix, redirect: "manual", decompress: false, verbose: false });
        return await responseOf(response.then(whole), reader);
      } catch (error) {
        if (reader === undefined) onFailure(String(error)); // It never started. `onFailure` was called already for one that ended.
        return unavailable(notBefore - performance.now());
      }
    },
    /** Returns when the reader has finished what it was doing at the time of the call, or hangs. */
    settled: async () => void (running !== undefined && (await isAlive(running))),
    families: () => [counter("fundfeed_reader_starts_total", "Starts of the process that renders the pages.", starts)],
    stop: async () => {
      isStopping = true;
      await running?.child.stop();
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The response with its body read, so that a slow client does not hold up the reader. */
async function whole(response: Response): Promise<Response> {
  const { status, headers, body } = response;
  if (body === null || headers.get("content-type")?.startsWith("text/event-stream") === true) return response;
  const bytes = await response.bytes();
  for (const name of OF_CONNECTION) headers.delete(name);
  return new Response(bytes.length === 0 ? null : bytes, { status, headers });
}

const OF_CONNECTION = ["connection", "content-length", "date", "transfer-encoding"];

function unavailable(waitMs: number): Response {
  const headers = { "Retry-After": `${Math.max(1, Math.ceil(waitMs / 1000))}`, "Content-Type": "text/plain; charset=utf-8" };
  return new Response("The pages are starting again. Try again in a moment.\n", { status: 503, headers });
}

/** The request headers that the reader uses. All others are not passed on. */
export function pickHeaders(headers: Headers, names: readonly string[]): [string, string][] {
  return names.flatMap((name): [string, string][] => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  });
}
