/** `serve --workers`: processes that share one port, each a whole server. Their quotas are exact because they share a Redis. */

import type { ServeOptions } from "../cli/serve.ts";
import { type Listener, listen } from "../http/listen.ts";
import { createLog } from "../monitoring/log.ts";
import type { Machine } from "../runtime/machine.ts";
import type { WorkerConfig, WorkerProcess, WorkerSignal } from "../runtime/worker-process.ts";

/** How long the next worker waits for one that died: twice as long each time, until one has lived for a while. */
const PAUSE_MS = 100;
const PAUSE_MAX_MS = 30_000;
const STEADY_MS = 60_000;

export const STOPPED_BY_SIGHUP = "SIGHUP: the server stops, as it has no certificate to read again";

/**
 * Serves in `options.workers` processes until a signal ends it. The exit code: 0 when each answered every request under way, 1 when
 * some were cut or a worker could not begin. Throws when the port is taken.
 */
export function serveByWorkers(machine: Machine, options: ServeOptions, serve: Serve): Promise<number> {
  return machine.worker === undefined ? supervise(machine, options) : serve(machine, optionsOfWorker(options, machine.worker));
}

type Serve = (machine: Machine, options: ServeOptions) => Promise<number>;

/** A port of its own for each worker's metrics, and a part of what the server grants by itself while Redis is away. */
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
  const { now } = machine;
  const log = createLog(options.logFormat, machine.writeLog, options.logLevel);
  const running = new Set<WorkerProcess>();
  const stopped = Promise.withResolvers<void>();
  let stopping = false;
  const sendAll = (signal: WorkerSignal) => {
    for (const worker of running) worker.send(signal);
  };
  const stopAll = () => {
    stopping = true;
    stopped.resolve();
    sendAll("stop");
  };
  machine.onStopSignal(stopAll);
  machine.onReloadSignal(() => {
    if (options.tlsCert !== undefined) return sendAll("reload");
    log.notice(now(), STOPPED_BY_SIGHUP);
    stopAll();
  });

  const held = await holdPort(options);
  const start = (number: number): WorkerProcess => {
    const worker = machine.startWorker({ number, port: held.port });
    running.add(worker);
    void worker.ended.then(() => running.delete(worker));
    return worker;
  };
  const keep = async (first: WorkerProcess, number: number): Promise<string> => {
    let pauseMs = PAUSE_MS;
    for (let worker = first; ; worker = start(number)) {
      const startedAt = performance.now();
      const end = await worker.ended;
      if (stopping) return end;
      pauseMs = performance.now() - startedAt > STEADY_MS ? PAUSE_MS : pauseMs;
      log.failure(now(), new Error(`Worker ${number} ended (${end}): another one starts in ${pauseMs / 1000} s`), null);
      await Promise.race([Bun.sleep(pauseMs), stopped.promise]);
      if (stopping) return "0";
      pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
    }
  };

  const first = start(1); // Alone: it makes or migrates the files, and what it refuses is said once.
  const address = await first.listening;
  const others =
    address === undefined || stopping ? [] : Array.from({ length: (options.workers ?? 1) - 1 }, (_, index) => start(index + 2));
  const workers = [first, ...others];
  const addresses = await Promise.all(workers.map(({ listening }) => listening));
  await held.stop(true);
  if (stopping || address === undefined || addresses.includes(undefined)) stopAll();
  else machine.printLine(address);

  const ends = await Promise.all(workers.map((worker, index) => keep(worker, index + 1)));
  return ends.every((end) => end === "0") ? 0 : 1;
}

/**
 * Takes the port alone, so that it is refused where anybody has it; then for sharing, until the workers have it: nobody takes it in
 * between. Both within a millisecond, for which another program that asks for sharing, too, would not be noticed.
 */
async function holdPort({ host: hostname, port }: ServeOptions): Promise<Listener> {
  const notYet = { fetch: async () => new Response(null, { status: 503, headers: { "Retry-After": "1" } }) };
  const alone = await listen(notYet, { hostname, port });
  void alone.stop(true);
  return listen(notYet, { hostname: alone.address, port: alone.port, reusePort: true });
}
