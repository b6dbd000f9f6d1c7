/** Work that is done again and again, one turn at a time. */
import type { Net } from "./download.ts";

/** Does a turn at once and then each `everyMs`, or right after one that took longer, until `stop`. */
export async function repeat(
  everyMs: number,
  { now, wait, stop }: Pick<Net, "now" | "wait" | "stop">,
  turn: () => Promise<void>,
): Promise<void> {
  while (!stop.aborted) {
    const begun = now();
    await turn();
    await wait(Math.max(0, begun + everyMs - now()), stop);
  }
}
