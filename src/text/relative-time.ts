/** Times relative to now, for people. */
import { easternDate } from "./eastern.ts";
import { counted } from "./in-words.ts";
import { DAY_MS, type EpochMs, HOUR_MS } from "./instant.ts";

const units = [
  { unit: "minute", short: "", ms: 60_000, below: 60 },
  { unit: "hour", short: "", ms: HOUR_MS, below: 48 },
  { unit: "day", short: "d", ms: DAY_MS, below: 100 },
  { unit: "month", short: "mo", ms: 30.44 * DAY_MS, below: 24 },
  { unit: "year", short: "", ms: 365.25 * DAY_MS, below: Number.POSITIVE_INFINITY },
] as const;
const [, , DAY] = units;

type Distance = { count: number; unit: (typeof units)[number] };

/** Rounds down, so nothing seems later than it is. */
function distanceTo(at: EpochMs, now: EpochMs): Distance {
  const distance = Math.abs(at - now);
  const unit = units.find(({ ms, below }) => distance < ms * below) ?? units[0];
  return { count: Math.floor(distance / unit.ms), unit };
}

/** "in 12 days", "3 hours ago", "just now"; of a day without an hour, "today", "tomorrow" or "yesterday". */
export function relativeTime(at: EpochMs, now: EpochMs, hasHour = true): string {
  const { count, unit } = distanceTo(at, now);
  const near = hasHour || unit.ms >= DAY.ms ? null : nearDay(at, now);
  if (near !== null) return near;
  if (count === 0) return "just now";
  const duration = counted(count, unit.unit);
  return at >= now ? `in ${duration}` : `${duration} ago`;
}

/** The same for a table: "46d", "4mo", "today", "tomorrow"; null in the past and a year or more ahead. Days are Eastern. */
export function relativeShort(at: EpochMs, now: EpochMs): string | null {
  const { count, unit } = distanceTo(at, now);
  if (at < now || at - now >= 365 * DAY.ms) return null;
  if (unit.ms >= DAY.ms) return `${count}${unit.short}`;
  return nearDay(at, now) ?? "2d"; // 25 to 48 hours can end on the day after tomorrow.
}

function nearDay(at: EpochMs, now: EpochMs): string | null {
  const days = Math.round((Date.parse(easternDate(at)) - Date.parse(easternDate(now))) / DAY.ms);
  return ["yesterday", "today", "tomorrow"][days + 1] ?? null;
}
