/** Names of time zones at an instant, from `Intl`. */
import type { EpochMs } from "./instant.ts";

export const EASTERN = "America/New_York";

/** Made at first use and kept: each takes 4 ms, and most commands need none. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** The name of a zone, which daylight saving time changes: "GMT-05:00" (`longOffset`) or "EST" (`short`). */
export function zoneName(zone: string, style: "longOffset" | "short", ms: EpochMs): string {
  const key = `${style} ${zone}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: style });
  formats.set(key, format);
  return format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
}
