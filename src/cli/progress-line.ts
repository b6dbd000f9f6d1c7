/** The line of a terminal that shows progress. */
import { oneLine } from "../text/terminal-text.ts";

/** Moves to the start of the line and erases it. */
const CLEAR = "\r\u001b[2K";

/** `columns` returns the present width of the terminal. */
export function createProgressLine(write: (text: string) => void, columns: () => number) {
  let isShown = false;
  const clear = () => {
    if (isShown) write(CLEAR);
    isShown = false;
  };
  return {
    /** Replaces the line; "" clears it. */
    show: (line: string) => {
      if (line === "") return clear();
      write(CLEAR + cut(oneLine(line), columns() - 1)); // Some terminals start a new line after text in the last column.
      isShown = true;
    },
    /** Must be called before anything else is written to the terminal. */
    clear,
  };
}

const segments = new Intl.Segmenter();

/** Cuts the line to the width, with an ellipsis if something is cut off. */
export function cut(line: string, columns: number): string {
  if (Bun.stringWidth(line) <= columns) return line;
  let shown = "";
  for (const { segment } of segments.segment(line)) {
    if (Bun.stringWidth(shown + segment) >= columns) break;
    shown += segment;
  }
  return `${shown}…`;
}
