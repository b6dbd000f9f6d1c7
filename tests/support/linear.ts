/** Checks that work takes time in proportion to its input. It compares two sizes, so no test depends on a number of seconds. */
import { expect } from "bun:test";
import { cpuMsOf } from "./cpu-time.ts";

/** How many times as long four times the input may take: linear work takes 4 times as long, quadratic work 16 times. */
const RATIO_MAX = 10;
/** Allowance for what the runtime does meanwhile, such as compiling and garbage collection. */
const NOISE_MS = 60;
const RUNS = 3;

/**
 * Runs `work` on `size` and on four times as much, and fails if the larger run takes more than 10 times as long.
 * Choose `size` so that quadratic work would take 100 ms or more on it.
 */
export async function expectLinear(size: number, work: (size: number) => unknown): Promise<void> {
  const small = await fastestMs(() => work(size));
  const large = await fastestMs(() => work(size * 4));
  expect({ small, large, isLinear: large <= small * RATIO_MAX + NOISE_MS }).toMatchObject({ isLinear: true });
}

async function fastestMs(work: () => unknown): Promise<number> {
  let fastest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) fastest = Math.min(fastest, await cpuMsOf(work));
  return fastest;
}
