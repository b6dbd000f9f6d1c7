/** Wraps `work` so that one run at a time serves all callers. A caller during a run waits for the next one, which sees all that was true by then. */
export function singleFlight(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = () => {
    next = undefined;
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  };
  const join = () => running ?? begin(); // A run that started a moment ago started after all who wait here called.
  return () => {
    if (running === undefined) return begin();
    next ??= running.then(join, join);
    return next;
  };
}
