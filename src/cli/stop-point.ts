/** Ends a command between two of its steps. */
import type { Machine } from "../runtime/machine.ts";

/** A function to be called between two steps of a command. Once a stop signal came, it throws this error. */
export function stopPoint({ onStopSignal }: Pick<Machine, "onStopSignal">, error: Error): () => Promise<void> {
  let isStopped = false;
  onStopSignal(() => {
    isStopped = true;
  });
  return async () => {
    await Bun.sleep(0); // Signals are delivered by the event loop.
    if (isStopped) throw error;
  };
}
