/** Progress of long work: the step, how much is done, the time left and the rate, on a line of the terminal. */

import type { Machine } from "../runtime/machine.ts";
import { formatDuration, shortNumber } from "../text/in-words.ts";
import { oneLine } from "../text/terminal-text.ts";
import { cut } from "./output.ts";

type ProgressState = {
  step: string;
  done: number;
  unit: string;
  rateUnit?: string;
  total?: number | undefined;
  share?: number | undefined;
};

const INTERVAL_MS = 200;

/** Returns a function that shows work on the progress line, at most five times a second. */
export function progressReporter({ now, showProgress }: Pick<Machine, "now" | "showProgress">): (work: ProgressState) => void {
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

/** Returns a function that shows how many of all records a step has handled. */
export function recordReporter(machine: Pick<Machine, "now" | "showProgress">, step: string): (done: number, total: number) => void {
  const report = progressReporter(machine);
  return (done, total) => report({ step, done, total, unit: "records" });
}

/** The most important part comes first: a narrow terminal cuts off the rest. */
export function progressLine(
  { step, done, unit, rateUnit, total, share = total ? done / total : undefined }: ProgressState,
  elapsedMs: number,
): string {
  const parts: string[] = [];
  if (share !== undefined) parts.push(`${Math.floor(share * 100)} %`);
  if (share !== undefined && share > 0 && share < 1 && elapsedMs > 0)
    parts.push(`${formatDuration(Math.ceil(((elapsedMs / share) * (1 - share)) / 1000) * 1000)} left`);
  parts.push(`${shortNumber(done)}${total === undefined ? "" : ` of ${shortNumber(total)}`} ${unit}`);
  if (elapsedMs > 0) parts.push(`${shortNumber(done / (elapsedMs / 1000))}${rateUnit === undefined ? "" : ` ${rateUnit}`}/s`);
  return `${step} ${parts.join(", ")}`;
}

const CLEAR = "\r\u001b[2K";

/** `columns` returns the present width of the terminal. */
export function createProgressLine(write: (text: string) => void, columns: () => number) {
  let isShown = false;
  const clear = () => {
    if (isShown) write(CLEAR);
    isShown = false;
  };
  return {
    show: (line: string) => {
      if (line === "") return clear();
      write(CLEAR + cut(oneLine(line), columns() - 1)); // Some terminals start a new line after text in the last column.
      isShown = true;
    },
    /** Must be called before anything else is written to the terminal. */
    clear,
  };
}
