/** The row of a terminal that shows work under way. */
import { oneLine } from "../text/terminal-text.ts";

/** To the beginning of the row, and everything on it erased. */
const CLEAR = "\r\u001b[2K";

/** `columns` is the terminal's width at that moment. */
export function createProgressLine(write: (text: string) => void, columns: () => number) {
  let isShown = false;
  const clear = () => {
    if (isShown) write(CLEAR);
    isShown = false;
  };
  return {
    /** Replaces the row; "" clears it. */
    show: (line: string) => {
      if (line === "") return clear();
      write(CLEAR + cut(oneLine(line), columns() - 1)); // A text in the last column makes some terminals begin another row.
      isShown = true;
    },
    /** To be called before anything else is written to the terminal. */
    clear,
  };
}

const segments = new Intl.Segmenter();

/** As much of the line as has room; with an ellipsis where that is not all. */
function cut(line: string, columns: number): string {
  if (Bun.stringWidth(line) <= columns) return line;
  let shown = "";
  for (const { segment } of segments.segment(line)) {
    if (Bun.stringWidth(shown + segment) >= columns) break;
    shown += segment;
  }
  return `${shown}…`;
}
