/**
 * Work that many ask for at once, such as a look at what was committed, done once for all of them.
 *
 * The answer runs `work` and resolves when that is done; one run at a time. Whoever asks while one is under way shares the next, which
 * begins after all of them have asked: what was true when they asked is seen. A failure reaches those who share the run that failed.
 */
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
  const join = () => running ?? begin(); // Somebody may have begun it a moment ago: later than all who share it asked.
  return () => {
    if (running === undefined) return begin();
    next ??= running.then(join, join);
    return next;
  };
}
