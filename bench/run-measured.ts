/**
 * Runs a command and prints what it used as JSON: `bun bench/run-measured.ts <command…>`.
 *
 * This small process starts the command because Linux counts the memory of the parent process as the child's own peak. A benchmark that has
 * generated a catalog would report more than a gigabyte for everything that it measures afterwards.
 */
import { spawn } from "bun";

const started = performance.now();
const child = spawn(process.argv.slice(2), { stdio: ["ignore", "ignore", "inherit"] });
const code = await child.exited;
const usage = child.resourceUsage();
const cpuSeconds = Number(usage?.cpuTime.total ?? 0n) / 1e6;
process.stdout.write(JSON.stringify({ seconds: (performance.now() - started) / 1000, cpuSeconds, peakBytes: usage?.maxRSS ?? 0 }));
process.exit(code);
