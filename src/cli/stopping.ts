/** How commands stop at a signal, and repeat until then. */
import { messageOf } from "../../db/reason.ts";
import { isOutputClosed, type Machine } from "../runtime/machine.ts";
import { runEvery } from "../runtime/run-every.ts";
import { formatInstant } from "../text/instant.ts";
import type { CliCommand } from "./command.ts";

export type Waiting = { wait: (ms: number, stop?: AbortSignal) => Promise<void> };

/** A signal that is aborted at the first SIGTERM or SIGINT. */
export function stopSignal({ onStopSignal }: Pick<Machine, "onStopSignal">): AbortSignal {
  const stop = new AbortController();
  onStopSignal(() => stop.abort());
  return stop.signal;
}

/** A function to be called between two steps of a command. Once a stop signal came, it throws this error. */
export function stopPoint(machine: Pick<Machine, "onStopSignal">, error: Error): () => Promise<void> {
  const stop = stopSignal(machine);
  return async () => {
    await Bun.sleep(0); // Signals are delivered by the event loop.
    if (stop.aborted) throw error;
  };
}

/** The first signal ends the work between two steps. The second ends the program at once, as the first does while nothing is stored. */
export function untilStopped<T>(
  { onStopSignal }: Machine,
  work: (stop: AbortSignal) => Promise<T>,
  isAnythingStored = () => true,
): Promise<T> {
  const stop = new AbortController();
  const cutOff = Promise.withResolvers<never>();
  onStopSignal(() => {
    if (stop.signal.aborted)
      cutOff.reject(new Error("a second signal cut it off; what it stored stays, and the same command stores the rest"));
    if (!isAnythingStored()) cutOff.reject(new Error("it was stopped before anything was stored"));
    stop.abort();
  });
  return Promise.race([work(stop.signal), cutOff.promise]);
}

/** Repeats `work` until it is told to stop. Prints why a run failed, and the next run tries again, unless the failure is final. */
export async function repeat(
  command: CliCommand,
  everyMs: number,
  { wait, stop }: { wait: (ms: number, stop: AbortSignal) => Promise<void>; stop: AbortSignal },
  work: (time: string) => Promise<void>,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<void> {
  const { now, printError } = command.machine;
  command.cli.isLasting = true;
  await runEvery(everyMs, { now, wait, stop }, async () => {
    const time = formatInstant(now());
    try {
      await work(time);
    } catch (error) {
      if (isOutputClosed(error)) throw error;
      if (stop.aborted) return;
      if (isFinal(error)) throw error;
      printError(`${time} ${messageOf(error)}`);
    }
  });
}
