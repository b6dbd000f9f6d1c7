/** Work that is done again and again, one turn at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Net } from "./download.ts";

/** `setTimeout` takes no more. */
const PAUSE_MAX_MS = 2 ** 31 - 1;

/**
 * Does a turn at once and then each `everyMs`, or right after one that took longer, until `stop`. A clock that is set during a turn
 * makes the pause after it shorter or longer, but never longer than `everyMs`.
 */
export async function repeat(
  everyMs: number,
  { now, wait, stop }: Pick<Net, "now" | "wait" | "stop">,
  turn: () => Promise<void>,
): Promise<void> {
  while (!stop.aborted) {
    const begun = now();
    await turn();
    const rest = begun + everyMs - now();
    await wait(Math.min(Math.max(rest, 0), everyMs), stop);
  }
}

/** Waits for so long, or until `stop`. */
export async function pause(ms: number, stop?: AbortSignal): Promise<void> {
  await sleep(Math.min(ms, PAUSE_MAX_MS), undefined, stop === undefined ? {} : { signal: stop }).catch(() => undefined);
}
