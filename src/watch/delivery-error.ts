/** A receiver did not accept a message. The message names the receiver and the reason, and never a secret. */
import { Failure } from "../../db/reason.ts";
export class DeliveryError extends Failure {
  constructor(
    message: string,
    /** The delay that the receiver asks for. */
    readonly retryAfterMs?: number | undefined,
    /** Whether the receiver wants no further messages: 410 Gone. */
    readonly isGone = false,
  ) {
    super(message);
  }
}

/** The reason of a delivery that a stop signal cut off. */
export const STOPPED = "it was stopped";
