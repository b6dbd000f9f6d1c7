/**
 * Runs `work` at once and then in every period, never twice at the same time: a period is skipped while the last run is under way. Passes
 * failures to `onFailure` and goes on. The result stops it, after the run under way.
 */
export function startPeriodic(periodMs: number, work: () => Promise<void>, onFailure: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> | undefined;
  const run = () => {
    running ??= work()
      .catch(onFailure)
      .finally(() => {
        running = undefined;
      });
  };
  run();
  const timer = setInterval(run, periodMs);
  return async () => {
    clearInterval(timer);
    await running;
  };
}
