/** What a source states that cannot be so: it is kept as published, an import warns of it, and `quality` lists it. */
import { parseInstantMs } from "../text/instant.ts";
import { type Opportunity, type Sidecar, statuses } from "./opportunity.ts";

type Stated = Pick<Opportunity, "status" | "dates"> & Pick<Sidecar, "due_dates" | "expires_at">;

/** `says` completes "records whose …". */
export const contradictions = [
  {
    name: "unknown_status",
    says: "status is not a known one",
    breaks: ({ status }: Stated) => status !== "" && !(statuses as readonly string[]).includes(status),
  },
  {
    name: "closes_before_opens",
    says: "submissions close before they open",
    breaks: ({ dates, due_dates }: Stated) =>
      isBefore(dates.closes_at, dates.opens_at) ||
      due_dates.some(({ at, words }) => at.slice(0, DAY_LENGTH) < (OPENS.exec(words ?? "")?.[1] ?? "")),
  },
  {
    name: "due_after_expiry",
    says: "due dates lie after the day on which the announcement expires",
    breaks: ({ due_dates, expires_at }: Stated) => due_dates.some(({ at }) => isBefore(expires_at, at)),
  },
] as const;

const DAY_LENGTH = "2026-01-31".length;
const OPENS = /\bopens (\d{4}-\d\d-\d\d)$/;

/** The end of the words for a due date which say that it comes before its competition opens, on a day such as 2026-01-31. */
export function opensLater(day: string): string {
  return `opens ${day}`;
}

/** Whether the first instant is earlier than the second one; false if one is missing. */
export function isBefore(one: string | null, other: string | null): boolean {
  const [first, second] = [parseInstantMs(one), parseInstantMs(other)];
  return first !== undefined && second !== undefined && first < second;
}
