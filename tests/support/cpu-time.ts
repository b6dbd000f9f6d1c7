/** CPU time instead of wall-clock time, which also passes while other programs use the processors. */

/** Returns the milliseconds of CPU time that this process has used so far, all its threads together. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Runs `work` and returns the milliseconds of CPU time that this process used meanwhile. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = cpuMs();
  await work();
  return cpuMs() - before;
}
