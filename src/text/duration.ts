/** A duration in words. */
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
