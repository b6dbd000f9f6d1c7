/**
 * `bun run check`: what a change must pass before it is merged. `bun run thorough`: all other tests (tests/README.md). A failed part does not
 * stop the others.
 */
import { stripVTControlCharacters } from "node:util";
import { WITHOUT_FTL } from "../src/runtime/without-ftl.ts";
import { memoryDirectory } from "./support/memory-directory.ts";
import { postgresPrograms } from "./support/postgres-programs.ts";
import { postgresTests } from "./support/test-files.ts";

export type Part = {
  name: string;
  /** Arguments for Bun. */
  command: readonly string[];
  env?: Record<string, string>;
  /** Why the part cannot run on this machine; absent if it can. */
  skipped?: string | undefined;
};

/** Only the parts may import packages, because this file runs before they are installed. */
const installation: readonly Part[] = [{ name: "installation", command: ["install", "--frozen-lockfile", "--no-summary"] }];
/** Side by side they keep two cores busy while tests wait. */
const quick: readonly Part[] = [
  // Each worker compiles all code again, so more than two cost processor time. Most code runs too rarely for the optimizing compiler to pay off.
  { name: "tests", command: ["run", "test", "--parallel=2", "--path-ignore-patterns=**/*.thorough.test.ts"], env: WITHOUT_FTL },
  { name: "types", command: ["run", "types"] },
  { name: "lint", command: ["run", "lint"] },
];
const thorough = (): readonly Part[] => [
  { name: "thorough tests", command: ["run", "test", ".thorough.test.ts"], env: { FUNDFEED_DRAWS: "random" } },
  {
    name: "tests on PostgreSQL",
    command: ["run", "test", "--parallel=1", ...postgresTests().map((path) => `./${path}`)],
    env: { FUNDFEED_TEST_ENGINE: "postgres", FUNDFEED_DRAWS: "random" },
    skipped: postgresPrograms() === undefined ? "PostgreSQL is not installed" : undefined,
  },
];

type Counts = { passed: number; failed: number; skipped: number };
type Result = Counts & { name: string; outcome: string; failures: readonly string[] };

/**
 * Runs one group after the other, and the parts of a group side by side. Returns whether all passed. Only the output of a group's first part is
 * written at once, that of the others when those before them have ended. The end of the output repeats the failures, because a reader of a long
 * log starts there. The last line is `N passed, N failed`.
 */
export async function check(groups: readonly (readonly Part[])[], write: (text: string) => void): Promise<boolean> {
  const results: Result[] = [];
  for (const group of groups) {
    const running = group.map((part, n) => {
      const kept: string[] = [];
      const result = run(part, n === 0 ? write : (text) => kept.push(text));
      return { part, kept, result };
    });
    for (const { part, kept, result } of running) {
      write(`\n── ${part.name}\n`);
      const ended = await result;
      write(kept.join(""));
      results.push(ended);
    }
  }
  for (const { name, failures } of results) for (const failure of failures) write(`\n── failed: ${name}\n${failure}\n`);
  const total = (count: keyof Counts) => results.reduce((sum, result) => sum + result[count], 0);
  write(`\n${results.map(({ name, outcome }) => `${name.padEnd(20)} ${outcome}`).join("\n")}\n`);
  if (total("skipped") > 0) write(`${total("skipped")} skipped\n`);
  write(`${total("passed")} passed, ${total("failed")} failed\n`);
  return total("failed") === 0;
}

async function run({ name, command, env: own, skipped }: Part, write: (text: string) => void): Promise<Result> {
  if (skipped !== undefined) return { name, outcome: `skipped: ${skipped}`, failures: [], passed: 0, failed: 0, skipped: 1 };
  const started = performance.now();
  const env = { ...process.env, FUNDFEED_CHECK_PID: `${process.pid}`, ...(process.stdout.isTTY && { FORCE_COLOR: "1" }), ...own };
  const child = Bun.spawn([process.execPath, ...command], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const copyToOutput = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      const text = decoder.decode(bytes, { stream: true });
      output += text;
      write(text);
    }
  };
  const [code] = await Promise.all([child.exited, copyToOutput(child.stdout), copyToOutput(child.stderr)]);
  const plain = stripVTControlCharacters(output);
  const counts = countsOf(plain, code === 0);
  const failures = counts.failed === 0 ? [] : failuresIn(plain);
  const seconds = Math.round((performance.now() - started) / 1000);
  const processorSeconds = Math.round(Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000_000); // Of its children, too.
  const outcome = `${counts.failed === 0 ? "passed" : "FAILED"}   ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, ${processorSeconds} s of processor time, ${seconds} s`;
  return { name, outcome, failures, ...counts };
}

/** Reads the counts that `bun test` prints. A part without counts is one check. A part that fails without a failed test counts as one failure. */
function countsOf(output: string, succeeded: boolean): Counts {
  const countOf = (outcome: string) => Number.parseInt(output.match(new RegExp(`^ *\\d+ ${outcome}$`, "gm"))?.at(-1) ?? "0", 10);
  const counts = { passed: countOf("pass"), failed: countOf("fail"), skipped: countOf("skip") };
  return succeeded ? { ...counts, passed: counts.passed || 1 } : { ...counts, failed: counts.failed || 1 };
}

const FAILURE_LINES = 30;

/** Returns each failed test with its file and the lines that `bun test` printed about it, or the last lines if no test failed. */
function failuresIn(output: string): string[] {
  const lines = output.trimEnd().split("\n");
  const failures: string[] = [];
  let file = "";
  let first = 0;
  for (const [index, line] of lines.entries()) {
    const isFailure = line.startsWith("(fail) ");
    if (isFailure) failures.push([file, ...lines.slice(first, index + 1).slice(-FAILURE_LINES)].join("\n"));
    if (/^\S+\.test\.ts:$/.test(line)) file = line;
    if (isFailure || /^\((pass|skip)\) |\.test\.ts:$/.test(line)) first = index + 1;
    if (/^ *\d+ tests (failed|skipped):$/.test(line)) break; // From here on, Bun repeats the names.
  }
  return failures.length > 0 ? failures : [lines.slice(-FAILURE_LINES).join("\n")];
}

if (import.meta.main) {
  const memory = process.env.TMPDIR === undefined ? memoryDirectory() : undefined;
  if (memory !== undefined) process.env.TMPDIR = memory;
  const parts = process.argv.includes("--thorough") ? thorough() : quick;
  // process.exit() would cut off what a slow reader of the pipe has not taken yet, and so the last line.
  process.exitCode = (await check([installation, parts], (text) => process.stdout.write(text))) ? 0 : 1;
}
