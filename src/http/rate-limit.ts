/** The response to a request over the limits of its key (D-23). */
import type { Allowance } from "../quota/allowance.ts";
import { Problem } from "./problem.ts";

export function requireAllowance({ remaining, limit, retryAfterSeconds }: Allowance): void {
  if (retryAfterSeconds === 0) return;
  const used = remaining === 0 ? `${limit} requests for today` : "requests for this minute";
  const wait = retryAfterSeconds === 1 ? "1 second" : `${retryAfterSeconds} seconds`;
  throw new Problem("rate_limit_exceeded", `The key has used up its ${used}. Wait ${wait}.`, {
    headers: { "Retry-After": String(retryAfterSeconds) },
  });
}
