/** Whether work takes time in proportion to its input, told by comparing two sizes: never by a number of seconds. */
import { expect } from "bun:test";
import { processorMs } from "./processor-time.ts";

/** Four times the input may take so many times as long: 4 is linear, 16 is the square. */
const RATIO_MAX = 10;
/** What the runtime may spend on its own, such as compiling and collecting garbage. */
const NOISE_MS = 60;
const RUNS = 3;

/** Runs `work` on `size` and on four times as much. Where time grew with the square, the smaller should take 100 ms or more. */
export async function expectLinear(size: number, work: (size: number) => unknown): Promise<void> {
  const small = await fastest(() => work(size));
  const large = await fastest(() => work(size * 4));
  expect({ small, large, isLinear: large <= small * RATIO_MAX + NOISE_MS }).toMatchObject({ isLinear: true });
}

async function fastest(work: () => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) best = Math.min(best, await processorMs(work));
  return best;
}
