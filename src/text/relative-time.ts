/** Times relative to now, for people. */
import { counted } from "./counted.ts";
import { DAY_MS, type EpochMs, HOUR_MS } from "./instant.ts";

const units = [
  { unit: "minute", ms: 60_000, below: 60 },
  { unit: "hour", ms: HOUR_MS, below: 48 },
  { unit: "day", ms: DAY_MS, below: 60 },
  { unit: "month", ms: 30.44 * DAY_MS, below: 24 },
  { unit: "year", ms: 365.25 * DAY_MS, below: Number.POSITIVE_INFINITY },
] as const;

/** "in 12 days", "3 hours ago", "just now". Rounds down, so nothing seems later than it is. */
export function relativeTime(at: EpochMs, now: EpochMs): string {
  const distance = Math.abs(at - now);
  const fitting = units.find(({ ms, below }) => distance < ms * below);
  const count = Math.floor(distance / (fitting?.ms ?? 1));
  if (fitting === undefined || count === 0) return "just now";
  const duration = counted(count, fitting.unit);
  return at >= now ? `in ${duration}` : `${duration} ago`;
}
