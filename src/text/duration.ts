/** Durations in words. */
import { counted } from "./counted.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./instant.ts";

/** The duration in its largest fitting unit: "3 hours". */
export function formatDuration(ms: number): string {
  const units: [number, string][] = [
    [DAY_MS, "day"],
    [HOUR_MS, "hour"],
    [MINUTE_MS, "minute"],
    [1000, "second"],
  ];
  for (const [size, noun] of units) {
    const count = Math.floor(ms / size);
    if (count >= 2 || (count === 1 && size === 1000)) return counted(count, noun);
  }
  return "0 seconds";
}

/** "1 day 2 hours", "1 hour 30 minutes": exact, in whole minutes. */
export function durationInWords(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  const parts: [number, string][] = [
    [Math.floor(minutes / 1440), "day"],
    [Math.floor(minutes / 60) % 24, "hour"],
    [minutes % 60, "minute"],
  ];
  const given = parts.filter(([count]) => count > 0).map(([count, noun]) => counted(count, noun));
  return given.length === 0 ? counted(0, "minute") : given.join(" ");
}
