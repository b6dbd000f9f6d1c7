/** Waiting for a condition that another process or connection brings about. */

const POLL_EVERY_MS = 20;

/**
 * Calls `check` every 20 ms until it returns something other than `false` and `undefined`, and returns that. Throws whatever `check` throws.
 * After `seconds` it throws what it waited for, how often it looked, and what `saw` tells then. The default leaves a minute of a test's five.
 */
export async function waitFor<T>(
  what: string,
  check: () => T | Promise<T>,
  { seconds = 240, saw = () => undefined }: { seconds?: number; saw?: () => unknown } = {},
): Promise<Exclude<T, false | undefined>> {
  let looked = 0;
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await Bun.sleep(POLL_EVERY_MS)) {
    const result = await check();
    if (result !== undefined && result !== false) return result as Exclude<T, false | undefined>;
    looked++;
  }
  throw new Error(`Waited ${seconds} s in vain, and looked ${looked} times: ${what}${seen(saw())}`);
}

function seen(value: unknown): string {
  return value === undefined ? "" : `; saw ${typeof value === "string" ? value : JSON.stringify(value)}`;
}
