/** What work costs, told without the clock on the wall, which runs on while others have the processors. */

/** Milliseconds of processor time that this process has while `work` is done. */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
