/** Checks that work takes time in proportion to its input. It compares two sizes, so no test depends on a number of seconds. */
import { expect } from "bun:test";
import { cpuMsOf } from "./cpu-time.ts";

/** How many times as long four times the input may take: linear work takes 4 times as long, quadratic work 16 times. */
const RATIO_MAX = 10;
/** Allowance for what the runtime does meanwhile, such as compiling and garbage collection. */
const NOISE_MS = 60;
const RUNS_MAX = 3;

/**
 * Runs `work` on `size` and on four times as much, and fails if the larger run takes more than 10 times as long, three times in a row.
 * Choose `size` so that quadratic work would take 100 ms or more on it.
 */
export async function expectLinear(size: number, work: (size: number) => unknown): Promise<void> {
  let [small, large, isLinear] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, false];
  for (let run = 0; run < RUNS_MAX && !isLinear; run++) {
    small = Math.min(small, await cpuMsOf(() => work(size)));
    large = Math.min(large, await cpuMsOf(() => work(size * 4)));
    isLinear = large <= small * RATIO_MAX + NOISE_MS;
  }
  expect({ small, large, isLinear }).toMatchObject({ isLinear: true });
}
