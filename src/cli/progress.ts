/** What a person who waits wants to know: what is being done, how far it is, how long it will take, how fast it goes. */
import type { Machine } from "../runtime/machine.ts";

export type Work = {
  /** In one word or two: "reading". The time left is that of the step. */
  step: string;
  done: number;
  /** Of what: "records". */
  unit: string;
  /** What the rate counts, if that does not go without saying: "MB". */
  rateUnit?: string;
  total?: number | undefined;
  /** How much of the step is done, from 0 to 1, where `total` does not tell it. */
  share?: number | undefined;
};

const EVERY_MS = 200;

/** Shows work on the machine's progress line, five times a second at most. */
export function progressReporter({ now, showProgress }: Pick<Machine, "now" | "showProgress">): (work: Work) => void {
  let shownAt = Number.NEGATIVE_INFINITY;
  let step = "";
  let begunAt = 0;
  return (work) => {
    const time = now();
    if (work.step !== step) [step, begunAt] = [work.step, time];
    if (time - shownAt < EVERY_MS) return;
    shownAt = time;
    showProgress(progressLine(work, time - begunAt));
  };
}

/** The most important first: a narrow terminal cuts the rest off. */
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

/** Small numbers with one digit after the point, such as the megabytes of a download. */
function shown(number: number): string {
  return number.toLocaleString("en-US", { maximumFractionDigits: number < 100 ? 1 : 0 });
}

function timeLeft(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 100) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
