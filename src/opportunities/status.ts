/** D-37: the status that dates give at an instant, and when it next changes. */

import { parseInstantMs } from "../instant.ts";
import type { Opportunity, Status } from "./opportunity.ts";

/** How long before `closes_at` an open opportunity is closing soon. */
export const CLOSING_SOON_MS = 14 * 24 * 60 * 60 * 1000;

type Dates = Pick<Opportunity["dates"], "opens_at" | "closes_at">;

/** The status of a record that did not state one. `now` in milliseconds since 1970 UTC. */
export function statusAt(dates: Dates, now: number): Status {
  const { opens, closes } = instantsOf(dates);
  if (closes !== undefined && now >= closes) return "closed";
  if (opens !== undefined && now < opens) return "pre_release";
  if (closes !== undefined && now >= closes - CLOSING_SOON_MS) return "closing_soon";
  return "open";
}

/** When the status that dates give is next another than `status`: `now` when it is already, `null` when it stays for good. */
export function dueAt(status: string, dates: Dates, now: number): number | null {
  if (statusAt(dates, now) !== status) return now;
  const { opens, closes } = instantsOf(dates);
  const turns = [opens, closes === undefined ? undefined : closes - CLOSING_SOON_MS, closes];
  const coming = turns.filter((turn) => turn !== undefined && turn > now && statusAt(dates, turn) !== status) as number[];
  return coming.length === 0 ? null : Math.min(...coming);
}

function instantsOf({ opens_at, closes_at }: Dates): { opens: number | undefined; closes: number | undefined } {
  return {
    opens: opens_at === null ? undefined : parseInstantMs(opens_at),
    closes: closes_at === null ? undefined : parseInstantMs(closes_at),
  };
}
