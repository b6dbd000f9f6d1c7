/** The deadlines that an opportunity once had, from its history. */
import type { Opportunity, Sidecar } from "../opportunities/opportunity.ts";
import { parseStoredMs } from "../text/instant.ts";
import type { OpportunityEvent } from "./event.ts";

/** It was replaced at `until`, by the date `to`, null if by none. */
export type MovedDeadline = { at: string; until: string; to: string | null };

/** Each former deadline once, with its last replacement, in that order; no expiry, no date that is still listed or had passed before. */
export function movedDeadlines(
  { dates, sidecar }: Pick<Opportunity, "dates"> & { sidecar: Pick<Sidecar, "due_dates" | "expires_at"> },
  history: readonly OpportunityEvent[],
): MovedDeadline[] {
  const standing = [dates.closes_at, dates.response_at, sidecar.expires_at, ...sidecar.due_dates.map(({ at }) => at)].map(msOf);
  const moved = new Map<number, MovedDeadline>();
  for (const { changes, detected_at } of history) {
    for (const field of ["dates.response_at", "dates.closes_at"]) {
      const { previous, current } = changes.find((change) => change.field === field) ?? {};
      const ms = msOf(previous);
      if (ms === undefined || standing.includes(ms)) continue;
      if (field === "dates.response_at" && sidecar.due_dates.length > 0 && ms <= Date.parse(detected_at)) continue;
      moved.set(ms, { at: `${previous}`, until: detected_at, to: typeof current === "string" ? current : null });
    }
  }
  return [...moved.values()];
}

function msOf(value: unknown): number | undefined {
  return typeof value === "string" ? parseStoredMs(value) : undefined;
}
