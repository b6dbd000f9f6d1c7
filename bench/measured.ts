/**
 * Runs a command and prints what it used: `bun bench/measured.ts <command…>`.
 *
 * In a small process of its own, because Linux counts the memory of the process that starts a program as that program's own peak: a benchmark
 * that has made a catalog would report more than a gigabyte for everything it measures afterwards.
 */
import { spawn } from "bun";

const started = performance.now();
const child = spawn(process.argv.slice(2), { stdio: ["ignore", "ignore", "inherit"] });
const code = await child.exited;
const used = child.resourceUsage();
const cpuSeconds = Number(used?.cpuTime.total ?? 0n) / 1e6;
process.stdout.write(JSON.stringify({ seconds: (performance.now() - started) / 1000, cpuSeconds, peakBytes: used?.maxRSS ?? 0 }));
process.exit(code);
