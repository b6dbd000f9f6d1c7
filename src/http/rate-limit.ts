/** The answer to a request that a key's limits refuse (D-23). */
import type { Allowance } from "../quota/allowance.ts";
import { Problem } from "./problem.ts";

export function requireAllowance({ remaining, limit, retryAfterSeconds }: Allowance): void {
  if (retryAfterSeconds === 0) return;
  const which = remaining === 0 ? `The ${limit} requests of this day are used up` : "The requests of this minute are used up";
  throw new Problem("rate_limit_exceeded", `${which}; wait ${retryAfterSeconds} seconds.`, {
    headers: { "Retry-After": String(retryAfterSeconds) },
  });
}
