/** Attempts to deliver. The clock may be changed: an instant in the future is ignored, and a leap counts as at most one day. */
import { backoffMs } from "../../clients/typescript/src/backoff.ts";
import { Failure } from "../../db/reason.ts";
import { DAY_MS, type EpochMs, HOUR_MS } from "../text/instant.ts";
import type { Attempts } from "./watch.ts";

/** A receiver did not accept a message. The message names the receiver and the reason, and never a secret. */
export class DeliveryError extends Failure {
  constructor(
    message: string,
    /** The delay that the receiver asks for. */
    readonly retryAfterMs?: number | undefined,
    /** Whether the receiver wants no further messages: 410 Gone. */
    readonly isGone = false,
    /** Whether a mail server permanently refused the address. */
    readonly isRefused = false,
  ) {
    super(message);
  }
}

/** Why a delivery failed that a stop signal aborted. */
export const STOPPED = "it was stopped";

/** How long deliveries of a message may fail before its watch is paused. */
export const FAILING_MAX_MS = 3 * DAY_MS;
/** How long a mail server may permanently refuse an address before the watch is paused. */
export const REFUSED_MAX_MS = DAY_MS;
/** The longest delay between two attempts, unless the receiver asks for more. */
const DELAY_MAX_MS = 6 * HOUR_MS;
/** The longest delay that a receiver can ask for. */
const ASKED_MAX_MS = DAY_MS;

/** Whether the next attempt may begin. If the clock was set back since the last one, it may. */
export function maySend({ at, wait_ms }: Attempts, now: EpochMs): boolean {
  return at === null || now < at || now >= at + wait_ms;
}

/** When the next attempt may begin. */
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
