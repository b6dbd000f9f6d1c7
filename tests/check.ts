/** Everything that must hold before a change is merged: `bun run check`. A part that fails keeps none of the others from running. */
import { stripVTControlCharacters } from "node:util";
import { postgresPrograms } from "./support/postgres-programs.ts";

export type Part = {
  name: string;
  /** Arguments for Bun. */
  command: readonly string[];
  /** Why the part cannot run on this machine. */
  skipped?: string | undefined;
};

/** Only these import packages: this file runs before they are installed. */
const parts: readonly Part[] = [
  { name: "installation", command: ["install", "--frozen-lockfile", "--no-summary"] },
  { name: "lint", command: ["run", "lint"] },
  { name: "types", command: ["run", "types"] },
  { name: "tests", command: ["run", "test"] },
  {
    name: "tests on PostgreSQL",
    command: ["run", "test:postgres"],
    skipped: postgresPrograms() === undefined ? "PostgreSQL is not installed" : undefined,
  },
];

type Counts = { passed: number; failed: number; skipped: number };
type Result = Counts & { name: string; outcome: string; failures: readonly string[] };

/**
 * Runs one part after the other and reports them all. The end repeats what failed, since it is what a reader of a long log sees first; the last
 * line is `N passed, N failed`. Resolves to whether nothing failed.
 */
export async function check(parts: readonly Part[], write: (text: string) => void): Promise<boolean> {
  const results: Result[] = [];
  for (const part of parts) {
    write(`\n── ${part.name}\n`);
    results.push(await run(part, write));
  }
  for (const { name, failures } of results) for (const failure of failures) write(`\n── failed: ${name}\n${failure}\n`);
  const total = (count: keyof Counts) => results.reduce((sum, result) => sum + result[count], 0);
  write(`\n${results.map(({ name, outcome }) => `${name.padEnd(20)} ${outcome}`).join("\n")}\n`);
  if (total("skipped") > 0) write(`${total("skipped")} skipped\n`);
  write(`${total("passed")} passed, ${total("failed")} failed\n`);
  return total("failed") === 0;
}

async function run({ name, command, skipped }: Part, write: (text: string) => void): Promise<Result> {
  if (skipped !== undefined) return { name, outcome: `skipped: ${skipped}`, failures: [], passed: 0, failed: 0, skipped: 1 };
  const started = performance.now();
  const env = { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: "1" }) };
  const child = Bun.spawn([process.execPath, ...command], { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const pass = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      const text = decoder.decode(bytes, { stream: true });
      output += text;
      write(text);
    }
  };
  const [code] = await Promise.all([child.exited, pass(child.stdout), pass(child.stderr)]);
  const plain = stripVTControlCharacters(output);
  const counts = countsOf(plain, code === 0);
  const failures = counts.failed === 0 ? [] : failuresIn(plain);
  const seconds = Math.round((performance.now() - started) / 1000);
  const outcome = `${counts.failed === 0 ? "passed" : "FAILED"}   ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped, ${seconds} s`;
  return { name, outcome, failures, ...counts };
}

/** As `bun test` counts its tests. A part that counts none is one check; one that fails without a failed test has failed itself. */
function countsOf(output: string, succeeded: boolean): Counts {
  const counted = (what: string) => Number.parseInt(output.match(new RegExp(`^ *\\d+ ${what}$`, "gm"))?.at(-1) ?? "0", 10);
  const counts = { passed: counted("pass"), failed: counted("fail"), skipped: counted("skip") };
  return succeeded ? { ...counts, passed: counts.passed || 1 } : { ...counts, failed: counts.failed || 1 };
}

const FAILURE_LINES = 30;

/** Each failed test with its file and the lines that `bun test` wrote about it; the last lines of a part that names no failed test. */
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
    if (/^ *\d+ tests (failed|skipped):$/.test(line)) break; // Bun repeats their names from here on.
  }
  return failures.length > 0 ? failures : [lines.slice(-FAILURE_LINES).join("\n")];
}

if (import.meta.main) process.exit((await check(parts, (text) => process.stdout.write(text))) ? 0 : 1);
