/** Names of time zones, from `Intl`. */
import type { EpochMs } from "./instant.ts";

export const EASTERN = "America/New_York";

/** Made at first use and kept: each takes 4 ms, and most commands need none. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** The short name of a zone, which daylight saving time changes: "EST". */
export function zoneName(zone: string, ms: EpochMs): string {
  const make = () => new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "short" });
  const format = formats.getOrInsertComputed(zone, make);
  return format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** The IANA name of a time zone that a person named; undefined if there is none. */
export function findZone(text: string): string | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
