/** Counts, durations and the beginnings of sentences, in words. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "./instant.ts";

/** "1,234 changes", "1 change"; `plural` if it does not end with "s" */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${withCommas(count)} ${count === 1 ? noun : plural}`;
}

export function withCommas(count: number): string {
  return count.toLocaleString("en-US");
}

export function shortNumber(number: number): string {
  return number.toLocaleString("en-US", { maximumFractionDigits: number < 100 ? 1 : 0 });
}

/** A text with its first letter in upper case. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const units = [
  [DAY_MS, "day"],
  [HOUR_MS, "hour"],
  [MINUTE_MS, "minute"],
  [SECOND_MS, "second"],
] as const;

/** The duration in the largest unit that counts at least two: "3 hours", "90 minutes". */
export function formatDuration(ms: number): string {
  const [size, noun] = units.find(([size]) => ms >= 2 * size) ?? [SECOND_MS, "second"];
  return counted(Math.floor(Math.max(ms, 0) / size), noun);
}

/** "1 day 2 hours", "1 hour 30 minutes": exact, in whole minutes. */
export function durationInWords(ms: number): string {
  const counts = [Math.floor(ms / DAY_MS), Math.floor(ms / HOUR_MS) % 24, Math.floor(ms / MINUTE_MS) % 60];
  return counts.flatMap((count, n) => (count > 0 ? [counted(count, units[n]?.[1] ?? "")] : [])).join(" ") || "0 minutes";
}
