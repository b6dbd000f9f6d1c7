/** Repeats work at an interval, one run at a time. */
import { setTimeout as sleepMs } from "node:timers/promises";
import type { EpochMs } from "../text/instant.ts";

const SLEEP_MAX_MS = 2 ** 31 - 1;

type Clock = { now: () => EpochMs; wait: (ms: number, stop: AbortSignal) => Promise<void>; stop: AbortSignal };

/** Runs `work` at once and then every `everyMs` until `stop` is aborted, however the clock is set. Throws what `work` throws. */
export async function runEvery(everyMs: number, { now, wait, stop }: Clock, work: () => Promise<void>): Promise<void> {
  while (!stop.aborted) {
    const startedAt = now();
    await work();
    const restMs = startedAt + everyMs - now();
    await wait(Math.min(Math.max(restMs, 0), everyMs), stop);
  }
}

/** Waits, at most until `stop` is aborted. */
export async function sleep(ms: number, stop?: AbortSignal): Promise<void> {
  await sleepMs(Math.min(ms, SLEEP_MAX_MS), undefined, stop === undefined ? {} : { signal: stop }).catch(() => undefined);
}
