/** Attempts to deliver. The clock may be changed: an instant in the future is ignored, and a leap counts as at most one day. */
import { backoffMs } from "../../clients/typescript/src/backoff.ts";
import { Failure } from "../../db/reason.ts";
import { DAY_MS, type EpochMs, HOUR_MS } from "../text/instant.ts";
import type { Attempts } from "./watch.ts";

/** Its message names the receiver and the reason, and never a secret. Gone: status 410. Refused: by a mail server, permanently. */
export class DeliveryError extends Failure {
  constructor(
    message: string,
    readonly retryAfterMs?: number | undefined,
    readonly isGone = false,
    readonly isRefused = false,
  ) {
    super(message);
  }
}

export const STOPPED = "it was stopped";

/** For longer failures, a watch is paused. */
export const FAILING_MAX_MS = 3 * DAY_MS;
export const REFUSED_MAX_MS = DAY_MS;
const DELAY_MAX_MS = 6 * HOUR_MS;
const ASKED_MAX_MS = DAY_MS;

/** When the next attempt may begin: now, if the clock was set back since the last one. */
export function nextAttemptAt({ at, wait_ms }: Attempts, now: EpochMs): EpochMs {
  return at === null || now < at ? now : at + wait_ms;
}

/** The attempts after a further failure. A receiver can only lengthen the delay. `random` returns a number from 0 to 1. */
export function failedOnce(
  attempts: Attempts,
  now: EpochMs,
  { message, retryAfterMs }: Pick<DeliveryError, "message" | "retryAfterMs">,
  random: () => number,
): Attempts {
  const count = attempts.count + 1;
  const backoff = backoffMs(count, { maxMs: DELAY_MAX_MS, random });
  const wait_ms = Math.round(Math.max(backoff, Math.min(retryAfterMs ?? 0, ASKED_MAX_MS)));
  const sinceLast = attempts.at === null ? 0 : Math.min(Math.max(now - attempts.at, 0), DAY_MS);
  return { count, at: now, wait_ms, failing_ms: attempts.failing_ms + sinceLast, error: message };
}
