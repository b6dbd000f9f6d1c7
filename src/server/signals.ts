/** How signals stop a server. */
import type { Listener } from "../http/listen.ts";
import type { Log } from "../monitoring/log.ts";
import type { Machine } from "../runtime/machine.ts";
import type { ServeOptions } from "./options.ts";

const DRAIN_MS = 10_000;

type StopSignals = { first: Promise<void>; second: Promise<void> };

/** Starts to watch for SIGTERM and SIGINT. SIGHUP counts too if there is no certificate to reload: usually a terminal was closed. */
export function watchStopSignals(machine: Machine, { tlsCert }: Pick<ServeOptions, "tlsCert">, log: Log): StopSignals {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let signals = 0;
  const stop = () => (++signals === 1 ? first : second).resolve();
  machine.onStopSignal(stop);
  if (tlsCert === undefined) {
    machine.onReloadSignal(() => {
      log.notice(machine.now(), "SIGHUP: the server stops, because it has no certificate to reload");
      stop();
    });
  }
  return { first: first.promise, second: second.promise };
}

/** Waits for the first signal, then stops the listener. False if a second signal or the time limit cut requests off. */
export async function drain({ first, second }: StopSignals, listener: Listener): Promise<boolean> {
  await first;
  const drained = await Promise.race([listener.stop().then(() => true), second.then(() => false), Bun.sleep(DRAIN_MS).then(() => false)]);
  if (!drained) await listener.stop(true);
  return drained;
}
