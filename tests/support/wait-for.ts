/** Waiting for a condition that another process or connection brings about. */

const POLL_EVERY_MS = 20;

/**
 * Calls `check` every 20 ms until it returns something other than `false` and `undefined`, and returns that.
 * Throws with `what` in the message after `seconds`, or whatever `check` throws.
 */
export async function waitFor<T>(what: string, check: () => T | Promise<T>, seconds = 60): Promise<Exclude<T, false | undefined>> {
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await Bun.sleep(POLL_EVERY_MS)) {
    const result = await check();
    if (result !== undefined && result !== false) return result as Exclude<T, false | undefined>;
  }
  throw new Error(`Waited ${seconds} s in vain: ${what}`);
}
