/** US Eastern dates: federal dates without a zone are meant so, by the rules of the time zone and not a fixed offset. */
import { memoize, memoizeLast } from "../runtime/memoize.ts";

/** The RFC 3339 date-time of a wall clock in the eastern time zone (`2026-07-01`, `23:59:59`); `undefined` when the date does not exist. */
export function easternInstant(date: string, time: string): string | undefined {
  return instantOf(`${date}T${time}`);
}

/** Asking `Intl` is slow, and one extract repeats a few thousand dates. */
const instantOf = memoize(50_000, (wallClock) => {
  const utc = Date.parse(`${wallClock}Z`);
  const date = wallClock.slice(0, wallClock.lastIndexOf("T"));
  if (Number.isNaN(utc) || !new Date(utc).toISOString().startsWith(date)) return undefined;
  // Standard time is tried first: of the hour that comes twice it is the second, and the hour that never comes is moved on.
  const offset = offsetAt(utc + 5 * HOUR_MS) === "-05:00" ? "-05:00" : offsetAt(utc + 4 * HOUR_MS);
  return wallClock + offset;
});

/** The calendar date in the eastern time zone (`2026-07-01`) at an instant in milliseconds since 1970 UTC. An import has one `now`. */
export const easternDate = memoizeLast((ms: number) => {
  dateFormat ??= new Intl.DateTimeFormat("en-CA", { timeZone: ZONE, year: "numeric", month: "2-digit", day: "2-digit" });
  return dateFormat.format(ms);
});

function offsetAt(ms: number): string {
  offsetFormat ??= new Intl.DateTimeFormat("en-US", { timeZone: ZONE, timeZoneName: "longOffset" });
  const name = offsetFormat.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
  return /[+-]\d\d:\d\d/.exec(name)?.[0] ?? "-05:00";
}

const HOUR_MS = 60 * 60 * 1000;
const ZONE = "America/New_York";

// Made at first use: each takes 4 ms, and most commands need none.
let offsetFormat: Intl.DateTimeFormat | undefined;
let dateFormat: Intl.DateTimeFormat | undefined;
