/**
 * Runs `export` of a small directory and of a large one, and prints how many more objects are in memory at most while the large one is written.
 * A process of its own, because objects that other tests leave and free would be counted, too.
 *
 *   bun tests/cli/export-objects.ts SMALL LARGE RECORDS ARGUMENT...
 *
 * `RECORDS` are those of the small directory; the large one has twice as many.
 */
import { heapStats } from "bun:jsc";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { machineOf } from "../support/command-line.ts";

const TRIES = 15;
const [small = "", large = "", records = "", ...args] = process.argv.slice(2);
const count = Number(records);

/** The most objects in memory while an export runs, as counted in its second half. */
async function mostObjects(data: string, count: number): Promise<number> {
  let [calls, most, time] = [0, 0, 0];
  const record = () => {
    if (++calls < count / 2 || calls % Math.floor(count / 4) !== 0) return;
    Bun.gc(true);
    most = Math.max(most, heapStats().objectCount);
  };
  const code = await runCommandLine(["export", ...args, "--data", data], {
    ...machineOf({}, { printLine: record, printError: () => undefined }),
    showProgress: record,
    now: () => (time += 1000), // So that progress is shown for each record.
  });
  if (code !== 0 || calls < count || most === 0) throw new Error(`exit ${code} after ${calls} of ${count} records`);
  return most;
}

await mostObjects(small, count); // The first run loads modules.
// What the process compiles and frees itself is not in each run, nor a batch that it has not freed yet. A kept record is.
let [least, most] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
for (let tries = 0; tries < TRIES && !(most - least < count / 4); tries++) {
  least = Math.min(least, await mostObjects(small, count));
  most = Math.min(most, await mostObjects(large, count * 2));
}
process.stdout.write(`${most - least}`);
