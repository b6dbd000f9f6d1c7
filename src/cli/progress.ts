/** Progress of long work: the step, how much is done, the time left and the rate. */
import type { Machine } from "../runtime/machine.ts";

export type Work = {
  /** One or two words: "reading". The time left is that of the step. */
  step: string;
  done: number;
  /** What `done` counts: "records". */
  unit: string;
  /** The unit of the rate, where it is shown: "MB". */
  rateUnit?: string;
  total?: number | undefined;
  /** How much of the step is done, from 0 to 1, if there is no `total`. */
  share?: number | undefined;
};

const INTERVAL_MS = 200;

/** Returns a function that shows work on the progress line, at most five times a second. */
export function progressReporter({ now, showProgress }: Pick<Machine, "now" | "showProgress">): (work: Work) => void {
  let shownAt = Number.NEGATIVE_INFINITY;
  let step = "";
  let startedAt = 0;
  return (work) => {
    const time = now();
    if (work.step !== step) [step, startedAt] = [work.step, time];
    if (time - shownAt < INTERVAL_MS) return;
    shownAt = time;
    showProgress(progressLine(work, time - startedAt));
  };
}

/** The most important part comes first: a narrow terminal cuts off the rest. */
export function progressLine(
  { step, done, unit, rateUnit, total, share = total ? done / total : undefined }: Work,
  elapsedMs: number,
): string {
  const parts: string[] = [];
  if (share !== undefined) parts.push(`${Math.floor(share * 100)} %`);
  if (share !== undefined && share > 0 && share < 1 && elapsedMs > 0) parts.push(`${timeLeft((elapsedMs / share) * (1 - share))} left`);
  parts.push(`${shown(done)}${total === undefined ? "" : ` of ${shown(total)}`} ${unit}`);
  if (elapsedMs > 0) parts.push(`${shown(done / (elapsedMs / 1000))}${rateUnit === undefined ? "" : ` ${rateUnit}`}/s`);
  return `${step} ${parts.join(", ")}`;
}

/** One decimal for numbers below 100, such as the megabytes of a download. */
function shown(number: number): string {
  return number.toLocaleString("en-US", { maximumFractionDigits: number < 100 ? 1 : 0 });
}

function timeLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
