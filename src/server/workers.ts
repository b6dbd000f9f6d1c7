/** `serve --workers`: several processes share one port, each a complete server. They count quotas in Redis, so limits stay exact. (E-43) */
import { type Listener, listen } from "../http/listen.ts";
import { createLog, type Log } from "../monitoring/log.ts";
import type { Machine } from "../runtime/machine.ts";
import { sleep } from "../runtime/run-every.ts";
import type { WorkerConfig, WorkerProcess, WorkerSignal } from "../runtime/worker-process.ts";
import type { ServeOptions } from "./options.ts";
import { serve } from "./serve.ts";
import { STOPPED_BY_SIGHUP } from "./signals.ts";
import { FilesReplaced } from "./stores.ts";

/** The delay before a worker that died is replaced. It doubles each time, until a worker has lived for `STEADY_MS`. */
const RESTART_DELAY_MS = 100;
const RESTART_DELAY_MAX_MS = 30_000;
const STEADY_MS = 60_000;
/** The exit code of a worker that found its files replaced; then all stop. */
const FILES_REPLACED = 75;

/**
 * Serves in `options.workers` processes until a signal stops them. Returns the exit code: 0 if each got all its responses out, 1 if some
 * were cut off or a worker could not start. Throws if the port is taken, and as soon as a worker finds its files replaced.
 */
export function serveWithWorkers(machine: Machine, options: ServeOptions): Promise<number> {
  return machine.worker === undefined ? supervise(machine, options) : serveAsWorker(machine, optionsOfWorker(options, machine.worker));
}

async function serveAsWorker(machine: Machine, options: ServeOptions): Promise<number> {
  try {
    return await serve(machine, options);
  } catch (error) {
    if (error instanceof FilesReplaced) return FILES_REPLACED; // The parent says so, once for all.
    throw error;
  }
}

/** The port that all share, a metrics port of its own, and its part of what the server grants while Redis is unavailable. */
function optionsOfWorker(options: ServeOptions, { number, port }: WorkerConfig): ServeOptions {
  const { workers = 1, metricsPort, quotaShare } = options;
  return {
    ...options,
    port,
    ...(metricsPort && { metricsPort: metricsPort + number - 1 }),
    ...(quotaShare !== undefined && { quotaShare: Math.ceil(quotaShare / workers) }),
  };
}

async function supervise(machine: Machine, options: ServeOptions): Promise<number> {
  const { workers = 1 } = options;
  const log = createLog(options.logFormat, machine.writeLog, options.logLevel);
  const running = new Set<WorkerProcess>();
  const stop = watchSignals(machine, options, running, log);
  const reserved = await reservePort(options);
  const start = (number: number): WorkerProcess => {
    const worker = machine.startWorker({ number, port: reserved.port, isLogOnTerminal: machine.isLogOnTerminal() });
    running.add(worker);
    void worker.ended.then(() => running.delete(worker));
    return worker;
  };

  const first = start(1); // Alone: it creates or migrates the databases, and reports a bad option once.
  const address = await first.listening;
  const started = [first];
  if (address !== undefined && !stop.signal.aborted) for (let number = 2; number <= workers; number++) started.push(start(number));
  const addresses = await Promise.all(started.map(({ listening }) => listening));
  await reserved.stop(true);
  if (stop.signal.aborted || address === undefined || addresses.includes(undefined)) stop.request();
  else machine.printLine(address);

  const ends = await Promise.all(started.map((worker, index) => keepAlive(worker, index + 1, start, stop, log, machine)));
  if (ends.includes(`${FILES_REPLACED}`)) throw new FilesReplaced(options.data);
  return ends.every((end) => end === "0") ? 0 : 1;
}

type Stop = { request: () => void; signal: AbortSignal };

/** Passes signals on to all running workers. */
function watchSignals(machine: Machine, { tlsCert }: ServeOptions, running: ReadonlySet<WorkerProcess>, log: Log): Stop {
  const stop = new AbortController();
  const send = (signal: WorkerSignal) => {
    for (const worker of running) worker.send(signal);
  };
  const request = () => {
    stop.abort();
    send("stop");
  };
  machine.onStopSignal(request);
  machine.onReloadSignal(() => {
    if (tlsCert !== undefined) return send("reload");
    log.notice(machine.now(), STOPPED_BY_SIGHUP);
    request();
  });
  return { request, signal: stop.signal };
}

/** Replaces a worker each time that it dies, until a stop is requested or its files were replaced. Returns how the last one ended. */
async function keepAlive(
  first: WorkerProcess,
  number: number,
  start: (number: number) => WorkerProcess,
  stop: Stop,
  log: Log,
  { now }: Machine,
): Promise<string> {
  let delayMs = RESTART_DELAY_MS;
  for (let worker = first; ; worker = start(number)) {
    const startedAt = performance.now();
    const end = await worker.ended;
    if (end === `${FILES_REPLACED}`) stop.request();
    if (stop.signal.aborted) return end;
    if (performance.now() - startedAt > STEADY_MS) delayMs = RESTART_DELAY_MS;
    log.failure(now(), new Error(`Worker ${number} ended (${end}): another one starts in ${delayMs / 1000} s`), null);
    await sleep(delayMs, stop.signal);
    if (stop.signal.aborted) return "0";
    delayMs = Math.min(delayMs * 2, RESTART_DELAY_MAX_MS);
  }
}

/**
 * Holds the port until the workers share it. Listens on it without sharing first, which fails if any other program has it, and then for
 * sharing. Another program could only take it in the millisecond between the two, and only if it asks for sharing as well.
 */
async function reservePort({ host: hostname, port }: ServeOptions): Promise<Listener> {
  const notYet = { fetch: async () => new Response(null, { status: 503, headers: { "Retry-After": "1" } }) };
  const alone = await listen(notYet, { hostname, port });
  void alone.stop(true);
  return listen(notYet, { hostname: alone.address, port: alone.port, reusePort: true });
}
