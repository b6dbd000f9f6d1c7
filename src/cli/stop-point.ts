import type { Machine } from "../runtime/machine.ts";

/** A function to be called between two steps of a command. Once a stop signal came, it throws an error with this message. */
export function stopPoint({ onStopSignal }: Pick<Machine, "onStopSignal">, message: string): () => Promise<void> {
  let isStopped = false;
  onStopSignal(() => {
    isStopped = true;
  });
  return async () => {
    await Bun.sleep(0); // Signals are delivered by the event loop.
    if (isStopped) throw new Error(message);
  };
}
