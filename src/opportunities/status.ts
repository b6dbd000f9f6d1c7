/** The status that dates determine at an instant, and when it turns (D-37). */
import { type EpochMs, parseInstantMs } from "../text/instant.ts";
import type { Opportunity, Status } from "./opportunity.ts";

/** An open opportunity is closing soon for this long before `closes_at`. */
export const CLOSING_SOON_MS = 14 * 24 * 60 * 60 * 1000;

type Dates = Pick<Opportunity["dates"], "opens_at" | "closes_at">;

type Instants = { opens: EpochMs | undefined; closes: EpochMs | undefined };

/** The status of a record that did not state one. */
export function statusAt(dates: Dates, now: EpochMs): Status {
  return statusFor(instantsOf(dates), now);
}

/** When the dates next determine another status than `status`: `now` if they already do, `null` if they never will. */
export function dueAt(status: string, dates: Dates, now: EpochMs): EpochMs | null {
  const instants = instantsOf(dates);
  if (statusFor(instants, now) !== status) return now;
  const { opens, closes } = instants;
  const turns = [opens, closes === undefined ? undefined : closes - CLOSING_SOON_MS, closes];
  const coming = turns.filter((turn) => turn !== undefined && turn > now && statusFor(instants, turn) !== status) as number[];
  return coming.length === 0 ? null : Math.min(...coming);
}

function statusFor({ opens, closes }: Instants, now: EpochMs): Status {
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
