/** D-37: the status that dates give at an instant, and when it next changes. */

import { parseInstantMs } from "../text/instant.ts";
import type { Opportunity, Status } from "./opportunity.ts";

/** How long before `closes_at` an open opportunity is closing soon. */
export const CLOSING_SOON_MS = 14 * 24 * 60 * 60 * 1000;

type Dates = Pick<Opportunity["dates"], "opens_at" | "closes_at">;

type Instants = { opens: number | undefined; closes: number | undefined };

/** The status of a record that did not state one. `now` in milliseconds since 1970 UTC. */
export function statusAt(dates: Dates, now: number): Status {
  return statusBetween(instantsOf(dates), now);
}

/** When the status that dates give is next another than `status`: `now` when it is already, `null` when it stays for good. */
export function dueAt(status: string, dates: Dates, now: number): number | null {
  const instants = instantsOf(dates);
  if (statusBetween(instants, now) !== status) return now;
  const { opens, closes } = instants;
  const turns = [opens, closes === undefined ? undefined : closes - CLOSING_SOON_MS, closes];
  const coming = turns.filter((turn) => turn !== undefined && turn > now && statusBetween(instants, turn) !== status) as number[];
  return coming.length === 0 ? null : Math.min(...coming);
}

function statusBetween({ opens, closes }: Instants, now: number): Status {
  if (closes !== undefined && now >= closes) return "closed";
  if (opens !== undefined && now < opens) return "pre_release";
  if (closes !== undefined && now >= closes - CLOSING_SOON_MS) return "closing_soon";
  return "open";
}

function instantsOf({ opens_at, closes_at }: Dates): Instants {
  return {
    opens: opens_at === null ? undefined : parseInstantMs(opens_at),
    closes: closes_at === null ? undefined : parseInstantMs(closes_at),
  };
}
